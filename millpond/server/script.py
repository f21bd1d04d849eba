"""The statements of a simple query's text, all of them read before the first is run, as in PostgreSQL."""

from __future__ import annotations

import threading

from millpond.errors import MillpondError
from millpond.sql.parse import parse
from millpond.sql.split import Source, split
from millpond.sql.statements import Statement

TEXT_CHARACTERS_MAX = 2000
"""Queries that come again and again are short, and reading one costs as much as answering it."""

TEXTS_CHARACTERS_MAX = 100_000
"""All texts that are kept. What was read of one takes 150 to 600 bytes for each of its characters."""

Script = tuple[tuple[Statement, int], ...]
"""Statements, and where each stands in the text."""


def read_script(text: str) -> Script:
    """The statements of a text; what is wrong with the syntax of any of them is found here."""
    script = known_script(text)
    if script is None:
        script = tuple((_parsed(source), source.offset) for source in split(text))
        if _is_worth_keeping(text):
            _known.keep(text, script)
    return script


def known_script(text: str) -> Script | None:
    """The statements of a text that was read before. Binding never changes what was parsed, so that it is shared."""
    return _known.find(text)


class KnownScripts:
    """Scripts by their texts, as many as fit; the oldest go first."""

    def __init__(self, characters_max: int = TEXTS_CHARACTERS_MAX) -> None:
        self._characters_max = characters_max
        self._scripts: dict[str, Script] = {}
        self._characters = 0
        self._lock = threading.Lock()

    def find(self, text: str) -> Script | None:
        return self._scripts.get(text)

    def keep(self, text: str, script: Script) -> None:
        with self._lock:
            if text in self._scripts:
                return
            self._scripts[text] = script
            self._characters += len(text)
            while self._characters > self._characters_max:
                oldest = next(iter(self._scripts))
                del self._scripts[oldest]
                self._characters -= len(oldest)


_known = KnownScripts()


def _is_worth_keeping(text: str) -> bool:
    """Whether it is a short query. One with parameters means nothing without their types."""
    return len(text) <= TEXT_CHARACTERS_MAX and text.lstrip()[:6].lower() == "select" and "$" not in text


def _parsed(source: Source) -> Statement:
    try:
        return parse(source.text)
    except MillpondError as error:
        if error.position is not None:
            error.position += source.offset
        raise

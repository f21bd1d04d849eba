"""The statements of a simple query's text, all of them read before the first is run, as in PostgreSQL."""

from __future__ import annotations

import threading

from millpond.errors import MillpondError
from millpond.sql.parse import Source, parse, split
from millpond.sql.statements import Statement

CACHED_TEXTS = 512
CACHED_TEXT_CHARACTERS_MAX = 2000
"""Queries that come again and again are short, and reading one costs as much as answering it."""

Script = tuple[tuple[Statement, int], ...]
"""Statements, and where each stands in the text."""


def read_script(text: str) -> Script:
    """The statements of a text; what is wrong with the syntax of any of them is found here."""
    script = known_script(text)
    if script is None:
        script = tuple((_parsed(source), source.offset) for source in split(text))
        _keep(text, script)
    return script


def known_script(text: str) -> Script | None:
    """The statements of a text that was read before. Binding never changes what was parsed, so that it is shared."""
    return _known.get(text)


_known: dict[str, Script] = {}
_lock = threading.Lock()


def _keep(text: str, script: Script) -> None:
    """Keep the script of a query. One with parameters means nothing without their types."""
    is_query = text.lstrip()[:6].lower() == "select" and "$" not in text
    if is_query and len(text) <= CACHED_TEXT_CHARACTERS_MAX:
        with _lock:
            _known[text] = script
            if len(_known) > CACHED_TEXTS:
                del _known[next(iter(_known))]


def _parsed(source: Source) -> Statement:
    try:
        return parse(source.text)
    except MillpondError as error:
        if error.position is not None:
            error.position += source.offset
        raise

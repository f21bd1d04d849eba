"""The statements of a simple query's text, all of them read before the first is run, as in PostgreSQL."""

from __future__ import annotations

from functools import lru_cache

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
    is_query = text.lstrip()[:6].lower() == "select"
    return _cached(text) if is_query and len(text) <= CACHED_TEXT_CHARACTERS_MAX else _read(text)


def _read(text: str) -> Script:
    return tuple((_parsed(source), source.offset) for source in split(text))


_cached = lru_cache(CACHED_TEXTS)(_read)
"""Binding never changes what was parsed, so that it can be shared."""


def _parsed(source: Source) -> Statement:
    try:
        return parse(source.text)
    except MillpondError as error:
        if error.position is not None:
            error.position += source.offset
        raise

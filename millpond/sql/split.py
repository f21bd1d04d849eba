"""Cuts a text into statements, before any of them is parsed."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from millpond.errors import MillpondError
from millpond.sql.branches import branch_texts, cut, names_of_with, reads_any
from millpond.sql.parse import branch_tree, parse, parse_tree
from millpond.sql.statements import CreateContinuousQuery, ExplainContinuousQuery
from millpond.sql.tokens import tokenize


@dataclass(frozen=True)
class Source:
    """The text of one statement and where it starts in the text it was cut from."""

    text: str
    offset: int


def split(text: str) -> list[Source]:
    """Cut a text at its semicolons outside of parentheses; empty statements are left out.

    >>> [source.text for source in split("SELECT ';'; ; SELECT 2;")]
    ["SELECT ';'", 'SELECT 2']
    """
    if ";" not in text.rstrip().rstrip(";"):
        stripped = text.rstrip().rstrip(";")
        return [Source(stripped, 0)] if _is_something(stripped) else []
    sources: list[Source] = []
    for piece in cut(tokenize(text)):
        first, last = piece[0].start, piece[-1].end + 1
        if not (sources and _goes_on(sources[-1].text, text[first:last])):
            sources.append(Source(text[first:last], first))
        else:
            sources[-1] = Source(text[sources[-1].offset : last], sources[-1].offset)
    return sources


def _goes_on(text: str, following: str) -> bool:
    """Whether a statement is one more INSERT of the continuous query before it, whose WITH it reads."""
    if following[:6].upper() != "INSERT" or "CONTINUOUS" not in text.upper():
        return False
    try:
        created, insert = parse(text), parse_tree(following)
    except MillpondError:
        return False
    query = created.new if isinstance(created, ExplainContinuousQuery) else created
    if not isinstance(query, CreateContinuousQuery) or not isinstance(insert, exp.Insert):
        return False
    first = branch_tree(branch_texts(query.text)[0])
    return query.text[0] != "(" and reads_any(insert, names_of_with(first))


def _is_something(text: str) -> bool:
    """Whether there is anything but blanks and comments. Long texts are taken to hold something."""
    return len(text) > 10_000 or bool(tokenize(text))

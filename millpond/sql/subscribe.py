"""SUBSCRIBE: its record, and how it is read by tokens. Where it can stand, a query could stand: COPY and cursors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from millpond.errors import MillpondError, SqlState, closest
from millpond.setting import Setting
from millpond.sql.tokens import TokenCursor

QueryAt = Callable[[str], exp.Query]
"""Parses a text that is a query, its parameters put in."""

_EVERY = Setting("every", 1000, "ms", "How often versions come.", minimum=1)

_OPTIONS = {
    "progress": Setting("progress", False, "boolean", "Says when a version is complete, and when nothing changed."),
    "snapshot": Setting("snapshot", True, "boolean", "Sends the rows as they are first."),
}


@dataclass(frozen=True)
class Subscribe:
    """What to follow: `shown` is its name or text. `as_of` is the version to go on after, an expression."""

    query: exp.Query
    shown: str
    every_ms: int | None = None
    as_of: exp.Expr | None = None
    progress: bool = False
    snapshot: bool = True

    @property
    def version(self) -> int | None:
        """The number that AS OF says."""
        if self.as_of is None:
            return None
        node = self.as_of
        while isinstance(node, exp.Cast | exp.Paren):
            node = node.this
        if isinstance(node, exp.Literal) and node.this.isdigit():
            return int(node.this)
        raise MillpondError(SqlState.INVALID_PARAMETER_VALUE, "AS OF needs the number of a version")


def version_query(statement: Subscribe) -> exp.Select:
    """A query that takes what AS OF says for a bigint."""
    assert statement.as_of is not None
    return exp.select(exp.cast(statement.as_of.copy(), "bigint"))


def read_subscribe(cursor: TokenCursor, parse_query: QueryAt) -> Subscribe:
    """What follows the word SUBSCRIBE; positions are those in the whole text."""
    cursor.accept("TO")
    query, shown = _subject(cursor, parse_query)
    every_ms: int | None = None
    as_of: exp.Expr | None = None
    options: dict[str, bool] = {}
    while not cursor.at_end and not cursor.accept(";"):
        if every_ms is None and cursor.accept("EVERY"):
            every_ms = every_of(cursor.next().text)
        elif as_of is None and cursor.accept("AS", "OF"):
            as_of = _as_of(cursor, parse_query)
        elif not options and cursor.accept("WITH"):
            options = _options(cursor)
        else:
            raise cursor.error()
    cursor.end()
    return Subscribe(query, shown, every_ms, as_of, **options)


def is_query(cursor: TokenCursor) -> bool:
    """Whether a query comes next, and not a name."""
    return any(cursor.accept(word) for word in ("SELECT", "WITH", "VALUES", "TABLE", "("))


def _subject(cursor: TokenCursor, parse_query: QueryAt) -> tuple[exp.Query, str]:
    text, start = cursor.text, cursor.position - 1
    if text[start : start + 1] == "(":
        start, end = cursor.skip_parentheses()
        shown = text[start + 1 : end - 1].strip()
        return parse_query(" " * (start + 1) + text[start + 1 : end - 1]), shown
    cursor.identifier()
    if cursor.accept("."):
        cursor.identifier()
    shown = text[start : cursor.end_of_last]
    # The name stays where it was written: SUBSCRIBE is longer than the word in its place.
    return parse_query(f"{'TABLE':>{start - 1}} {shown}"), shown


def every_of(text: str) -> int:
    """Milliseconds of a time as EVERY takes it: a number of them, or with a unit."""
    value = _EVERY.parse(text)
    assert isinstance(value, int)
    return value


def version_literal(number: int) -> exp.Expr:
    """A version as AS OF has it."""
    return exp.Literal.number(number)


def _as_of(cursor: TokenCursor, parse_query: QueryAt) -> exp.Expr:
    """A number, a string or a parameter, which takes two tokens."""
    start = cursor.position - 1
    cursor.next()
    if cursor.text[start] == "$":
        cursor.next()
    return parse_query(f"SELECT {cursor.text[start : cursor.end_of_last]}").selects[0]


def _options(cursor: TokenCursor) -> dict[str, bool]:
    options: dict[str, bool] = {}
    cursor.expect("(")
    while True:
        position, name = cursor.position, cursor.identifier()
        if name not in _OPTIONS:
            hint = closest(name, _OPTIONS) or f"Valid options are: {', '.join(_OPTIONS)}."
            message = f'unrecognized parameter "{name}"'
            raise MillpondError(SqlState.UNDEFINED_OBJECT, message, hint=hint, position=position)
        options[name] = bool(_OPTIONS[name].parse(cursor.next().text if cursor.accept("=") else "true"))
        if not cursor.accept(","):
            cursor.expect(")")
            return options

"""The COPY statement, which sqlglot does not parse: its text into a record by tokens, in either of its spellings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from millpond.copy.options import CopyOption, CopyOptions, Direction, copy_options
from millpond.errors import not_supported
from millpond.sql.tokens import TokenCursor
from millpond.values.literals import unescape

_VALUE_WORDS = ("DELIMITER", "NULL", "QUOTE", "ESCAPE", "ENCODING")
"""Options of the old spelling that a string follows."""

_NUMBER = re.compile(r"[0-9.]+")


@dataclass(frozen=True)
class CopyStatement:
    """What COPY says: either a table or a query, and a file or (None) the client's STDIN or STDOUT.

    Positions are 1-based, in the statement's text.
    """

    direction: Direction
    options: CopyOptions
    table: str | None = None
    schema: str | None = None
    table_position: int | None = None
    columns: tuple[str, ...] | None = None
    query: str | None = None
    query_position: int | None = None
    file: str | None = None
    file_position: int | None = None


@dataclass(frozen=True)
class _Subject:
    """What is copied."""

    table: str | None = None
    schema: str | None = None
    table_position: int | None = None
    columns: tuple[str, ...] | None = None
    query: str | None = None
    query_position: int | None = None


def parse_copy(text: str) -> CopyStatement:
    """The statement that a text beginning with COPY holds.

    >>> copy = parse_copy("COPY t (a) FROM 'f.csv' CSV HEADER")
    >>> copy.table, copy.columns, copy.file, copy.options.format, copy.options.header
    ('t', ('a',), 'f.csv', 'csv', True)
    """
    cursor = TokenCursor(text)
    cursor.expect("COPY")
    subject = _query(cursor) if _peek(cursor) == "(" else _table(cursor)
    direction = _direction(cursor, subject)
    file_position = cursor.position
    file = _target(cursor, direction)
    options = copy_options(list(_options(cursor)), direction)
    if cursor.accept("WHERE"):
        raise not_supported("COPY ... WHERE", hint="Copy into a table and delete from it.", position=cursor.position)
    cursor.end()
    return CopyStatement(
        direction, options, **vars(subject), file=file, file_position=file_position if file is not None else None
    )


def _peek(cursor: TokenCursor) -> str:
    """The next token as it is written."""
    token = cursor.token
    return cursor.text[token.start : token.end + 1] if token else ""


def _query(cursor: TokenCursor) -> _Subject:
    start, end = cursor.skip_parentheses()
    body = cursor.text[start + 1 : end - 1]
    blanks = len(body) - len(body.lstrip())
    return _Subject(query=body.strip(), query_position=start + 2 + blanks)


def _table(cursor: TokenCursor) -> _Subject:
    position = cursor.position
    schema, name = None, cursor.identifier()
    if cursor.accept("."):
        schema, name = name, cursor.identifier()
    columns = _names(cursor) if _peek(cursor) == "(" else None
    return _Subject(table=name, schema=schema, table_position=position, columns=columns)


def _names(cursor: TokenCursor) -> tuple[str, ...]:
    cursor.expect("(")
    names = _bare_names(cursor)
    cursor.expect(")")
    return names


def _bare_names(cursor: TokenCursor) -> tuple[str, ...]:
    names = [cursor.identifier()]
    while cursor.accept(","):
        names.append(cursor.identifier())
    return tuple(names)


def _direction(cursor: TokenCursor, subject: _Subject) -> Direction:
    if cursor.accept("TO"):
        return "to"
    if subject.query is not None or not cursor.accept("FROM"):
        raise cursor.error()
    return "from"


def _target(cursor: TokenCursor, direction: Direction) -> str | None:
    """A file's name, or None for the client; PostgreSQL takes STDIN and STDOUT for either direction."""
    if cursor.accept("STDIN") or cursor.accept("STDOUT"):
        return None
    if cursor.accept("PROGRAM"):
        raise not_supported(f"COPY {direction.upper()} PROGRAM", position=cursor.position)
    return _string(cursor)


def _string(cursor: TokenCursor) -> str:
    written = _peek(cursor)
    if written[:2] in ("E'", "e'"):
        position = cursor.position
        cursor.next()
        return unescape(written[2:-1], position)
    return cursor.string()


def _options(cursor: TokenCursor) -> Iterator[CopyOption]:
    cursor.accept("WITH")
    if cursor.accept("("):
        yield _new_option(cursor)
        while cursor.accept(","):
            yield _new_option(cursor)
        cursor.expect(")")
        return
    while cursor.token is not None and _peek(cursor) != ";" and _peek(cursor).upper() != "WHERE":
        yield _old_option(cursor)


def _new_option(cursor: TokenCursor) -> CopyOption:
    position = cursor.position
    name = cursor.identifier()
    return CopyOption(name, _value(cursor), position)


def _value(cursor: TokenCursor) -> str | tuple[str, ...] | None:
    written = _peek(cursor)
    if written in (",", ")"):
        return None
    if written == "(":
        return _names(cursor)
    if written == "*" or _NUMBER.fullmatch(written):
        return cursor.next().text
    if written.startswith(("'", "E'", "e'", "$")):
        return _string(cursor)
    return cursor.identifier()


def _old_option(cursor: TokenCursor) -> CopyOption:
    position = cursor.position
    if cursor.accept("BINARY"):
        return CopyOption("format", "binary", position)
    if cursor.accept("CSV"):
        return CopyOption("format", "csv", position)
    if cursor.accept("HEADER"):
        return CopyOption("header", None, position)
    if cursor.accept("FORCE"):
        return _force_option(cursor, position)
    for word in _VALUE_WORDS:
        if cursor.accept(word):
            cursor.accept("AS")
            return CopyOption(word.lower(), _string(cursor), position)
    raise cursor.error()


def _force_option(cursor: TokenCursor, position: int) -> CopyOption:
    if cursor.accept("QUOTE"):
        names = cursor.next().text if _peek(cursor) == "*" else _bare_names(cursor)
        return CopyOption("force_quote", names, position)
    kind = "force_not_null" if cursor.accept("NOT", "NULL") else "force_null" if cursor.accept("NULL") else None
    if kind is None:
        raise cursor.error()
    return CopyOption(kind, _bare_names(cursor), position)

"""Statements without a query, read token by token: streams, views, DROP and VACUUM here, more in files of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from millpond.errors import MillpondError, SqlState, not_supported
from millpond.sql import (
    continuous_queries,
    definitions,
    grants,
    messages,
    python_functions,
    roles,
    settings,
    transactions,
)
from millpond.sql.clauses import relation_name, relation_names
from millpond.sql.statements import (
    CreateStream,
    Drop,
    ExplainSplit,
    RefreshView,
    RenameView,
    Statement,
    Vacuum,
    VerifyView,
)
from millpond.sql.tokens import TokenCursor


def parse(cursor: TokenCursor) -> Statement | None:
    """The statement, if it starts with the words of one of these; else None, nothing read."""
    owner_change = grants.parse_owner_change(cursor)
    if owner_change is not None:
        return owner_change
    for words, handler in _HANDLERS:
        if cursor.accept(*words):
            return handler(cursor)
    return None


def _vacuum(cursor: TokenCursor) -> Statement:
    full = cursor.accept("FULL")
    name = None if cursor.at_end else relation_name(cursor)
    cursor.end()
    return Vacuum(name, full)


def _create_stream(cursor: TokenCursor) -> Statement:
    return _stream_definition(cursor, server_required=False)


def _create_foreign_table(cursor: TokenCursor) -> Statement:
    return _stream_definition(cursor, server_required=True)


def _stream_definition(cursor: TokenCursor, *, server_required: bool) -> Statement:
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    name = relation_name(cursor)
    start, end = cursor.skip_parentheses()
    columns, keys, checks = definitions.read_text(name.name, cursor.text, start, end)
    if keys or checks:
        kind = "a PRIMARY KEY or UNIQUE constraint" if keys else "a CHECK constraint"
        raise not_supported(f"{kind} on a stream", hint="Filter or group in the queries that read the stream.")
    if server_required or cursor.accept("SERVER"):
        _server(cursor, keyword_read=not server_required)
    options: dict[str, str] = {}
    if cursor.accept("OPTIONS"):
        options = _options(cursor, equals=False)
    elif cursor.accept("WITH"):
        options = _options(cursor, equals=True)
    cursor.end()
    return CreateStream(name, if_not_exists, columns, options)


def _server(cursor: TokenCursor, *, keyword_read: bool) -> None:
    if not keyword_read:
        cursor.expect("SERVER")
    position = cursor.position
    server = cursor.identifier()
    if server != "stream":
        raise MillpondError(
            SqlState.UNDEFINED_OBJECT,
            f'server "{server}" does not exist',
            hint="The server of a stream is called stream.",
            position=position,
        )


def _alter_view(cursor: TokenCursor) -> Statement:
    name = relation_name(cursor)
    if cursor.accept("RENAME", "TO"):
        new_name = cursor.identifier()
        cursor.end()
        return RenameView(name, new_name)
    cursor.expect("REFRESH")
    cursor.end()
    return RefreshView(name)


def _verify_view(cursor: TokenCursor) -> Statement:
    name = relation_name(cursor)
    cursor.end()
    return VerifyView(name)


def _explain_view(cursor: TokenCursor) -> Statement:
    name = relation_name(cursor)
    cursor.end()
    return ExplainSplit(None, name)


def _options(cursor: TokenCursor, *, equals: bool) -> dict[str, str]:
    """`(name 'value', ...)`, or with `=` between as in WITH."""
    options: dict[str, str] = {}
    cursor.expect("(")
    while not cursor.accept(")"):
        position, name = cursor.position, cursor.identifier()
        if name in options:
            raise MillpondError(SqlState.SYNTAX_ERROR, f'option "{name}" provided more than once', position=position)
        if equals:
            cursor.expect("=")
        options[name] = cursor.next().text if equals else cursor.string()
        if not cursor.accept(","):
            cursor.expect(")")
            break
    return options


def _drop(cursor: TokenCursor) -> Statement:
    kinds: tuple[tuple[tuple[str, ...], Literal["table", "stream", "view"]], ...] = (
        (("TABLE",), "table"),
        (("FOREIGN", "TABLE"), "stream"),
        (("STREAM",), "stream"),
        (("VIEW",), "view"),
    )
    kind = next((kind for words, kind in kinds if cursor.accept(*words)), None)
    if kind is None:
        raise not_supported(f"DROP {cursor.next().text.upper()}")
    if_exists = cursor.accept("IF", "EXISTS")
    names = relation_names(cursor)
    cascade = cursor.accept("CASCADE")
    cursor.accept("RESTRICT")
    cursor.end()
    return Drop(kind, names, if_exists, cascade)


_HANDLERS: tuple[tuple[tuple[str, ...], Callable[[TokenCursor], Statement]], ...] = (
    *grants.HANDLERS,
    *transactions.HANDLERS,
    *settings.HANDLERS,
    *messages.HANDLERS,
    *continuous_queries.HANDLERS,
    *python_functions.HANDLERS,
    (("VACUUM",), _vacuum),
    (("ALTER", "VIEW"), _alter_view),
    (("VERIFY", "VIEW"), _verify_view),
    (("EXPLAIN", "VIEW"), _explain_view),
    (("CREATE", "FOREIGN", "TABLE"), _create_foreign_table),
    (("CREATE", "STREAM"), _create_stream),
    *roles.HANDLERS,
    (("DROP",), _drop),
)

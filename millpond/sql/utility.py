"""Statements without a query: transactions, settings, streams, DROP, VACUUM. Read token by token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from millpond.errors import MillpondError, SqlState, not_supported
from millpond.sql import definitions, grants, roles
from millpond.sql.statements import (
    Begin,
    Commit,
    CreateStream,
    Deallocate,
    DiscardAll,
    Drop,
    ExplainSplit,
    Name,
    RefreshView,
    RenameView,
    ResetSetting,
    Rollback,
    SetSetting,
    ShowSetting,
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


def relation_name(cursor: TokenCursor) -> Name:
    """`name` or `schema.name`."""
    position = cursor.position
    first = cursor.identifier()
    return Name(cursor.identifier(), first, position) if cursor.accept(".") else Name(first, None, position)


def _begin(cursor: TokenCursor) -> Statement:
    cursor.accept("WORK") or cursor.accept("TRANSACTION")
    read_only = False
    while not cursor.at_end:
        if cursor.accept("ISOLATION", "LEVEL"):
            level = _isolation_level(cursor)
            if level == "SERIALIZABLE":
                raise not_supported("isolation level serializable", hint="Transactions have snapshot isolation.")
        elif cursor.accept("READ", "ONLY"):
            read_only = True
        elif not (cursor.accept("READ", "WRITE") or cursor.accept("DEFERRABLE") or cursor.accept("NOT", "DEFERRABLE")):
            cursor.end()
        cursor.accept(",")
    return Begin(read_only)


def _isolation_level(cursor: TokenCursor) -> str:
    for words in (("SERIALIZABLE",), ("REPEATABLE", "READ"), ("READ", "COMMITTED"), ("READ", "UNCOMMITTED")):
        if cursor.accept(*words):
            return " ".join(words)
    raise cursor.error()


def _commit(cursor: TokenCursor) -> Statement:
    cursor.accept("WORK") or cursor.accept("TRANSACTION")
    cursor.end()
    return Commit()


def _rollback(cursor: TokenCursor) -> Statement:
    cursor.accept("WORK") or cursor.accept("TRANSACTION")
    if cursor.accept("TO"):
        raise not_supported("ROLLBACK TO SAVEPOINT")
    cursor.end()
    return Rollback()


def _no_savepoints(_cursor: TokenCursor) -> Statement:
    raise not_supported("SAVEPOINT")


def _set(cursor: TokenCursor) -> Statement:
    if cursor.accept("TRANSACTION") or cursor.accept("CONSTRAINTS"):
        raise not_supported("this form of SET")
    if cursor.accept("LOCAL"):
        raise not_supported("SET LOCAL", hint="SET lasts until the session ends or RESET.")
    cursor.accept("SESSION")
    if cursor.accept("TIME", "ZONE"):
        return SetSetting("timezone", _value(cursor))
    name = _setting_name(cursor)
    if not cursor.accept("="):
        cursor.expect("TO")
    return SetSetting(name, _value(cursor))


def _value(cursor: TokenCursor) -> str | None:
    """One value: a string, a word or a number with its unit; None for DEFAULT."""
    if cursor.accept("DEFAULT"):
        cursor.end()
        return None
    sign = "-" if cursor.accept("-") else ""
    token = cursor.next()
    cursor.end()
    return sign + token.text


def _setting_name(cursor: TokenCursor) -> str:
    name = cursor.identifier()
    while cursor.accept("."):
        name = f"{name}.{cursor.identifier()}"
    return name


def _show(cursor: TokenCursor) -> Statement:
    if cursor.accept("TRANSACTION", "ISOLATION", "LEVEL"):
        name = "transaction_isolation"
    else:
        name = "timezone" if cursor.accept("TIME", "ZONE") else _setting_name(cursor)
    cursor.end()
    return ShowSetting(name)


def _reset(cursor: TokenCursor) -> Statement:
    name = _setting_name(cursor)
    cursor.end()
    return ResetSetting(name)


def _deallocate(cursor: TokenCursor) -> Statement:
    cursor.accept("PREPARE")
    name = None if cursor.accept("ALL") else cursor.identifier()
    cursor.end()
    return Deallocate(name)


def _discard(cursor: TokenCursor) -> Statement:
    cursor.expect("ALL")
    cursor.end()
    return DiscardAll()


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


def view_options(cursor: TokenCursor) -> dict[str, str]:
    """`WITH (name [= value], ...)` of a view."""
    options: dict[str, str] = {}
    cursor.expect("(")
    while not cursor.accept(")"):
        name = cursor.identifier()
        options[name] = cursor.next().text if cursor.accept("=") else "true"
        if not cursor.accept(","):
            cursor.expect(")")
            break
    return options


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
    names = [relation_name(cursor)]
    while cursor.accept(","):
        names.append(relation_name(cursor))
    cascade = cursor.accept("CASCADE")
    cursor.accept("RESTRICT")
    cursor.end()
    return Drop(kind, tuple(names), if_exists, cascade)


_HANDLERS: tuple[tuple[tuple[str, ...], Callable[[TokenCursor], Statement]], ...] = (
    *grants.HANDLERS,
    (("BEGIN",), _begin),
    (("START", "TRANSACTION"), _begin),
    (("COMMIT",), _commit),
    (("END",), _commit),
    (("ROLLBACK",), _rollback),
    (("ABORT",), _rollback),
    (("SAVEPOINT",), _no_savepoints),
    (("RELEASE",), _no_savepoints),
    (("SET",), _set),
    (("SHOW",), _show),
    (("RESET",), _reset),
    (("DEALLOCATE",), _deallocate),
    (("DISCARD",), _discard),
    (("VACUUM",), _vacuum),
    (("ALTER", "VIEW"), _alter_view),
    (("VERIFY", "VIEW"), _verify_view),
    (("EXPLAIN", "VIEW"), _explain_view),
    (("CREATE", "FOREIGN", "TABLE"), _create_foreign_table),
    (("CREATE", "STREAM"), _create_stream),
    *roles.HANDLERS,
    (("DROP",), _drop),
)

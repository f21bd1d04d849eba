"""CREATE, ALTER and DROP ROLE, read token by token."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from millpond.errors import MillpondError, SqlState, not_supported
from millpond.sql.statements import AlterRole, CreateRole, DropRole, RoleOptions, Statement
from millpond.sql.tokens import TokenCursor

_REFUSED = (
    *("CREATEDB", "CREATEROLE", "REPLICATION", "BYPASSRLS", "CONNECTION", "VALID", "ROLE", "ADMIN", "USER"),
    *("RENAME", "SET", "RESET"),
)
_MEANINGLESS = ("NOCREATEDB", "NOCREATEROLE", "NOREPLICATION", "NOBYPASSRLS", "ENCRYPTED")
"""Options that say what is so anyway."""


def _create(cursor: TokenCursor) -> Statement:
    return CreateRole(cursor.identifier(), _options(cursor, RoleOptions(login=False)))


def _create_user(cursor: TokenCursor) -> Statement:
    return CreateRole(cursor.identifier(), _options(cursor, RoleOptions(login=True)))


def _alter(cursor: TokenCursor) -> Statement:
    name = cursor.identifier()
    options = _options(cursor, RoleOptions())
    if options.member_of:
        raise not_supported("ALTER ROLE ... IN ROLE", hint="Use GRANT role TO role.")
    return AlterRole(name, options)


def _drop(cursor: TokenCursor) -> Statement:
    if_exists = cursor.accept("IF", "EXISTS")
    names = _names(cursor)
    cursor.end()
    return DropRole(names, if_exists)


def _names(cursor: TokenCursor) -> tuple[str, ...]:
    names = [cursor.identifier()]
    while cursor.accept(","):
        names.append(cursor.identifier())
    return tuple(names)


def _options(cursor: TokenCursor, options: RoleOptions) -> RoleOptions:
    cursor.accept("WITH")
    while not cursor.at_end and not cursor.accept(";"):
        position = cursor.position
        word = next((word for word in _MEANINGLESS if cursor.accept(word)), None)
        if word is not None:
            continue
        refused = next((word for word in _REFUSED if cursor.accept(word)), None)
        if refused is not None:
            raise not_supported(f"the option {refused} of a role", position=position)
        options = _option(cursor, options)
    return options


def _option(cursor: TokenCursor, options: RoleOptions) -> RoleOptions:
    for word, on in (("SUPERUSER", True), ("NOSUPERUSER", False)):
        if cursor.accept(word):
            return replace(options, superuser=on)
    for word, on in (("LOGIN", True), ("NOLOGIN", False)):
        if cursor.accept(word):
            return replace(options, login=on)
    for word, on in (("INHERIT", True), ("NOINHERIT", False)):
        if cursor.accept(word):
            return replace(options, inherit=on)
    if cursor.accept("IN", "ROLE") or cursor.accept("IN", "GROUP"):
        return replace(options, member_of=_names(cursor))
    cursor.expect("PASSWORD")
    if cursor.accept("NULL"):
        return replace(options, password="")
    position = cursor.position
    password = cursor.string()
    if not password:
        message = "empty string is not a valid password"
        raise MillpondError(SqlState.INVALID_PARAMETER_VALUE, message, position=position)
    return replace(options, password=password)


HANDLERS: tuple[tuple[tuple[str, ...], Callable[[TokenCursor], Statement]], ...] = (
    (("CREATE", "ROLE"), _create),
    (("CREATE", "USER"), _create_user),
    (("ALTER", "ROLE"), _alter),
    (("ALTER", "USER"), _alter),
    (("DROP", "ROLE"), _drop),
    (("DROP", "USER"), _drop),
)

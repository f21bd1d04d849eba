"""GRANT, REVOKE, owners of things, SET ROLE and SET SESSION AUTHORIZATION, read token by token."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from millpond.errors import MillpondError, SqlState, not_supported
from millpond.privileges.identity import NO_ROLE, ROLE, SESSION_AUTHORIZATION
from millpond.sql.clauses import relation_name, relation_names
from millpond.sql.session_records import ResetSetting, SetSetting, ShowSetting
from millpond.sql.statements import (
    ChangeMembership,
    ChangeOwner,
    ChangePrivileges,
    DropOwned,
    Name,
    NamedPrivilege,
    ReassignOwned,
    RoleName,
    Statement,
)
from millpond.sql.tokens import TokenCursor

_ROLE_KEYWORDS = ("CURRENT_USER", "CURRENT_ROLE", "SESSION_USER")

_OTHER_OBJECTS = (
    *("SEQUENCE", "FUNCTION", "PROCEDURE", "ROUTINE", "TYPE", "DOMAIN", "LANGUAGE", "LARGE", "PARAMETER"),
    *("TABLESPACE", "FOREIGN"),
)
"""Objects that PostgreSQL grants privileges on and that do not exist here."""


def role_name(cursor: TokenCursor) -> RoleName:
    """A role by name, or who one is."""
    for word in _ROLE_KEYWORDS:
        if cursor.accept(word):
            return RoleName(word.lower(), keyword=True)
    return RoleName(cursor.identifier())


def role_names(cursor: TokenCursor) -> tuple[RoleName, ...]:
    names = [role_name(cursor)]
    while cursor.accept(","):
        names.append(role_name(cursor))
    return tuple(names)


# -- GRANT and REVOKE -----------------------------------------------------------------------------------------------


def _grant(cursor: TokenCursor) -> Statement:
    privileges = _privileges(cursor)
    if not cursor.accept("ON"):
        return _grant_roles(cursor, privileges)
    kind, names, within = _objects(cursor)
    cursor.expect("TO")
    grantees = _grantees(cursor)
    option = cursor.accept("WITH", "GRANT", "OPTION")
    granted_by = _granted_by(cursor)
    cursor.end()
    return ChangePrivileges(False, privileges, kind, names, grantees, within, option, granted_by=granted_by)


def _revoke(cursor: TokenCursor) -> Statement:
    option = cursor.accept("GRANT", "OPTION", "FOR")
    admin = cursor.accept("ADMIN", "OPTION", "FOR")
    privileges = _privileges(cursor)
    if admin or not cursor.accept("ON"):
        return _revoke_roles(cursor, privileges, admin=admin)
    kind, names, within = _objects(cursor)
    cursor.expect("FROM")
    grantees = _grantees(cursor)
    granted_by = _granted_by(cursor)
    cascade = _cascade(cursor)
    return ChangePrivileges(True, privileges, kind, names, grantees, within, option, cascade, granted_by)


def _grant_roles(cursor: TokenCursor, written: tuple[NamedPrivilege, ...]) -> Statement:
    roles = _as_roles(written)
    cursor.expect("TO")
    members = _grantees(cursor)
    admin = False
    if cursor.accept("WITH"):
        position = cursor.position
        if not cursor.accept("ADMIN"):
            raise not_supported("this option of a membership", position=position)
        admin = not cursor.accept("FALSE")
        if admin:
            cursor.accept("OPTION") or cursor.accept("TRUE")
    granted_by = _granted_by(cursor)
    cursor.end()
    return ChangeMembership(False, roles, members, admin, granted_by=granted_by)


def _revoke_roles(cursor: TokenCursor, written: tuple[NamedPrivilege, ...], *, admin: bool) -> Statement:
    roles = _as_roles(written)
    cursor.expect("FROM")
    members = _grantees(cursor)
    granted_by = _granted_by(cursor)
    return ChangeMembership(True, roles, members, admin, _cascade(cursor), granted_by)


def _privileges(cursor: TokenCursor) -> tuple[NamedPrivilege, ...]:
    """`SELECT, UPDATE (a, b)`, `ALL PRIVILEGES`, or the names of roles: which of them is known at the next word."""
    found = [_privilege(cursor)]
    while cursor.accept(","):
        found.append(_privilege(cursor))
    return tuple(found)


def _privilege(cursor: TokenCursor) -> NamedPrivilege:
    position = cursor.position
    name = cursor.identifier()
    if name == "all":
        cursor.accept("PRIVILEGES")
    columns: list[str] = []
    if cursor.accept("("):
        columns.append(cursor.identifier())
        while cursor.accept(","):
            columns.append(cursor.identifier())
        cursor.expect(")")
    return NamedPrivilege(name, tuple(columns), position)


def _as_roles(written: tuple[NamedPrivilege, ...]) -> tuple[RoleName, ...]:
    for item in written:
        if item.columns:
            message = "column names cannot be included in GRANT/REVOKE ROLE"
            raise MillpondError(SqlState.SYNTAX_ERROR, message, position=item.position)
    return tuple(RoleName(item.name) for item in written)


def _objects(cursor: TokenCursor) -> tuple[Literal["relation", "schema", "database"], tuple[Name, ...], bool]:
    """What stands behind ON: kind, names, and whether all tables in those schemas are meant."""
    position = cursor.position
    if cursor.accept("ALL", "TABLES", "IN", "SCHEMA"):
        return "relation", relation_names(cursor), True
    if cursor.accept("ALL"):
        raise not_supported(f"GRANT or REVOKE on all {cursor.next().text.lower()}", position=position)
    if cursor.accept("SCHEMA"):
        return "schema", relation_names(cursor), False
    if cursor.accept("DATABASE"):
        return "database", relation_names(cursor), False
    other = next((word for word in _OTHER_OBJECTS if cursor.accept(word)), None)
    if other is not None:
        raise not_supported(f"GRANT or REVOKE on a {other.lower()}", position=position)
    cursor.accept("TABLE")
    return "relation", relation_names(cursor), False


def _grantees(cursor: TokenCursor) -> tuple[RoleName, ...]:
    cursor.accept("GROUP")
    return role_names(cursor)


def _granted_by(cursor: TokenCursor) -> RoleName | None:
    return role_name(cursor) if cursor.accept("GRANTED", "BY") else None


def _cascade(cursor: TokenCursor) -> bool:
    cascade = cursor.accept("CASCADE")
    cascade or cursor.accept("RESTRICT")
    cursor.end()
    return cascade


def _no_default_privileges(_cursor: TokenCursor) -> Statement:
    raise not_supported("ALTER DEFAULT PRIVILEGES", hint="Grant on the tables when they are created.")


# -- owners ---------------------------------------------------------------------------------------------------------

_OwnedKind = Literal["table", "stream", "view", "query", "schema", "database"]

_OWNED: tuple[tuple[tuple[str, ...], _OwnedKind], ...] = (
    (("ALTER", "TABLE"), "table"),
    (("ALTER", "FOREIGN", "TABLE"), "stream"),
    (("ALTER", "STREAM"), "stream"),
    (("ALTER", "VIEW"), "view"),
    (("ALTER", "CONTINUOUS", "QUERY"), "query"),
    (("ALTER", "SCHEMA"), "schema"),
    (("ALTER", "DATABASE"), "database"),
)


def parse_owner_change(cursor: TokenCursor) -> ChangeOwner | None:
    """`ALTER ... OWNER TO ...`; any other ALTER is left to those who read it."""
    ahead = copy.copy(cursor)
    kind = next((kind for words, kind in _OWNED if ahead.accept(*words)), None)
    if kind is None:
        return None
    if_exists = ahead.accept("IF", "EXISTS")
    ahead.accept("ONLY")
    name = relation_name(ahead)
    if not ahead.accept("OWNER", "TO"):
        return None
    owner = role_name(ahead)
    ahead.end()
    return ChangeOwner(kind, name, owner, if_exists)


def _drop_owned(cursor: TokenCursor) -> Statement:
    cursor.expect("BY")
    roles = role_names(cursor)
    return DropOwned(roles, _cascade(cursor))


def _reassign_owned(cursor: TokenCursor) -> Statement:
    cursor.expect("BY")
    roles = role_names(cursor)
    cursor.expect("TO")
    owner = role_name(cursor)
    cursor.end()
    return ReassignOwned(roles, owner)


# -- who one is -------------------------------------------------------------------------------------------------------


def _set_role(cursor: TokenCursor) -> SetSetting:
    cursor.accept("=") or cursor.accept("TO")
    for word, value in (("NONE", NO_ROLE), ("DEFAULT", None)):
        if cursor.accept(word):
            cursor.end()
            return SetSetting(ROLE, value)
    return SetSetting(ROLE, _role_value(cursor))


def _set_local_role(cursor: TokenCursor) -> Statement:
    return replace(_set_role(cursor), local=True)


def _set_session_authorization(cursor: TokenCursor) -> Statement:
    if cursor.accept("DEFAULT"):
        cursor.end()
        return ResetSetting(SESSION_AUTHORIZATION)
    return SetSetting(SESSION_AUTHORIZATION, _role_value(cursor))


def _role_value(cursor: TokenCursor) -> str:
    """A role's name, as an identifier or as a string."""
    quoted = cursor.text[cursor.position - 1 : cursor.position] == "'"
    name = cursor.string() if quoted else cursor.identifier()
    cursor.end()
    return name


def _reset_session_authorization(cursor: TokenCursor) -> Statement:
    cursor.end()
    return ResetSetting(SESSION_AUTHORIZATION)


def _show_session_authorization(cursor: TokenCursor) -> Statement:
    cursor.end()
    return ShowSetting(SESSION_AUTHORIZATION)


HANDLERS: tuple[tuple[tuple[str, ...], Callable[[TokenCursor], Statement]], ...] = (
    (("GRANT",), _grant),
    (("REVOKE",), _revoke),
    (("ALTER", "DEFAULT", "PRIVILEGES"), _no_default_privileges),
    (("DROP", "OWNED"), _drop_owned),
    (("REASSIGN", "OWNED"), _reassign_owned),
    (("SET", "ROLE"), _set_role),
    (("SET", "SESSION", "ROLE"), _set_role),
    (("SET", "LOCAL", "ROLE"), _set_local_role),
    (("SET", "SESSION", "AUTHORIZATION"), _set_session_authorization),
    (("SET", "SESSION", "SESSION", "AUTHORIZATION"), _set_session_authorization),
    (("RESET", "SESSION", "AUTHORIZATION"), _reset_session_authorization),
    (("SHOW", "SESSION", "AUTHORIZATION"), _show_session_authorization),
)

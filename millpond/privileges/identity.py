"""Who a session is: the one who logged in, whom it acts for (SET SESSION AUTHORIZATION) and as what (SET ROLE).

Both are settings, so that SHOW, RESET and transactions treat them as such. A setting alone gives nobody rights: they
are looked up in the catalog for each statement, and a role that one may not take is not taken.
"""

from __future__ import annotations

from dataclasses import dataclass

from millpond.config import Settings
from millpond.errors import MillpondError, SqlState
from millpond.privileges.authority import Authority
from millpond.roles import Roles, is_superuser

ROLE, SESSION_AUTHORIZATION = "role", "session_authorization"
NO_ROLE = "none"


@dataclass(frozen=True)
class Login:
    """Who connected. One who is `trusted` is a superuser without having a role: this process, or anyone on this
    machine as long as nobody has a password."""

    user: str
    trusted: bool = False


@dataclass(frozen=True)
class Identity:
    """Who a statement is run for."""

    session_user: str
    user: str
    superuser: bool


def identify(login: Login, roles: Roles, settings: Settings, *, strict: bool = False) -> Identity:
    """Who the settings make of a login; with `strict`, an error says what they may not."""
    session_user, user = settings.text(SESSION_AUTHORIZATION), settings.text(ROLE)
    refused = _session_user_refused(login, roles, session_user)
    if refused is not None:
        if strict:
            raise refused
        session_user = login.user
    refused = _role_refused(Authority(session_user, _is_superuser(login, roles, session_user), roles), user)
    if refused is not None and strict:
        raise refused
    user = session_user if refused is not None or user == NO_ROLE else user
    return Identity(session_user, user, _is_superuser(login, roles, user))


def _is_superuser(login: Login, roles: Roles, name: str) -> bool:
    return (login.trusted and name == login.user) or (name in roles and is_superuser(roles, name))


def _session_user_refused(login: Login, roles: Roles, name: str) -> MillpondError | None:
    if name == login.user:
        return None
    if name not in roles:
        return _no_role(name)
    if _is_superuser(login, roles, login.user):
        return None
    message = f'permission denied to set session authorization "{name}"'
    return MillpondError(SqlState.INSUFFICIENT_PRIVILEGE, message)


def _role_refused(authority: Authority, name: str) -> MillpondError | None:
    if name in (NO_ROLE, authority.role):
        return None
    if name not in authority.roles:
        return _no_role(name)
    if authority.may_become(name):
        return None
    return MillpondError(SqlState.INSUFFICIENT_PRIVILEGE, f'permission denied to set role "{name}"')


def _no_role(name: str) -> MillpondError:
    return MillpondError(SqlState.INVALID_PARAMETER_VALUE, f'role "{name}" does not exist')

"""Roles: who may connect, as what, and which roles are in which. Records of the catalog, like relations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

FIRST_ROLE = "millpond"
"""The superuser that a server creates when a pond has no roles yet. It owns what nobody else does."""


@dataclass(frozen=True)
class Membership:
    """A role that another one is in; with `admin` it may let others in."""

    role: str
    grantor: str
    admin: bool = False


@dataclass(frozen=True)
class Role:
    """A role; `verifier` is what SCRAM keeps instead of a password, None for a role that has none.

    With `inherit` it has the privileges of the roles that it is in; without, it must SET ROLE to use them.
    """

    name: str
    superuser: bool = False
    login: bool = True
    verifier: str | None = None
    inherit: bool = True
    member_of: tuple[Membership, ...] = ()


Roles = Mapping[str, Role]


def is_superuser(roles: Roles, name: str) -> bool:
    """Whether a role is a superuser; the first one is also before anybody created it."""
    role = roles.get(name)
    return name == FIRST_ROLE if role is None else role.superuser


def memberships(roles: Roles, name: str, *, inherited: bool = False) -> frozenset[str]:
    """The role itself and all that it is in, directly or through others; with `inherited` those whose privileges
    it has without SET ROLE."""
    found = {name}
    waiting = [name]
    while waiting:
        role = roles.get(waiting.pop())
        if role is None or (inherited and not role.inherit):
            continue
        new = {membership.role for membership in role.member_of} - found
        found |= new
        waiting += new
    return frozenset(found)

"""What one role may do, by one state of the catalog: the privileges it holds, what it owns, what it sees."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

from millpond.errors import MillpondError, SqlState
from millpond.namespace import Namespace, NamespaceKey
from millpond.privileges import acl as acls
from millpond.privileges.acl import Acl
from millpond.relation import Relation
from millpond.roles import FIRST_ROLE, Roles, is_superuser, memberships

Owned = Relation | Namespace


class CatalogState(Protocol):
    """What a snapshot and a transaction both offer."""

    def relation(self, name: str) -> Relation | None: ...

    @property
    def relations(self) -> Mapping[str, Relation]: ...

    @property
    def roles(self) -> Roles: ...

    @property
    def namespaces(self) -> Mapping[NamespaceKey, Namespace]: ...


@dataclass(frozen=True)
class Authority:
    """A role with all that it may do."""

    role: str
    superuser: bool
    roles: Roles

    @classmethod
    def of(cls, role: str, roles: Roles) -> Authority:
        return cls(role, is_superuser(roles, role), roles)

    @cached_property
    def names(self) -> frozenset[str]:
        """The roles whose privileges this one has: itself, and those that it is in and inherits from."""
        return memberships(self.roles, self.role, inherited=True)

    @property
    def owner_name(self) -> str:
        """Who owns what this role creates: somebody without a role, let in as a superuser, stands for the first one."""
        return self.role if self.role in self.roles else FIRST_ROLE

    def has_role(self, name: str) -> bool:
        """Whether it has the privileges of a role."""
        return self.superuser or name in self.names

    def may_become(self, name: str) -> bool:
        """Whether it may SET ROLE."""
        return self.superuser or name in memberships(self.roles, self.role)

    def may_administer(self, name: str) -> bool:
        """Whether it may let others into a role."""
        member_of = [one for known in self.names if known in self.roles for one in self.roles[known].member_of]
        return self.superuser or any(one.role == name and one.admin for one in member_of)

    def owns(self, item: Owned) -> bool:
        return self.has_role(item.owner)

    def holds(self, item: Owned) -> set[str]:
        """The letters of the privileges that it has on an object as a whole."""
        kind: acls.Securable = "relation" if isinstance(item, Relation) else item.kind
        return set(acls.ALL[kind]) if self.superuser else acls.held(acl_of(item), self.names)

    def may(self, letter: str, item: Owned, columns: Collection[str] = ()) -> bool:
        """Whether it has a privilege on an object, or on all of the columns; without columns, on any."""
        if letter in self.holds(item):
            return True
        if not isinstance(item, Relation):
            return False
        allowed = {name for name, acl in item.column_acls.items() if letter in acls.held(acl, self.names)}
        return allowed.issuperset(columns) if columns else bool(allowed)

    def may_see(self, relation: Relation) -> bool:
        """Whether it owns a relation or may do anything with it."""
        if self.owns(relation) or self.holds(relation):
            return True
        return any(acls.held(acl, self.names) for acl in relation.column_acls.values())

    # -- or an error ---------------------------------------------------------------------------------------------

    def require(self, letter: str, item: Owned, columns: Collection[str] = ()) -> None:
        if not self.may(letter, item, columns):
            raise denied(item)

    def require_ownership(self, item: Owned) -> None:
        if not self.owns(item):
            message = f"must be owner of {kind_words(item)} {item.name}"
            raise MillpondError(SqlState.INSUFFICIENT_PRIVILEGE, message)


def acl_of(item: Owned) -> Acl:
    """The access list of an object, also if nobody changed it yet."""
    kind: acls.Securable = "relation" if isinstance(item, Relation) else item.kind
    return acls.default_acl(kind, item.owner) if item.acl is None else item.acl


def with_rights_of(old: Relation, new: Relation) -> Relation:
    """A relation that takes the place of another: of the same owner, and granted to the same roles."""
    return replace(new, owner=old.owner, acl=old.acl, column_acls=old.column_acls)


def kind_words(item: Owned) -> str:
    """What PostgreSQL calls the kind of an object in its errors."""
    words = {"stream": "foreign table", "continuous": "view", "query": "continuous query", "system": "table"}
    return words.get(item.kind, item.kind)


def denied(item: Owned) -> MillpondError:
    return MillpondError(SqlState.INSUFFICIENT_PRIVILEGE, f"permission denied for {kind_words(item)} {item.name}")

"""The objects that the system catalogs tell of, with oids: relations, their keys and checks, roles.

This is also the one place that decides what a role gets to see.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from millpond.cursors import Cursors
from millpond.namespace import Namespace, NamespaceKey
from millpond.pgcatalog.declarations import DECLARED, INFORMATION_SCHEMA, PG_CATALOG
from millpond.pgcatalog.procedures import PROCEDURES, Procedure, procedure_of
from millpond.privileges.authority import Authority
from millpond.python_function import PythonFunction
from millpond.relation import Check, Column, Key, Relation
from millpond.roles import FIRST_ROLE, Role, Roles
from millpond.session_settings import SessionSettings

DATABASE = "pond"
DATABASE_OID = 5
PUBLIC = "public"
SCHEMAS = {PG_CATALOG: 11, PUBLIC: 2200, INFORMATION_SCHEMA: 13000}
"""The oids of the schemas."""

OWNER_OID = 10
"""The first role, which everything belongs to that nobody else owns."""

_DERIVED_FIRST = 1 << 31
_DERIVED_EACH = 256
"""Keys and checks have no oid of their own: each relation has room for so many above this number."""

RELATION_KINDS = {"table": "r", "stream": "f", "view": "v", "continuous": "v"}


@dataclass(frozen=True)
class CatalogRelation:
    """A relation as pg_class shows it; `relation` is the pond's record, None for a system relation."""

    oid: int
    schema: str
    name: str
    kind: str
    columns: tuple[Column, ...]
    relation: Relation | None = None

    @property
    def schema_oid(self) -> int:
        return SCHEMAS[self.schema]

    @property
    def owner(self) -> str:
        """Whom it belongs to; the system's relations are the first role's."""
        return FIRST_ROLE if self.relation is None else self.relation.owner


@dataclass(frozen=True)
class CatalogKey:
    """A PRIMARY KEY or UNIQUE constraint, and the index that PostgreSQL would have for it."""

    index_oid: int
    constraint_oid: int
    table: Relation
    key: Key

    @property
    def numbers(self) -> tuple[int, ...]:
        """The places of its columns in the table."""
        names = [column.name for column in self.table.visible_columns]
        return tuple(names.index(name) + 1 for name in self.key.columns)


@dataclass(frozen=True)
class CatalogCheck:
    """A CHECK constraint."""

    oid: int
    table: Relation
    check: Check


@dataclass(frozen=True)
class Objects:
    """What one role sees in one state of the catalog."""

    relations: Mapping[str, Relation]
    namespaces: Mapping[NamespaceKey, Namespace]
    authority: Authority
    functions: Mapping[str, PythonFunction] = field(default_factory=dict)

    @cached_property
    def procedures(self) -> Mapping[int, Procedure]:
        """All functions, by oid."""
        return {**PROCEDURES, **{one.oid: procedure_of(one) for one in self.functions.values()}}

    @property
    def roles(self) -> Roles:
        return self.authority.roles

    @property
    def user(self) -> str:
        return self.authority.role

    @property
    def superuser(self) -> bool:
        return self.authority.superuser

    def relation(self, name: str) -> Relation | None:
        return self.relations.get(name)

    @cached_property
    def own(self) -> tuple[CatalogRelation, ...]:
        """The pond's relations that the role may see, by name."""
        found = sorted(self.relations.values(), key=lambda relation: relation.name)
        return tuple(
            CatalogRelation(one.oid, PUBLIC, one.name, RELATION_KINDS[one.kind], one.visible_columns, one)
            for one in found
            if one.kind in RELATION_KINDS and self.authority.may_see(one)
        )

    @cached_property
    def all(self) -> tuple[CatalogRelation, ...]:
        """The pond's relations and those of the system."""
        return (*self.own, *_SYSTEM)

    def of_kind(self, *kinds: str) -> Iterator[tuple[CatalogRelation, Relation]]:
        """The pond's own relations of some kinds, as the pond calls them."""
        for one in self.own:
            if one.relation is not None and one.relation.kind in kinds:
                yield one, one.relation

    @cached_property
    def keys(self) -> tuple[CatalogKey, ...]:
        return tuple(
            CatalogKey(derived_oid(relation, 2 * place), derived_oid(relation, 2 * place + 1), relation, key)
            for _, relation in self.of_kind("table")
            for place, key in enumerate(relation.keys)
        )

    @cached_property
    def checks(self) -> tuple[CatalogCheck, ...]:
        return tuple(
            CatalogCheck(derived_oid(relation, _DERIVED_EACH // 2 + place), relation, check)
            for _, relation in self.of_kind("table")
            for place, check in enumerate(relation.checks)
        )

    @cached_property
    def by_oid(self) -> Mapping[int, CatalogRelation]:
        return {relation.oid: relation for relation in self.all}

    @cached_property
    def keys_by_index(self) -> Mapping[int, CatalogKey]:
        return {key.index_oid: key for key in self.keys}

    @cached_property
    def by_name(self) -> Mapping[tuple[str, str], int]:
        """Oids of relations and indexes by schema and name."""
        indexes = {(PUBLIC, key.key.name): key.index_oid for key in self.keys}
        return {**indexes, **{(one.schema, one.name): one.oid for one in self.all}}

    @cached_property
    def role_oids(self) -> Mapping[str, int]:
        """The oids of the roles; whoever is connected is one of them, also in a pond that has no roles yet."""
        names = dict.fromkeys([FIRST_ROLE, *sorted(self.roles), self.user])
        return {name: OWNER_OID if name == FIRST_ROLE else _role_oid(name) for name in names}

    def owner_oid(self, item: CatalogRelation | Namespace | Relation) -> int:
        return self.role_oids.get(item.owner, OWNER_OID)

    def role(self, name: str) -> Role:
        return self.roles.get(name) or Role(name, superuser=name == FIRST_ROLE or self.superuser)


@dataclass(frozen=True)
class SessionFacts:
    """What the catalogs tell that is not in them: the session's settings, the time, the bytes that relations take."""

    settings: SessionSettings
    now: datetime
    version: str
    process: int
    cursors: Cursors
    size_of: Callable[[Relation], int] = lambda _relation: 0


def derived_oid(relation: Relation, place: int) -> int:
    """The oid of something that belongs to a relation: the same as long as the relation stays."""
    return _DERIVED_FIRST + (relation.oid * _DERIVED_EACH + place) % _DERIVED_FIRST


def _role_oid(name: str) -> int:
    return 1_000_000_000 + zlib.crc32(name.encode()) % 1_000_000_000


def _system_relations() -> Iterable[CatalogRelation]:
    for one in DECLARED.values():
        columns = tuple(Column(name, kind) for name, kind in one.columns.items())
        yield CatalogRelation(one.oid, one.schema, one.name, one.kind, columns)


_SYSTEM = tuple(_system_relations())

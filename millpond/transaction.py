"""A transaction: one snapshot to read, changes of its own on top, and one commit that makes them visible.

Commit steps, under the catalog's commit lock; a crash between two of them is undone when the pond opens:

1. compare what was written with the newest snapshot; the second of two conflicting writers gets 40001
2. log the new versions of the written tables in their Delta logs (nobody looks at them yet)
3. record all new versions, new and dropped relations in one catalog transaction: they become visible here
4. publish the rows meant for streams, which are not transactional with tables, remove dropped files, and do what
   waits for the commit, such as starting a view
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

import pyarrow as pa

from millpond.catalog import Catalog, Snapshot
from millpond.errors import MillpondError, SqlState
from millpond.namespace import Namespace, NamespaceKey
from millpond.privileges.mentions import roles_mentioned
from millpond.relation import Column, Relation
from millpond.roles import FIRST_ROLE, Role
from millpond.stream import StagedAppend
from millpond.streams import StreamStore
from millpond.tables import DataFile, TableStore


@dataclass
class TableWrite:
    """What a transaction did to one table."""

    added: list[DataFile] = field(default_factory=list)
    removed: list[DataFile] = field(default_factory=list)
    new_columns: list[Column] = field(default_factory=list)


class Transaction:
    """Use it from one thread; `commit` or `rollback` ends it."""

    def __init__(self, catalog: Catalog, tables: TableStore, streams: StreamStore, *, read_only: bool = False) -> None:
        self.base: Snapshot = catalog.snapshot
        self.now = datetime.datetime.now(datetime.UTC)
        self.read_only = read_only
        self.failed = False
        self._catalog, self._tables, self._streams = catalog, tables, streams
        self._changes: dict[str, Relation | None] = {}
        self._role_changes: dict[str, Role | None] = {}
        self._namespace_changes: dict[NamespaceKey, Namespace] = {}
        self._created: list[Relation] = []
        self._dropped: list[Relation] = []
        self._writes: dict[int, TableWrite] = {}
        self._appends: dict[int, StagedAppend] = {}
        self._pins: dict[int, Callable[[], None]] = {}
        self.after_commit: list[Callable[[], object]] = []

    # -- reading -------------------------------------------------------------------------------------------

    def relation(self, name: str) -> Relation | None:
        return self._changes[name] if name in self._changes else self.base.relation(name)

    @property
    def relations(self) -> Mapping[str, Relation]:
        if not self._changes:
            return self.base.relations
        merged = {**self.base.relations, **self._changes}
        return {name: relation for name, relation in merged.items() if relation is not None}

    def role(self, name: str) -> Role | None:
        return self._role_changes[name] if name in self._role_changes else self.base.roles.get(name)

    @property
    def roles(self) -> Mapping[str, Role]:
        if not self._role_changes:
            return self.base.roles
        merged = {**self.base.roles, **self._role_changes}
        return {name: role for name, role in merged.items() if role is not None}

    @property
    def namespaces(self) -> Mapping[NamespaceKey, Namespace]:
        return {**self.base.namespaces, **self._namespace_changes} if self._namespace_changes else self.base.namespaces

    def files(self, relation: Relation) -> tuple[DataFile, ...]:
        """The files of a table as this transaction sees it."""
        if relation.oid not in self._pins:
            self._pins[relation.oid] = self._tables.pins.pin(relation.oid)
        files = self._tables.files(relation)
        write = self._writes.get(relation.oid)
        if write is None:
            return files
        removed = set(write.removed)
        return tuple(file for file in (*files, *write.added) if file not in removed)

    def wrote(self, relation: Relation) -> bool:
        return relation.oid in self._writes

    # -- writing -------------------------------------------------------------------------------------------

    def create(self, relation: Relation) -> None:
        self._check_writable()
        self._changes[relation.name] = relation
        self._created.append(relation)

    def change(self, relation: Relation) -> None:
        """Replace the catalog's record of a relation."""
        self._check_writable()
        self._changes[relation.name] = relation

    def change_role(self, name: str, role: Role | None) -> None:
        """Create or change a role, or (None) drop it."""
        self._check_writable()
        self._role_changes[name] = role

    def change_namespace(self, namespace: Namespace) -> None:
        """Replace the catalog's record of a schema or the database."""
        self._check_writable()
        self._namespace_changes[namespace.key] = namespace

    def rename(self, relation: Relation, name: str) -> None:
        """Give a relation another name; it keeps its oid and all that belongs to it."""
        self._check_writable()
        self._changes[relation.name] = None
        self._changes[name] = replace(relation, name=name)

    def drop(self, relation: Relation) -> None:
        self._check_writable()
        self._changes[relation.name] = None
        self._dropped.append(relation)

    def write(
        self,
        relation: Relation,
        *,
        added: Iterable[DataFile] = (),
        removed: Iterable[DataFile] = (),
        new_columns: Iterable[Column] = (),
    ) -> None:
        """Add staged files to a table, take files away, add columns."""
        self._check_writable()
        write = self._writes.setdefault(relation.oid, TableWrite())
        gone = set(removed)
        own = [file for file in write.added if file in gone]
        self._tables.discard(relation.oid, own)
        write.added = [file for file in write.added if file not in gone] + list(added)
        write.removed += [file for file in gone if file not in own]
        write.new_columns += new_columns

    def append(self, relation: Relation, rows: pa.Table) -> None:
        """Add rows to a stream when the transaction commits."""
        self._check_writable()
        if relation.oid not in self._appends:
            self._appends[relation.oid] = self._streams.get(relation).stage()
        self._appends[relation.oid].write(rows)

    def _check_writable(self) -> None:
        if self.read_only:
            raise MillpondError(SqlState.READ_ONLY_SQL_TRANSACTION, "cannot execute a write in a read-only transaction")

    # -- the end -------------------------------------------------------------------------------------------

    def commit(self) -> None:
        """Make everything visible, or nothing; the steps are numbered in the module's docstring."""
        try:
            if self._changes or self._writes or self._role_changes or self._namespace_changes:
                with self._catalog.commit_lock:
                    self._make_visible(self._resolve_conflicts())
        except BaseException:
            self.rollback()
            raise
        for staged in self._appends.values():
            staged.publish()
        for relation in self._dropped:
            self._remove(relation)
        for action in self.after_commit:
            action()
        self._release()

    def rollback(self) -> None:
        """Forget everything."""
        for oid, write in self._writes.items():
            self._tables.discard(oid, write.added)
        for staged in self._appends.values():
            staged.discard()
        for relation in self._created:
            self._remove(relation)
        self._release()

    def _resolve_conflicts(self) -> dict[str, Relation | None]:
        """Step 1: the changes, rebased on the newest snapshot where that is safe."""
        newest = self._catalog.snapshot
        changes = dict(self._changes)
        for name in changes:
            if newest.relation(name) != self.base.relation(name):
                raise _conflict(name)
        for name in self._role_changes:
            if newest.roles.get(name) != self.base.roles.get(name):
                raise _conflict(name, "Role")
        for kind, name in self._namespace_changes:
            if newest.namespaces[kind, name] != self.base.namespaces[kind, name]:
                raise _conflict(name, kind.capitalize())
        self._check_mentioned_roles(newest)
        for oid, write in self._writes.items():
            relation = next((r for r in self.relations.values() if r.oid == oid), None)
            if relation is None or relation.name in changes:
                continue
            current = newest.relation(relation.name)
            if current is None or not (current == relation or self._can_follow(current, relation, write)):
                raise _conflict(relation.name)
            changes[relation.name] = current
        return changes

    def _check_mentioned_roles(self, newest: Snapshot) -> None:
        """A role that is dropped in one transaction must not own or be granted anything by another one meanwhile."""
        changed = [*self._changes.values(), *self._role_changes.values(), *self._namespace_changes.values()]
        mentioned = {role for record in changed if record is not None for role in roles_mentioned(record)}
        for role in mentioned - {FIRST_ROLE}:
            if role in self.base.roles and role not in newest.roles:
                raise _conflict(role, "Role")
        dropped = {name for name, role in self._role_changes.items() if role is None}
        if dropped:
            after = [
                *{**newest.relations, **self._changes}.values(),
                *{**newest.roles, **self._role_changes}.values(),
                *{**newest.namespaces, **self._namespace_changes}.values(),
            ]
            for role in {role for record in after if record is not None for role in roles_mentioned(record)} & dropped:
                raise _conflict(role, "Role")

    def _can_follow(self, current: Relation, relation: Relation, write: TableWrite) -> bool:
        """Whether a write still holds on a newer version: what it replaces is there, and no key can be violated."""
        if relation.keys or write.new_columns or replace(current, version=relation.version) != relation:
            return False
        return set(write.removed) <= set(self._tables.files(current))

    def _make_visible(self, changes: dict[str, Relation | None]) -> None:
        """Steps 2 and 3: append to the Delta logs and commit; on failure put back what was logged."""
        logged: list[Relation] = []
        try:
            for name, relation in list(changes.items()):
                write = self._writes.get(relation.oid) if relation else None
                if relation is None or write is None:
                    continue
                logged.append(relation)
                version = self._tables.commit(relation, write.added, write.removed, write.new_columns)
                changes[name] = replace(relation, version=version)
            self._catalog.commit(changes, self._role_changes, self._namespace_changes)
        except BaseException:
            self._restore(logged)
            raise

    def _restore(self, logged: list[Relation]) -> None:
        changes: dict[str, Relation | None] = {}
        for relation in logged:
            version = self._tables.restore(relation)
            if self._catalog.snapshot.relation(relation.name) is not None:
                changes[relation.name] = replace(relation, version=version)
        if changes:
            self._catalog.commit(changes)

    def _remove(self, relation: Relation) -> None:
        if relation.kind == "table":
            self._tables.drop(relation.oid)
        elif relation.kind == "stream":
            self._streams.drop(relation.oid)

    def _release(self) -> None:
        for release in self._pins.values():
            release()
        self._pins, self._changes, self._writes, self._appends = {}, {}, {}, {}
        self._created, self._dropped, self._role_changes, self._namespace_changes = [], [], {}, {}


def _conflict(name: str, kind: str = "Relation") -> MillpondError:
    return MillpondError(
        SqlState.SERIALIZATION_FAILURE,
        "could not serialize access due to concurrent update",
        detail=f'{kind} "{name}" was changed by another transaction.',
        hint="The transaction might succeed if retried.",
    )

"""A transaction: one snapshot to read, changes of its own on top, and one commit that makes them visible.

Commit steps, under the catalog's commit lock; a crash between two of them is undone when the pond opens:

0. wait until the streams have room for the rows meant for them: up to here a statement can be canceled
1. compare what was written with the newest snapshot; the second of two conflicting writers gets 40001
2. log the new versions of the written tables in their Delta logs (nobody looks at them yet)
3. record all new versions, new and dropped relations in one catalog transaction: they become visible here, together
   with how far the continuous query is that made them
4. publish the rows meant for streams, which are not transactional with tables, remove dropped files, and do what
   waits for the commit, such as starting a view
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from millpond import interrupt
from millpond.catalog import Catalog, Snapshot
from millpond.errors import MillpondError, SqlState
from millpond.namespace import Namespace, NamespaceKey
from millpond.privileges.mentions import roles_mentioned
from millpond.python_function import PythonFunction
from millpond.relation import Column, Relation
from millpond.roles import FIRST_ROLE, Role
from millpond.state.records import QueryRecord
from millpond.stream import StagedAppend
from millpond.stream_window import moment
from millpond.streams import StreamStore
from millpond.table_history import Writer
from millpond.tables import DataFile, TableStore

_numbers = itertools.count(1)


@dataclass
class TableWrite:
    """What a transaction did to one table."""

    added: list[DataFile] = field(default_factory=list)
    removed: list[DataFile] = field(default_factory=list)
    new_columns: list[Column] = field(default_factory=list)

    def copied(self) -> TableWrite:
        return TableWrite(list(self.added), list(self.removed), list(self.new_columns))


@dataclass(frozen=True)
class Mark:
    """What a transaction had done at some moment, to which it can go back."""

    values: Mapping[str, Any]
    writes: Mapping[int, TableWrite]
    staged: int


class Transaction:
    """Use it from one thread; `commit` or `rollback` ends it.

    Files that it stages stay until it ends, also if it replaces them itself: a cursor may read them, and a savepoint
    may bring them back.
    """

    _MARKED = (
        "_changes",
        "_role_changes",
        "_namespace_changes",
        "_function_changes",
        "_created",
        "_dropped",
        "_appends",
        "notifications",
        "after_commit",
    )
    """What going back to a mark restores, beside what was written to tables."""

    def __init__(self, catalog: Catalog, tables: TableStore, streams: StreamStore) -> None:
        self.number: int = next(_numbers)
        self.base: Snapshot = catalog.snapshot
        self.now = moment(streams.clock())
        self.failed = False
        self._catalog, self._tables, self._streams = catalog, tables, streams
        self._changes: dict[str, Relation | None] = {}
        self._role_changes: dict[str, Role | None] = {}
        self._namespace_changes: dict[NamespaceKey, Namespace] = {}
        self._function_changes: dict[str, PythonFunction | None] = {}
        self._created: list[Relation] = []
        self._dropped: list[Relation] = []
        self._writes: dict[int, TableWrite] = {}
        self._staged: list[tuple[int, DataFile]] = []
        self._appends: list[tuple[int, StagedAppend]] = []
        self._appends_marked = 0
        self._pins: dict[int, Callable[[], None]] = {}
        self._progress: tuple[Relation, QueryRecord] | None = None
        self._writer: Writer | None = None
        self.notifications: dict[tuple[str, str], None] = {}
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

    @property
    def functions(self) -> Mapping[str, PythonFunction]:
        if not self._function_changes:
            return self.base.functions
        merged = {**self.base.functions, **self._function_changes}
        return {name: function for name, function in merged.items() if function is not None}

    def hold(self, relation: Relation) -> None:
        """Keep a table's files as long as the transaction lasts; raise if another one has dropped the table."""
        if relation.oid in self._pins:
            return
        release = self._tables.pins.pin(relation.oid)
        # The catalog forgets a table before its files are removed, so those of a table that it knows now will stay.
        newest = self._catalog.snapshot
        if all(other.oid != relation.oid for other in (*self._created, *newest.relations.values())):
            release()
            raise _conflict(relation.name) if newest.relation(relation.name) else _dropped(relation.name)
        self._pins[relation.oid] = release

    def files(self, relation: Relation) -> tuple[DataFile, ...]:
        """The files of a table as this transaction sees it, or as it was before, whatever the transaction did."""
        self.hold(relation)
        files = self._tables.files(relation)
        write = None if relation.is_past else self._writes.get(relation.oid)
        if write is None:
            return files
        removed = set(write.removed)
        return tuple(file for file in (*files, *write.added) if file not in removed)

    def wrote(self, relation: Relation) -> bool:
        return relation.oid in self._writes

    # -- writing -------------------------------------------------------------------------------------------

    def create(self, relation: Relation) -> None:
        self._changes[relation.name] = relation
        self._created.append(relation)

    def change(self, relation: Relation) -> None:
        """Replace the catalog's record of a relation."""
        self._changes[relation.name] = relation

    def change_role(self, name: str, role: Role | None) -> None:
        """Create or change a role, or (None) drop it."""
        self._role_changes[name] = role

    def change_function(self, name: str, function: PythonFunction | None) -> None:
        """Create or replace a function, or (None) drop it."""
        self._function_changes[name] = function

    def change_namespace(self, namespace: Namespace) -> None:
        """Replace the catalog's record of a schema or the database."""
        self._namespace_changes[namespace.key] = namespace

    def rename(self, relation: Relation, name: str) -> None:
        """Give a relation another name; it keeps its oid and all that belongs to it."""
        self._changes[relation.name] = None
        self._changes[name] = replace(relation, name=name)

    def drop(self, relation: Relation) -> None:
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
        write = self._writes.setdefault(relation.oid, TableWrite())
        gone = set(removed)
        own = [file for file in write.added if file in gone]
        new = list(added)
        self._staged += [(relation.oid, file) for file in new]
        write.added = [file for file in write.added if file not in gone] + new
        write.removed += [file for file in gone if file not in own]
        write.new_columns += new_columns

    def append(self, relation: Relation, rows: pa.Table) -> None:
        """Add rows to a stream when the transaction commits."""
        since_mark = self._appends[self._appends_marked :]
        staged = next((staged for oid, staged in since_mark if oid == relation.oid), None)
        if staged is None:
            staged = self._streams.get(relation).stage()
            self._appends.append((relation.oid, staged))
        staged.write(rows)

    def advance(self, query: Relation, record: QueryRecord, targets: Iterable[Relation]) -> None:
        """Say how far the continuous query is that made this for its targets; if it is changed meanwhile, nothing is
        committed."""
        self._progress = (query, record)
        cycle = None if record.cycle is None else record.cycle.cycles
        self._writer = Writer(query.oid, query.name, cycle, frozenset(one.oid for one in targets))

    # -- going back ----------------------------------------------------------------------------------------

    def mark(self) -> Mark:
        """This moment, for `return_to`."""
        self._appends_marked = len(self._appends)
        writes = {oid: write.copied() for oid, write in self._writes.items()}
        return Mark({name: copy.copy(getattr(self, name)) for name in self._MARKED}, writes, len(self._staged))

    def return_to(self, mark: Mark) -> None:
        """Forget all that was done since, and that the transaction failed; one can return to a mark again and again."""
        self._discard(self._staged[mark.staged :])
        del self._staged[mark.staged :]
        for _, staged in self._appends[len(mark.values["_appends"]) :]:
            staged.discard()
        for relation in self._created[len(mark.values["_created"]) :]:
            self._remove(relation)
        for name, value in mark.values.items():
            setattr(self, name, copy.copy(value))
        self._writes = {oid: write.copied() for oid, write in mark.writes.items()}
        self._appends_marked = len(self._appends)
        self.failed = False

    # -- the end -------------------------------------------------------------------------------------------

    def commit(self) -> None:
        """Make everything visible, or nothing; the steps are numbered in the module's docstring."""
        try:
            for _, staged in self._appends:
                staged.wait_for_room()
            defined = self._changes or self._role_changes or self._namespace_changes or self._function_changes
            if defined or self._writes or self._progress:
                with interrupt.holding(self._catalog.commit_lock):
                    self._make_visible(self._resolve_conflicts())
        except BaseException:
            self.rollback()
            raise
        with interrupt.put_off():
            self._publish()
        visible = {(oid, file) for oid, write in self._writes.items() for file in write.added}
        self._discard([staged for staged in self._staged if staged not in visible])
        for relation in self._dropped:
            self._remove(relation)
        for action in self.after_commit:
            action()
        self._release()

    def rollback(self) -> None:
        """Forget everything."""
        self._discard(self._staged)
        for _, staged in self._appends:
            staged.discard()
        for relation in self._created:
            self._remove(relation)
        self._release()

    def _publish(self) -> None:
        """Step 4: the rows for each stream, at once also if savepoints were set between them."""
        first: dict[int, StagedAppend] = {}
        for oid, staged in self._appends:
            if oid in first:
                first[oid].take_over(staged)
            else:
                first[oid] = staged
        for staged in first.values():
            staged.publish()

    def _discard(self, staged: Iterable[tuple[int, DataFile]]) -> None:
        for oid, file in staged:
            self._tables.discard(oid, [file])

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
        for name in self._function_changes:
            if newest.functions.get(name) != self.base.functions.get(name):
                raise _conflict(name, "Function")
        if self._progress is not None and newest.relation(self._progress[0].name) != self._progress[0]:
            raise _conflict(self._progress[0].name)
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
            progress = {} if self._progress is None else {self._progress[0].oid: self._progress[1]}
            functions = self._function_changes
            self._catalog.commit(
                changes, self._role_changes, self._namespace_changes, progress, functions, self._writer
            )
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
        self._pins, self._changes, self._writes, self._role_changes = {}, {}, {}, {}
        self._created, self._dropped, self._appends, self._staged = [], [], [], []
        self._namespace_changes, self._function_changes = {}, {}


def _conflict(name: str, kind: str = "Relation") -> MillpondError:
    return MillpondError(
        SqlState.SERIALIZATION_FAILURE,
        "could not serialize access due to concurrent update",
        detail=f'{kind} "{name}" was changed by another transaction.',
        hint="The transaction might succeed if retried.",
    )


def _dropped(name: str) -> MillpondError:
    return MillpondError(
        SqlState.UNDEFINED_TABLE,
        f'relation "{name}" does not exist',
        detail="It was dropped by another transaction.",
    )

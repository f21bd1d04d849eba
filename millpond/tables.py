"""History: tables as Delta Lake tables, one directory each, named after the table's oid.

Parquet files are staged first and change nothing; `commit` names them in the Delta log. Which version of
the log is visible is the catalog's business, so a version that no catalog transaction confirmed is undone
by `restore` when the pond opens.
"""

from __future__ import annotations

import json
import shutil
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable, Field, Schema
from deltalake.transaction import AddAction, RemoveAction

from millpond.errors import InternalError
from millpond.files import Pins, fsync_path
from millpond.relation import Column, Relation

_OPEN_MAX = 64
"""Tables that were written last and stay open: opening one reads its log."""


@dataclass(frozen=True)
class DataFile:
    """One Parquet file of a table; `path` is relative to the table's directory."""

    path: str
    rows: int
    bytes: int


class TableStore:
    """The directory of all tables of a pond."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        self.pins = Pins()
        self._lock = threading.Lock()
        self._files: dict[tuple[int, int], tuple[DataFile, ...]] = {}
        self._open: OrderedDict[int, DeltaTable] = OrderedDict()

    def directory_of(self, oid: int) -> Path:
        return self.directory / str(oid)

    def create(self, oid: int, columns: Sequence[Column]) -> int:
        """Make an empty table; nobody sees it until the catalog names it. Returns its version."""
        directory = self.directory_of(oid)
        DeltaTable.create(directory, _arrow_schema(columns))
        self._sync_log(directory, 0)
        return 0

    def files(self, relation: Relation) -> tuple[DataFile, ...]:
        """The files of the version that `relation` is pinned to."""
        return self.files_at(relation.oid, relation.version)

    def files_at(self, oid: int, version: int) -> tuple[DataFile, ...]:
        """The files of any version."""
        with self._lock:
            known = self._files.get((oid, version))
        if known is None:
            known = _files_of(DeltaTable(self.directory_of(oid), version=version))
            with self._lock:
                self._forget_all_but_newest(oid)
                self._files[(oid, version)] = known
        return known

    def paths(self, oid: int, files: Iterable[DataFile]) -> list[str]:
        return [str(self.directory_of(oid) / file.path) for file in files]

    # -- writing -------------------------------------------------------------------------------------------

    def stage(self, oid: int, rows: pa.Table) -> DataFile:
        """Write rows as a file of the table that no version names yet."""
        name = f"{uuid.uuid4().hex}.parquet"
        path = self.directory_of(oid) / name
        pq.write_table(rows, path, compression="snappy", store_decimal_as_integer=True)
        fsync_path(path)
        return DataFile(name, rows.num_rows, path.stat().st_size)

    def staging_directory(self, oid: int) -> Path:
        """A fresh directory inside the table for Spark to write into."""
        return self.directory_of(oid) / f"stage-{uuid.uuid4().hex}"

    def staged_in(self, oid: int, directory: Path) -> tuple[DataFile, ...]:
        """The files that Spark wrote into a staging directory, empty ones left out."""
        base, found = self.directory_of(oid), []
        for path in sorted(directory.glob("*.parquet")):
            rows = pq.read_metadata(path).num_rows
            if rows == 0:
                path.unlink()
                continue
            fsync_path(path)
            found.append(DataFile(str(path.relative_to(base)), rows, path.stat().st_size))
        fsync_path(directory)
        return tuple(found)

    def discard(self, oid: int, files: Iterable[DataFile]) -> None:
        """Remove staged files that no version will name."""
        for file in files:
            (self.directory_of(oid) / file.path).unlink(missing_ok=True)

    def commit(
        self,
        relation: Relation,
        added: Sequence[DataFile],
        removed: Sequence[DataFile],
        new_columns: Sequence[Column] = (),
    ) -> int:
        """Append to the Delta log; returns the new version, which the catalog has yet to make visible."""
        directory = self.directory_of(relation.oid)
        fsync_path(directory)
        table = self._opened(relation)
        if table.version() != relation.version:
            raise InternalError(f'table "{relation.name}" is at version {table.version()}, not {relation.version}')
        now_ms = int(time.time() * 1000)
        actions: list[AddAction | RemoveAction] = [_add(file, now_ms) for file in added]
        actions += [RemoveAction(file.path, True, now_ms, file.bytes, {}) for file in removed]
        if new_columns:
            table.alter.add_columns([_field(column) for column in new_columns])
            table.update_incremental()
        if actions:
            table.create_write_transaction(actions, "append", table.schema())
            table.update_incremental()
        self._sync_log(directory, table.version())
        with self._lock:
            self._files[(relation.oid, table.version())] = _files_of(table)
            self._open[relation.oid] = table
            while len(self._open) > _OPEN_MAX:
                self._open.popitem(last=False)
        return table.version()

    def _opened(self, relation: Relation) -> DeltaTable:
        """The table at its newest version. It is another's, or gone, until the commit has gone well."""
        with self._lock:
            table = self._open.pop(relation.oid, None)
        if table is None or table.version() != relation.version:
            return DeltaTable(self.directory_of(relation.oid))
        return table

    def restore(self, relation: Relation) -> int:
        """Undo what was logged after the pinned version; returns the version that now equals it."""
        table = DeltaTable(self.directory_of(relation.oid))
        if table.version() == relation.version:
            return relation.version
        table.restore(relation.version, protocol_downgrade_allowed=True)
        table.update_incremental()
        return table.version()

    def vacuum(self, oid: int, retention_ms: int, pinned: Sequence[int] = ()) -> int:
        """Delete files that neither a version within the retention nor a pinned one reads; returns how many."""
        table = DeltaTable(self.directory_of(oid))
        hours = max(1, -(-retention_ms // 3_600_000))
        return len(
            table.vacuum(hours, dry_run=False, enforce_retention_duration=False, keep_versions=list(pinned) or None)
        )

    def drop(self, oid: int) -> None:
        """Remove the table's directory once no reader uses it."""
        with self._lock:
            for key in [key for key in self._files if key[0] == oid]:
                del self._files[key]
            self._open.pop(oid, None)
        self.pins.when_unused(oid, lambda: shutil.rmtree(self.directory_of(oid), ignore_errors=True))

    def remove_orphans(self, oids: Iterable[int]) -> None:
        """Remove directories that belong to no table: creations and drops cut short by a crash."""
        known = {str(oid) for oid in oids}
        for path in self.directory.iterdir():
            if path.name not in known:
                shutil.rmtree(path)

    def _forget_all_but_newest(self, oid: int) -> None:
        versions = sorted(version for known, version in self._files if known == oid)
        for version in versions[:-4]:
            del self._files[(oid, version)]

    @staticmethod
    def _sync_log(directory: Path, version: int) -> None:
        fsync_path(directory / "_delta_log" / f"{version:020d}.json")
        fsync_path(directory / "_delta_log")


def _arrow_schema(columns: Sequence[Column]) -> pa.Schema:
    return pa.schema([pa.field(column.name, column.type.arrow) for column in columns])


def _field(column: Column) -> Field:
    return Schema.from_arrow(_arrow_schema([column])).fields[0]


def _files_of(table: DeltaTable) -> tuple[DataFile, ...]:
    actions = pa.table(table.get_add_actions(flatten=True)).select(["path", "num_records", "size_bytes"])
    return tuple(DataFile(row["path"], row["num_records"], row["size_bytes"]) for row in actions.to_pylist())


def _add(file: DataFile, now_ms: int) -> AddAction:
    return AddAction(file.path, file.bytes, {}, now_ms, True, json.dumps({"numRecords": file.rows}))

"""Tables as Delta Lake tables: staging, versions, undoing, orphans."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from millpond.errors import InternalError
from millpond.relation import Column, Relation
from millpond.tables import TableStore
from millpond.types import INTEGER, TEXT, TIMESTAMP

COLUMNS = (Column("a", INTEGER), Column("b", TEXT))


@pytest.fixture
def store(tmp_path: Path) -> TableStore:
    return TableStore(tmp_path / "tables")


@pytest.fixture
def table(store: TableStore) -> Relation:
    return Relation(7, "t", "table", COLUMNS, version=store.create(7, COLUMNS))


def rows(*numbers: int) -> pa.Table:
    return pa.table({"a": pa.array(numbers, pa.int32()), "b": pa.array([str(n) for n in numbers])})


def visible(store: TableStore, relation: Relation) -> list[int]:
    paths = store.paths(relation.oid, store.files(relation))
    return sorted(int(str(value)) for path in paths for value in pq.read_table(path)["a"].to_pylist())


def test_staged_files_change_nothing_until_committed(store: TableStore, table: Relation) -> None:
    first = store.stage(7, rows(1, 2))
    assert store.files(table) == ()
    after = replace(table, version=store.commit(table, [first], []))
    assert store.files(after) == (first,)
    assert store.files(table) == ()
    assert (first.rows, visible(store, after)) == (2, [1, 2])


def test_versions_stay_readable(store: TableStore, table: Relation) -> None:
    first, second = store.stage(7, rows(1)), store.stage(7, rows(2))
    one = replace(table, version=store.commit(table, [first], []))
    two = replace(one, version=store.commit(one, [second], [first]))
    assert (visible(store, one), visible(store, two)) == ([1], [2])


def test_a_commit_on_an_old_version_is_our_fault(store: TableStore, table: Relation) -> None:
    store.commit(table, [store.stage(7, rows(1))], [])
    with pytest.raises(InternalError, match="is at version 1, not 0"):
        store.commit(table, [store.stage(7, rows(2))], [])


def test_restore_undoes_versions_and_columns(store: TableStore, table: Relation) -> None:
    one = replace(table, version=store.commit(table, [store.stage(7, rows(1))], []))
    store.commit(one, [store.stage(7, rows(2))], store.files(one), [Column("c", TIMESTAMP)])
    restored = replace(one, version=store.restore(one))
    assert visible(store, restored) == [1]
    assert [field.name for field in DeltaTable(store.directory_of(7)).schema().fields] == ["a", "b"]
    assert store.restore(restored) == restored.version


def test_new_columns(store: TableStore, table: Relation) -> None:
    version = store.commit(table, [], [], [Column("c", TIMESTAMP)])
    assert version == 1
    assert DeltaTable(store.directory_of(7)).schema().fields[2].name == "c"


def test_a_dropped_table_stays_while_it_is_read(store: TableStore, table: Relation) -> None:
    release = store.pins.pin(7)
    store.drop(7)
    assert store.directory_of(7).exists()
    release()
    assert not store.directory_of(7).exists()


def test_orphans_are_removed(store: TableStore, table: Relation) -> None:
    store.create(8, COLUMNS)
    store.remove_orphans([7])
    assert store.directory_of(7).exists()
    assert not store.directory_of(8).exists()


def test_empty_files_of_spark_are_left_out(store: TableStore, table: Relation) -> None:
    directory = store.staging_directory(7)
    directory.mkdir()
    pq.write_table(rows(1), directory / "part-0.parquet")
    pq.write_table(rows(), directory / "part-1.parquet")
    staged = store.staged_in(7, directory)
    assert [file.rows for file in staged] == [1]
    assert visible(store, replace(table, version=store.commit(table, staged, []))) == [1]

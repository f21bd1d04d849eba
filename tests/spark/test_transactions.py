"""Transactions of several sessions at once: snapshot isolation, conflicts, and commits that a crash cuts short."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

import millpond
from millpond import MillpondError, Pond
from millpond.catalog import Catalog
from millpond.relation import Relation
from millpond.session import Session


@pytest.fixture
def sessions(pond: Pond) -> tuple[Session, Session]:
    pond.execute("CREATE TABLE a (x int); CREATE TABLE b (x int); INSERT INTO a VALUES (1); INSERT INTO b VALUES (1)")
    return pond.new_session(), pond.new_session()


def values(session: Session, table: str) -> list[int]:
    return [row[0] for row in session.execute(f"SELECT x FROM {table} ORDER BY x").fetchall()]


def test_a_transaction_reads_one_snapshot_across_tables(sessions: tuple[Session, Session]) -> None:
    reader, writer = sessions
    reader.execute("BEGIN")
    assert values(reader, "a") == [1]
    writer.execute("BEGIN; INSERT INTO a VALUES (2); INSERT INTO b VALUES (2); COMMIT")
    assert (values(reader, "a"), values(reader, "b")) == ([1], [1])
    reader.execute("COMMIT")
    assert (values(reader, "a"), values(reader, "b")) == ([1, 2], [1, 2])


def test_writes_become_visible_together(sessions: tuple[Session, Session]) -> None:
    writer, reader = sessions
    writer.execute("BEGIN; INSERT INTO a VALUES (2); UPDATE b SET x = 5")
    assert (values(reader, "a"), values(reader, "b")) == ([1], [1])
    writer.execute("COMMIT")
    assert (values(reader, "a"), values(reader, "b")) == ([1, 2], [5])


def test_the_second_of_two_conflicting_writers_gets_40001(sessions: tuple[Session, Session]) -> None:
    first, second = sessions
    first.execute("BEGIN; UPDATE a SET x = 10")
    second.execute("BEGIN; UPDATE a SET x = 20; INSERT INTO b VALUES (9)")
    first.execute("COMMIT")
    with pytest.raises(MillpondError) as caught:
        second.execute("COMMIT")
    assert caught.value.sqlstate == "40001"
    assert (values(first, "a"), values(first, "b")) == ([10], [1])
    assert second.transaction is None


def test_writers_that_only_add_rows_do_not_conflict(sessions: tuple[Session, Session]) -> None:
    first, second = sessions
    first.execute("BEGIN; INSERT INTO a VALUES (2)")
    second.execute("BEGIN; INSERT INTO a VALUES (3)")
    first.execute("COMMIT")
    second.execute("COMMIT")
    assert values(first, "a") == [1, 2, 3]


def test_a_key_is_not_doubled_by_concurrent_writers(pond: Pond) -> None:
    pond.execute("CREATE TABLE k (x int PRIMARY KEY)")

    def insert(number: int) -> str:
        session = pond.new_session()
        try:
            session.execute(f"INSERT INTO k VALUES ({number % 2})")
        except MillpondError as error:
            return str(error.sqlstate)
        return "ok"

    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(insert, range(4)))
    assert sorted(outcomes) == ["23505", "23505", "ok", "ok"]
    assert values(pond.session, "k") == [0, 1]


def test_concurrent_updates_outside_transactions_all_count(pond: Pond) -> None:
    pond.execute("CREATE TABLE n (x int); INSERT INTO n VALUES (0)")

    def increment(_: int) -> None:
        pond.new_session().execute("UPDATE n SET x = x + 1")

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(increment, range(6)))
    assert values(pond.session, "n") == [6]


def test_dropping_a_table_does_not_pull_it_from_under_a_reader(sessions: tuple[Session, Session], pond: Pond) -> None:
    reader, writer = sessions
    lazy = pond.sql("SELECT x FROM a")
    reader.execute("BEGIN")
    assert values(reader, "a") == [1]
    writer.execute("DROP TABLE a")
    assert values(reader, "a") == [1]
    assert lazy.fetchall() == [(1,)]
    assert lazy.spark().count() == 1
    reader.execute("COMMIT")
    with pytest.raises(MillpondError, match='relation "a" does not exist'):
        values(reader, "a")


def test_a_commit_that_fails_in_the_catalog_leaves_nothing(
    sessions: tuple[Session, Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    session, other = sessions
    session.execute("BEGIN; INSERT INTO a VALUES (2); DELETE FROM b")
    real, calls = Catalog.commit, iter([True])

    def fail_once(catalog: Catalog, changes: Mapping[str, Relation | None], *rest: Any) -> object:
        if next(calls, False):
            raise OSError("disk full")
        return real(catalog, changes, *rest)

    monkeypatch.setattr(Catalog, "commit", fail_once)
    with pytest.raises(OSError, match="disk full"):
        session.execute("COMMIT")
    assert (values(other, "a"), values(other, "b")) == ([1], [1])
    other.execute("INSERT INTO a VALUES (3)")
    assert values(session, "a") == [1, 3]


def test_a_crash_between_the_delta_log_and_the_catalog_is_undone(
    shared_spark: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with millpond.connect(tmp_path / "p", master="local[2]") as pond:
        pond.execute("CREATE TABLE a (x int); INSERT INTO a VALUES (1)")
        oid = pond.session.execute("SELECT 1") and pond.services.catalog.snapshot.relations["a"].oid
        monkeypatch.setattr(Catalog, "commit", lambda *_: (_ for _ in ()).throw(SystemExit))
        monkeypatch.setattr("millpond.tables.TableStore.restore", lambda *_: None)
        with pytest.raises(SystemExit):
            pond.execute("UPDATE a SET x = 2")
        monkeypatch.undo()
    with millpond.connect(tmp_path / "p", master="local[2]") as pond:
        assert values(pond.session, "a") == [1]
        pond.execute("INSERT INTO a VALUES (5)")
        assert values(pond.session, "a") == [1, 5]
        log = DeltaTable(tmp_path / "p" / "tables" / str(oid))
        assert set(log.to_pyarrow_table()["x"].to_pylist()) == {1, 5}


def test_any_delta_reader_opens_a_table(pond: Pond, tmp_path: Path) -> None:
    pond.execute("CREATE TABLE t (a int, b numeric(10,2), c timestamptz); INSERT INTO t VALUES (1, 2.5, '2024-01-01')")
    pond.execute("UPDATE t SET a = 2")
    oid = pond.services.catalog.snapshot.relations["t"].oid
    rows = DeltaTable(tmp_path / "pond" / "tables" / str(oid)).to_pyarrow_table()
    assert rows.column_names == ["a", "b", "c"]
    assert rows["a"].to_pylist() == [2]


def test_many_small_inserts_leave_few_files(pond: Pond) -> None:
    pond.execute("CREATE TABLE t (a int)")
    for number in range(80):
        pond.execute(f"INSERT INTO t VALUES ({number})")
    assert pond.execute("SELECT count(*), sum(a) FROM t").fetchall() == [(80, sum(range(80)))]
    files = pond.execute("SELECT files FROM millpond_tables WHERE name = 't'").fetchall()[0][0]
    assert files <= 32


def test_threads_have_sessions_of_their_own(pond: Pond) -> None:
    pond.execute("CREATE TABLE t (a int)")
    pond.execute("BEGIN; INSERT INTO t VALUES (1)")
    seen: list[object] = []
    thread = threading.Thread(target=lambda: seen.extend(pond.execute("SELECT count(*) FROM t").fetchall()))
    thread.start()
    thread.join()
    assert seen == [(0,)]
    pond.execute("COMMIT")
    assert pond.execute("SELECT count(*) FROM t").fetchall() == [(1,)]

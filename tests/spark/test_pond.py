"""The Python interface: connect, execute, sql, insert, results, and a pond's life."""

from __future__ import annotations

import datetime
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import millpond
from millpond import MillpondError, Pond


def test_results_in_every_shape(pond: Pond) -> None:
    result = pond.execute("SELECT 1 AS a, 'x' AS b UNION ALL SELECT 2, NULL ORDER BY a")
    assert result.fetchall() == [(1, "x"), (2, None)]
    assert result.arrow() == pa.table({"a": pa.array([1, 2], pa.int32()), "b": ["x", None]})
    assert result.pandas()["a"].tolist() == [1, 2]
    assert sorted(tuple(row) for row in result.spark().collect()) == [(1, "x"), (2, None)]
    assert result.spark().columns == ["a", "b"]
    assert (result.tag, result.rowcount) == ("SELECT 2", 2)
    assert [str(column.type) for column in result.columns] == ["integer", "text"]
    assert repr(result).splitlines() == ["a | b", "--+--", "1 | x", "2 |", "(2 rows)"]
    assert list(result) == result.fetchall()


def test_names_as_postgresql_gives_them_even_twice(pond: Pond) -> None:
    result = pond.execute('SELECT 1, count(*), 2 AS x, 3 AS x, 4 AS "X y"')
    assert [column.name for column in result.columns] == ["?column?", "count", "x", "x", "X y"]
    assert result.fetchall() == [(1, 1, 2, 3, 4)]
    assert result.arrow().column_names == ["?column?", "count", "x", "x", "X y"]


@pytest.mark.parametrize("style", ["$", "%"])
def test_parameters(pond: Pond, style: str) -> None:
    moment = datetime.datetime(2024, 2, 29, 12, 30, 0, 5, tzinfo=datetime.UTC)
    values = [1, "it's; -- 100%", Decimal("1.50"), None, True, b"\x00\xff", moment, datetime.date(2024, 1, 1), 2.5, -7]
    names = [f"${number}" if style == "$" else "%s" for number in range(1, len(values) + 1)]
    casts = ["int", "text", "numeric(5,2)", "int", "boolean", "bytea", "timestamptz", "date", "float8", "int"]
    query = "SELECT " + ", ".join(f"{name}::{cast}" for name, cast in zip(names, casts, strict=True))
    assert pond.execute(query, values).fetchall() == [tuple(values)]


def test_named_parameters_and_mistakes(pond: Pond) -> None:
    query = "SELECT %(a)s::int + %(b)s::int, '%%', 10 %% 4"
    assert pond.execute(query, {"a": 1, "b": 2}).fetchall() == [(3, "%%", 2)]
    with pytest.raises(MillpondError, match="there is no parameter"):
        pond.execute("SELECT $2::int", [1])
    with pytest.raises(MillpondError, match="2 placeholders but 3 parameters"):
        pond.execute("SELECT %s::int, %s::int", [1, 2, 3])


def test_a_parameter_is_never_text_of_the_statement(pond: Pond) -> None:
    pond.execute("CREATE TABLE t (a text)")
    evil = "x'); DROP TABLE t; --"
    pond.execute("INSERT INTO t VALUES (%s)", [evil])
    assert pond.execute("SELECT a FROM t").fetchall() == [(evil,)]


ROWS = [(1, "Wheel", Decimal("1.50")), (2, None, None)]


@pytest.mark.parametrize(
    "rows",
    [
        ROWS,
        [{"a": 1, "b": "Wheel", "c": Decimal("1.5")}, {"a": 2}],
        pa.table({"a": [1, 2], "b": ["Wheel", None], "c": pa.array([Decimal("1.5"), None])}),
        pa.RecordBatch.from_pydict({"c": pa.array([1.5, None]), "a": [1, 2], "b": ["Wheel", None]}),
        pd.DataFrame({"a": [1, 2], "b": ["Wheel", None], "c": [Decimal("1.50"), None]}),
    ],
    ids=["tuples", "dicts", "arrow", "batch", "pandas"],
)
@pytest.mark.parametrize("kind", ["TABLE", "STREAM"])
def test_insert_takes_what_python_has(pond: Pond, rows: object, kind: str) -> None:
    pond.execute(f"CREATE {kind} t (a int, b text, c numeric(6,2))")
    assert pond.insert("t", rows) == 2
    assert pond.execute("SELECT * FROM t ORDER BY a").fetchall() == ROWS


def test_insert_refuses_and_changes_nothing(pond: Pond) -> None:
    pond.execute("CREATE STREAM s (a smallint NOT NULL)")
    for rows, sqlstate in [
        ([(1,), (None,)], "23502"),
        ([(1,), (40_000,)], "22003"),
        ([{"a": 1, "z": 2}], "42703"),
        ([("x",)], "22P02"),
    ]:
        with pytest.raises(MillpondError) as caught:
            pond.insert("s", rows)
        assert caught.value.sqlstate == sqlstate
    with pytest.raises(MillpondError, match='relation "nowhere" does not exist'):
        pond.insert("nowhere", [(1,)])
    assert pond.execute("SELECT count(*) FROM s").fetchall() == [(0,)]


def test_a_lazy_result_is_pinned_to_what_it_saw(pond: Pond) -> None:
    pond.execute("CREATE TABLE t (a int); CREATE STREAM s (a int)")
    pond.execute("INSERT INTO t VALUES (1); INSERT INTO s VALUES (1)")
    lazy = pond.sql("SELECT t.a, (SELECT count(*) FROM s) FROM t")
    pond.execute("UPDATE t SET a = 2; INSERT INTO s VALUES (2)")
    assert lazy.spark().collect()[0][:] == (1, 1)
    assert lazy.fetchall() == [(1, 1)]


def test_many_threads_insert_and_read(pond: Pond) -> None:
    pond.execute("CREATE STREAM s (writer int, n int)")

    def write(writer: int) -> None:
        for n in range(25):
            pond.insert("s", [(writer, n)])

    with ThreadPoolExecutor(6) as pool:
        writes = [pool.submit(write, writer) for writer in range(5)]
        read = pool.submit(lambda: pond.execute("SELECT count(*), count(DISTINCT tid) FROM s").fetchall()[0])
        counts = read.result()
        for done in writes:
            done.result()
    assert counts[0] == counts[1]
    rows = pond.execute("SELECT count(*), max(tid), count(DISTINCT writer * 100 + n) FROM s").fetchall()
    assert rows == [(125, 124, 125)]


def test_a_pond_opens_once(pond: Pond) -> None:
    with pytest.raises(MillpondError, match="is already open") as caught:
        millpond.connect(pond.path)
    assert caught.value.sqlstate == "55006"
    code = f"import millpond\ntry: millpond.connect({str(pond.path)!r})\nexcept millpond.MillpondError as e: print(e)"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "is already open" in other.stdout


def test_closing(shared_spark: None, tmp_path: Path) -> None:
    pond = millpond.connect(tmp_path / "p", master="local[2]")
    pond.execute("CREATE TABLE t (a int)")
    pond.execute("BEGIN; INSERT INTO t VALUES (1)")
    pond.close()
    pond.close()
    with pytest.raises(MillpondError, match="the pond is closed"):
        pond.execute("SELECT 1")
    with millpond.connect(tmp_path / "p", master="local[2]") as again:
        assert again.execute("SELECT count(*) FROM t").fetchall() == [(0,)]


def test_a_temporary_pond_leaves_nothing(shared_spark: None) -> None:
    with millpond.connect(master="local[2]") as pond:
        path, scratch = pond.path, pond.scratch
        pond.execute("CREATE STREAM s (a int) WITH (durability = memory); INSERT INTO s VALUES (1)")
        assert path.exists()
    assert not path.exists()
    assert not scratch.exists()


def test_settings_by_argument_environment_and_set(
    shared_spark: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MILLPOND_STREAM_CAPACITY", "77")
    monkeypatch.setenv("MILLPOND_STATEMENT_TIMEOUT", "5s")
    with millpond.connect(tmp_path / "p", master="local[2]", stream_capacity=99) as pond:
        pond.execute("CREATE STREAM s (a int)")
        assert pond.execute("SELECT capacity FROM millpond_streams").fetchall() == [(99,)]
        assert pond.execute("SHOW statement_timeout").fetchall() == [("5s",)]
        pond.execute("SET statement_timeout = 0")
        assert pond.execute("SHOW statement_timeout").fetchall() == [("0",)]
    with pytest.raises(MillpondError, match='unrecognized configuration parameter "stream_capcity"'):
        millpond.connect(tmp_path / "p", stream_capcity=1)


SLOW = "SELECT count(*) FROM generate_series(1, 3000000) a, generate_series(1, 3000000) b WHERE a % 7 = b % 5"


def test_a_statement_is_interrupted(pond: Pond) -> None:
    threading.Timer(2, pond.interrupt).start()
    with pytest.raises(MillpondError, match="canceling statement due to user request") as caught:
        pond.execute(SLOW)
    assert caught.value.sqlstate == "57014"
    assert pond.execute("SELECT 1").fetchall() == [(1,)]


def test_a_statement_times_out(pond: Pond) -> None:
    pond.execute("SET statement_timeout = '1500ms'")
    with pytest.raises(MillpondError, match="canceling statement due to statement timeout"):
        pond.execute(SLOW)


def test_errors_have_a_position_in_the_whole_text(pond: Pond) -> None:
    text = "SELECT 1; SELECT nonsense FROM millpond_tables"
    with pytest.raises(MillpondError) as caught:
        pond.execute(text)
    assert caught.value.position == text.index("nonsense") + 1
    assert caught.value.sqlstate == "42703"


def test_explain(pond: Pond) -> None:
    pond.execute("CREATE TABLE t (a int); CREATE STREAM s (a int); INSERT INTO t VALUES (1), (2)")
    pond.insert("s", [(1,)])
    lines = [row[0] for row in pond.execute("EXPLAIN SELECT count(*) FROM t JOIN s USING (a)").fetchall()]
    assert lines[0] == "Table t, version 1: 1 files, 2 rows"
    assert lines[1].startswith("Stream s, snapshot")
    assert any("Join" in line for line in lines)
    analyzed = pond.execute("EXPLAIN (ANALYZE) SELECT * FROM t").fetchall()
    assert analyzed[-1][0].endswith("2 rows")

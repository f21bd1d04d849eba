"""Continuous queries at work: what they insert, in which order and how often, into tables and streams."""

from __future__ import annotations

import pytest

from millpond import MillpondError, Pond
from tests.queries.support import caught_up, query_of, shown, wait_until
from tests.views.support import OpenPond, error_of, in_background, last_job, numbers, rows

pytestmark = pytest.mark.timeout(300)


def streams(pond: Pond) -> None:
    pond.execute("CREATE STREAM s (k int, v int)")
    pond.execute("CREATE TABLE t (k int, v bigint NOT NULL, name text DEFAULT 'nobody')")
    pond.execute("CREATE TABLE names (k int, name text)")
    pond.execute("INSERT INTO names SELECT n, 'name ' || n FROM generate_series(0, 4) AS n")


def test_rows_go_into_a_table(pond: Pond) -> None:
    streams(pond)
    pond.insert("s", numbers(0, 10))
    pond.execute(
        "CREATE CONTINUOUS QUERY q AS INSERT INTO t"
        " SELECT s.k, v * 2, n.name FROM s LEFT JOIN names AS n ON n.k = s.k WHERE v % 2 = 1"
    )
    pond.insert("s", numbers(10, 20))
    caught_up(pond, "q")
    named = {1: "name 1", 3: "name 3"}
    assert rows(pond, "SELECT * FROM t") == sorted(
        [(v % 10, v * 2, named.get(v % 10)) for v in range(11, 20, 2)], key=lambda row: row[0]
    ), "what came before the query is not its business"
    columns = ("state", "source", "target", "next_tid", "lag", "rows_in", "rows_out", "error")
    assert shown(pond, "q", *columns) == ("running", "s", "t", 20, 0, 10, 5, None)


def test_missing_columns_have_their_default_and_types_are_coerced(pond: Pond) -> None:
    streams(pond)
    pond.execute("CREATE CONTINUOUS QUERY q WITH (start = earliest) AS INSERT INTO t (v, k) SELECT v + 0.4, '7' FROM s")
    pond.insert("s", numbers(0, 2))
    caught_up(pond, "q")
    assert rows(pond, "SELECT * FROM t") == [(7, 0, "nobody"), (7, 1, "nobody")]
    pond.execute("ALTER TABLE t ADD COLUMN later int DEFAULT 5")
    pond.insert("s", numbers(2, 3))
    caught_up(pond, "q")
    assert rows(pond, "SELECT v, later FROM t") == [(0, 5), (1, 5), (2, 5)]


def test_the_newest_table_is_joined(pond: Pond) -> None:
    streams(pond)
    pond.execute("CREATE CONTINUOUS QUERY q AS INSERT INTO t SELECT s.k, v, n.name FROM s JOIN names AS n ON n.k = s.k")
    pond.insert("s", numbers(1, 2))
    caught_up(pond, "q")
    pond.execute("UPDATE names SET name = 'another'")
    pond.insert("s", numbers(11, 12))
    caught_up(pond, "q")
    assert rows(pond, "SELECT * FROM t") == [(1, 1, "name 1"), (1, 11, "another")]


def test_a_chain_of_streams_keeps_the_order(pond: Pond) -> None:
    """Also where Spark reads several files, and the join could turn the sides."""
    streams(pond)
    pond.execute("CREATE STREAM a (v int, name text)")
    pond.execute("CREATE STREAM b (v int, name text)")
    pond.execute("CREATE CONTINUOUS QUERY one WITH (start = 'earliest') AS INSERT INTO a"
                 " SELECT v, n.name FROM names AS n JOIN s ON n.k = s.k")  # fmt: skip
    pond.execute(
        "CREATE CONTINUOUS QUERY two AS INSERT INTO b SELECT v, upper(name) FROM a UNION ALL SELECT -v, name FROM a"
    )
    for first, end in ((0, 70_000), (70_000, 70_020), (70_020, 72_000)):
        pond.insert("s", numbers(first, end))
    caught_up(pond, "one", "two")
    kept = [v for v in range(72_000) if v % 10 < 5]
    found = pond.execute("SELECT v, name FROM a ORDER BY tid").fetchall()
    assert found == [(v, f"name {v % 10}") for v in kept]
    twice = pond.execute("SELECT abs(v) FROM b ORDER BY tid").fetchall()
    assert twice == [(v,) for v in kept for _ in range(2)]
    assert shown(pond, "two", "rows_in", "rows_out") == (len(kept), 2 * len(kept))


def test_several_streams_flow_into_one(pond: Pond) -> None:
    pond.execute("CREATE STREAM a (v int)")
    pond.execute("CREATE STREAM b (w int)")
    pond.execute("CREATE TABLE t (v int)")
    pond.execute("CREATE CONTINUOUS QUERY q AS INSERT INTO t SELECT v FROM a UNION ALL SELECT w FROM b WHERE w > 0")
    pond.insert("a", [(1,), (2,)])
    caught_up(pond, "q")
    pond.insert("b", [(0,), (3,)])
    pond.insert("a", [(4,)])
    caught_up(pond, "q")
    assert rows(pond, "SELECT * FROM t") == [(1,), (2,), (3,), (4,)]
    assert shown(pond, "q", "source", "next_tid", "rows_in") == ("a, b", None, 5)


def test_a_chunk_is_one_job(pond: Pond) -> None:
    streams(pond)
    pond.execute("CREATE STREAM o (v int)")
    pond.execute("CREATE TABLE other (v text)")
    both = "(INSERT INTO t (k, v) SELECT k, v FROM s WHERE k < 5; INSERT INTO other SELECT 'v' || v FROM s)"
    for name, insert in (
        ("q", "INSERT INTO t (k, v) SELECT k, v FROM s"),
        ("r", "INSERT INTO o SELECT v FROM s"),
        ("both", both),
    ):
        pond.execute(f"CREATE CONTINUOUS QUERY {name} AS {insert}")
        pond.insert("s", numbers(0, 5))
        caught_up(pond, name)
        before, chunks = last_job(pond), query_of(pond, name).record.chunks
        pond.insert("s", numbers(5, 50))
        caught_up(pond, name)
        assert (last_job(pond) - before, query_of(pond, name).record.chunks - chunks) == (1, 1)
        pond.execute(f"ALTER CONTINUOUS QUERY {name} PAUSE")
    assert rows(pond, "SELECT count(*), count(DISTINCT v) FROM other") == [(50, 50)]
    assert shown(pond, "both", "target", "rows_in", "rows_out") == ("t, other", 50, 75)


def test_many_tuples_are_taken_in_chunks(open_pond: OpenPond) -> None:
    pond = open_pond(query_chunk_rows=300)
    streams(pond)
    pond.insert("s", numbers(0, 1000))
    pond.execute("CREATE CONTINUOUS QUERY q WITH (start = earliest) AS INSERT INTO t (v) SELECT v FROM s")
    caught_up(pond, "q")
    assert shown(pond, "q", "chunks", "rows_in") == (4, 1000)
    assert rows(pond, "SELECT count(*), sum(v) FROM t") == [(1000, 499_500)]


def test_now_is_the_time_of_the_chunk(pond: Pond) -> None:
    pond.execute("CREATE STREAM s (v int)")
    pond.execute("CREATE TABLE t (v int, made timestamptz, by text)")
    pond.execute("CREATE CONTINUOUS QUERY q AS INSERT INTO t SELECT v, now(), current_user FROM s")
    before = pond.execute("SELECT now()").fetchall()[0][0]
    pond.insert("s", [(1,)])
    caught_up(pond, "q")
    (v, made, by) = pond.execute("SELECT * FROM t").fetchall()[0]
    assert (v, by) == (1, "millpond")
    assert made >= before


# -- others at the same time -----------------------------------------------------------------------------------


def test_a_query_wins_its_conflicts_in_the_end(pond: Pond) -> None:
    """Users replace the files of the target, which also has a key, while the query adds to it."""
    pond.execute("CREATE STREAM s (k int, v int)")
    pond.execute("CREATE TABLE t (v int PRIMARY KEY, changes int DEFAULT 0)")
    pond.execute("CREATE CONTINUOUS QUERY q AS INSERT INTO t (v) SELECT v FROM s")

    def write() -> None:
        for first in range(0, 100, 5):
            pond.insert("s", numbers(first, first + 5))

    def change() -> None:
        for _ in range(5):
            pond.execute("UPDATE t SET changes = changes + 1")

    with in_background(write, change):
        pass
    caught_up(pond, "q")
    assert rows(pond, "SELECT v FROM t") == [(v,) for v in range(100)]


def test_many_small_chunks_do_not_leave_many_files(open_pond: OpenPond) -> None:
    pond = open_pond(table_files_max=4)
    streams(pond)
    pond.execute("CREATE CONTINUOUS QUERY q AS INSERT INTO t (v) SELECT v FROM s")
    for v in range(12):
        pond.insert("s", numbers(v, v + 1))
        caught_up(pond, "q")
    assert rows(pond, "SELECT v FROM t") == [(v,) for v in range(12)]
    assert rows(pond, "SELECT files <= 4 FROM millpond_tables WHERE name = 't'") == [(True,)]


def test_writers_wait_for_a_query_when_the_ring_is_full(pond: Pond) -> None:
    pond.execute("CREATE FOREIGN TABLE s (k int, v int) SERVER stream OPTIONS (capacity '200')")
    pond.execute("CREATE FOREIGN TABLE o (v int) SERVER stream OPTIONS (capacity '100')")
    pond.execute("CREATE TABLE t (v int)")
    pond.execute("CREATE CONTINUOUS QUERY into_o AS INSERT INTO o SELECT v FROM s")
    pond.execute("CREATE CONTINUOUS QUERY into_t AS INSERT INTO t SELECT v FROM o")
    for first in range(0, 1000, 50):
        pond.insert("s", numbers(first, first + 50))
    caught_up(pond, "into_o", "into_t")
    assert rows(pond, "SELECT v FROM t") == [(v,) for v in range(1000)]
    pond.execute("ALTER CONTINUOUS QUERY into_o PAUSE")
    pond.execute("SET statement_timeout = '300ms'")
    end = 1000
    while (error := error_of_insert(pond, end, end + 50)) is None:
        end += 50
        assert end < 1300, "the paused query was overrun"
    assert error == "57014"
    pond.execute("RESET statement_timeout")
    pond.execute("ALTER CONTINUOUS QUERY into_o RESUME")
    caught_up(pond, "into_o", "into_t")
    assert rows(pond, "SELECT v FROM t") == [(v,) for v in range(end)]


def test_a_query_that_rests_does_not_make_views_hurry(open_pond: OpenPond) -> None:
    """A view ticks for what its own state has not taken."""
    pond = open_pond(view_chunk_rows=10)
    streams(pond)
    pond.execute("CREATE VIEW total AS SELECT count(*) AS n FROM s")
    pond.execute("CREATE CONTINUOUS QUERY q AS INSERT INTO t (v) SELECT v FROM s")
    pond.execute("ALTER CONTINUOUS QUERY q PAUSE")
    pond.insert("s", numbers(0, 50))
    (view,) = pond.services.views.all()
    wait_until(lambda: view.lag == 0, "the view does not tick")
    ticks = rows(pond, "SELECT ticks FROM millpond_views")
    pond.insert("s", numbers(50, 51))
    assert rows(pond, "SELECT n FROM total") == [(51,)]
    assert rows(pond, "SELECT ticks FROM millpond_views") == ticks


def error_of_insert(pond: Pond, first: int, end: int) -> str | None:
    try:
        pond.execute(f"INSERT INTO s SELECT v % 10, v FROM generate_series({first}, {end - 1}) AS v")
    except MillpondError as error:
        return error.sqlstate
    return None


def test_a_slow_query_holds_up_nobody_and_can_be_dropped_meanwhile(pond: Pond) -> None:
    streams(pond)
    pond.execute("CREATE CONTINUOUS QUERY quick AS INSERT INTO t (v) SELECT v FROM s")
    pond.execute(
        "CREATE CONTINUOUS QUERY slow AS INSERT INTO t (v) SELECT a.n FROM s, generate_series(1, 100000) AS a (n),"
        " generate_series(1, 100000) AS b (n) WHERE a.n + b.n = v"
    )
    pond.insert("s", numbers(0, 10))
    caught_up(pond, "quick")
    assert query_of(pond, "slow").lag == 10
    pond.execute("DROP CONTINUOUS QUERY slow")
    assert error_of(pond, "ALTER CONTINUOUS QUERY slow PAUSE") == ("42704", 'continuous query "slow" does not exist')
    assert rows(pond, "SELECT v FROM t") == [(v,) for v in range(10)], "what it was at is gone"

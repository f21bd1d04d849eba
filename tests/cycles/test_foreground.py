"""Cycles of a statement: the client waits, each commits as it is complete, and what has committed stays."""

from __future__ import annotations

import threading

import pytest

from millpond import MillpondError, Pond
from tests.views.support import in_background, rows

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def stream(pond: Pond) -> Pond:
    pond.execute("CREATE STREAM s (k int, v int, over boolean)")
    pond.execute("CREATE TABLE t (k int, n bigint); CREATE TABLE u (n bigint PRIMARY KEY)")
    pond.insert("s", [(v % 2, v, v == 25) for v in range(30)])
    return pond


def test_a_statement_ends_after_its_cycles_or_with_the_stream(stream: Pond) -> None:
    grouped = "INSERT INTO t SELECT k, count(*) FROM CYCLE(s, 10{end}) GROUP BY k"
    assert stream.execute(grouped.format(end=", cycles => 2")).tag == "INSERT 0 4"
    assert rows(stream, "SELECT k, n FROM t") == [(0, 5), (0, 5), (1, 5), (1, 5)]
    returned = stream.execute(grouped.format(end=", until => over") + " RETURNING n AS number, k")
    assert (returned.tag, [column.name for column in returned.columns]) == ("INSERT 0 6", ["number", "k"])
    assert sorted(returned) == [(2, 1), (3, 0), (5, 0), (5, 0), (5, 1), (5, 1)], "the row that ends it is of no cycle"
    done = threading.Event()

    def fill() -> None:
        while not done.is_set():
            stream.insert("s", [(7, 0, False)])

    with in_background(fill):
        stream.execute("SET stream_start = 'latest'")
        stream.execute("INSERT INTO u SELECT count(*) FROM CYCLE(s, 5, cycles => 1) WHERE k < 7")
        done.set()
    assert rows(stream, "SELECT n FROM u") == [(0,)], "what the stream held before is not read"


def test_rows_come_as_cycles_commit_and_stay_when_one_fails(stream: Pond) -> None:
    """A cycle that fails ends the statement; those before it are there, and were seen before it ended."""
    remembering = (
        "INSERT INTO t SELECT v, lag_cycle(v, 12) OVER (ORDER BY v) FROM CYCLE(s, 10, cycles => 3) RETURNING *"
    )
    assert sorted(stream.execute(remembering), key=repr) == sorted(
        [(v, v - 12 if v >= 12 else None) for v in range(30)], key=repr
    )
    result = stream.sql("INSERT INTO u SELECT v FROM CYCLE(s, 10) RETURNING *")
    found = iter(result)
    assert sorted(next(found) for _ in range(30)) == [(v,) for v in range(30)]
    assert rows(stream, "SELECT count(*) FROM u") == [(30,)]
    stream.insert("s", [(0, v, False) for v in range(100, 109)])
    stream.insert("s", [(0, 5, False)])
    with pytest.raises(MillpondError, match="duplicate key") as caught:
        next(found)
    assert caught.value.sqlstate == "23505"
    assert rows(stream, "SELECT count(*) FROM u") == [(30,)]
    of_stream = stream.services.streams.get(stream.services.catalog.snapshot.relations["s"])
    assert of_stream.followers.floor is None, "what has ended holds no writer up"


def test_what_a_canceled_statement_has_committed_stays(stream: Pond) -> None:
    """A conflict with another writer of the table is won in the end, and each row is there once."""

    def disturb() -> None:
        while stream.execute("SELECT count(*) FROM t WHERE k < 9").fetchall() != [(30,)]:
            stream.execute("INSERT INTO t VALUES (9, 0)")
        stream.interrupt()

    with in_background(disturb), pytest.raises(MillpondError) as caught:
        stream.execute("INSERT INTO t SELECT k, v FROM CYCLE(s, 5)")
    assert caught.value.sqlstate == "57014"
    assert rows(stream, "SELECT n FROM t WHERE k < 9") == [(v,) for v in range(30)]


@pytest.mark.parametrize(
    ("statement", "sqlstate"),
    [
        ("BEGIN; INSERT INTO t SELECT k, v FROM CYCLE(s, 10, cycles => 1); COMMIT", "25001"),
        ("INSERT INTO s SELECT k, v, over FROM CYCLE(s, 10)", "42P17"),
        ("INSERT INTO t SELECT k, v FROM CYCLE(s, 10) RETURNING n + 1", "0A000"),
        ("INSERT INTO t SELECT k, v FROM CYCLE(s, 10, until => v)", "42804"),
        ("INSERT INTO t SELECT k, v FROM CYCLE(s, 10, until => nothing)", "42703"),
        ("INSERT INTO t SELECT k, v FROM CYCLE(s, 10, until => over, until => over)", "42883"),
    ],
)
def test_what_is_refused(stream: Pond, statement: str, sqlstate: str) -> None:
    with pytest.raises(MillpondError) as caught:
        stream.execute(statement)
    assert caught.value.sqlstate == sqlstate
    stream.execute("ROLLBACK")
    assert rows(stream, "SELECT * FROM t") == []


def test_a_query_in_the_background_ends_with_its_stream(stream: Pond) -> None:
    """The last cycle has the bounds that it was to have, and those rows that there are."""
    stream.execute(
        "CREATE CONTINUOUS QUERY q WITH (start = 'earliest') AS (INSERT INTO u SELECT sum(v)"
        " FROM CYCLE(s, 10, until => over); INSERT INTO t SELECT window_end, count(*) FROM CYCLE(s, 10, until => over))"
    )
    while rows(stream, "SELECT state FROM millpond_queries") != [("ended",)]:
        pass
    assert rows(stream, "SELECT n FROM u") == [(45,), (110,), (145,)]
    assert rows(stream, "SELECT k, n FROM t") == [(10, 10), (20, 10), (30, 5)]
    stream.execute("CREATE OR REPLACE CONTINUOUS QUERY q AS INSERT INTO u SELECT sum(v) FROM CYCLE(s, 5)")
    while rows(stream, "SELECT chunks, state FROM millpond_queries") != [(5, "running")]:
        pass
    assert rows(stream, "SELECT n FROM u") == [(45,), (110,), (135,), (145,)], "it goes on with the row that ended it"


def test_rights_are_those_of_all_branches_and_of_the_column_that_ends_the_stream(stream: Pond) -> None:
    stream.execute("CREATE ROLE clerk; GRANT CREATE ON SCHEMA public TO clerk; GRANT INSERT ON t TO clerk")
    stream.execute("GRANT SELECT (k, v) ON s TO clerk; SET ROLE clerk")
    refused = {
        "CREATE CONTINUOUS QUERY q AS (INSERT INTO t SELECT k, v FROM s; INSERT INTO u SELECT v FROM s)": "table u",
        "CREATE CONTINUOUS QUERY q AS (INSERT INTO t SELECT k FROM s; INSERT INTO t SELECT k, n FROM u, s)": "table u",
        "INSERT INTO u SELECT v FROM CYCLE(s, 10, cycles => 1)": "table u",
        "INSERT INTO t SELECT k, v FROM CYCLE(s, 10, until => over)": "table s",
    }
    for statement, what in refused.items():
        with pytest.raises(MillpondError, match=f"permission denied for .*{what}"):
            stream.execute(statement)
    assert stream.execute("INSERT INTO t SELECT k, v FROM CYCLE(s, 10, cycles => 1)").rowcount == 10
    stream.execute("RESET ROLE; REVOKE INSERT ON t FROM clerk; SET ROLE clerk")
    with pytest.raises(MillpondError, match="permission denied for table t"):
        stream.execute("INSERT INTO t SELECT k, v FROM CYCLE(s, 10, cycles => 1)")

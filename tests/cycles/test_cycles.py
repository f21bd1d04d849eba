"""Cycle queries: each cycle of a stream once, as a whole, by the same SQL that would have been run over its rows."""

from __future__ import annotations

import threading
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest

from millpond import MillpondError, Pond
from tests.views.support import OpenPond

pytestmark = pytest.mark.timeout(300)

START = datetime(2024, 2, 28, 23, 58, tzinfo=UTC)
CYCLE = 30
Row = tuple[Any, ...]

BUSIEST = """
    SELECT {bound}, e.k, n.name, sum(e.v), count(*), rank() OVER (ORDER BY sum(e.v) DESC, e.k),
      (SELECT max(i.v) FROM {events} i WHERE i.k = e.k)
    FROM {events} e JOIN kind n ON n.k = e.k WHERE e.v <> 13 GROUP BY e.k, n.name HAVING count(*) > 1
"""


@pytest.fixture
def pond(open_pond: OpenPond) -> Pond:
    made = open_pond()
    made.execute("CREATE STREAM e (k int, v int, at timestamptz) WITH (timestamp = at, watermark = '10s')")
    made.execute("CREATE TABLE kind (k int PRIMARY KEY, name text)")
    made.execute("INSERT INTO kind VALUES (0, 'zero'), (1, 'one'), (2, 'two')")
    return made


def rows(pond: Pond, query: str) -> list[Row]:
    return sorted(tuple(row) for row in pond.execute(query))


def at(second: float) -> datetime:
    return START + timedelta(seconds=second)


def flow(pond: Pond, random: Random, count: int, first: int) -> None:
    """Events at one second after the other, up to nine seconds out of order."""
    pond.insert(
        "e",
        [
            (random.randrange(4), random.randrange(20), at(n - random.randrange(10)))
            for n in range(first, first + count)
        ],
    )


def wait_until(pond: Pond, query: str, expected: list[Row]) -> None:
    deadline = time.monotonic() + 60
    while (found := rows(pond, query)) != expected:
        assert time.monotonic() < deadline, (
            found,
            expected,
            rows(pond, "SELECT name, state, error FROM millpond_queries"),
        )
        time.sleep(0.02)


def cycles_done(pond: Pond, name: str) -> int:
    oid = next(one.oid for one in pond.services.catalog.snapshot.relations.values() if one.name == name)
    query = pond.services.queries.find(oid)
    assert query is not None
    return query.record.cycle.cycles if query.record.cycle else 0


def test_all_of_sql_over_each_cycle_is_that_sql_over_its_rows(open_pond: OpenPond, pond: Pond) -> None:
    """Out of order, in chunks of any size, and closed and opened again in the middle."""
    pond.execute(
        "CREATE TABLE busiest (ended timestamptz, k int, name text, total bigint, n bigint, place bigint, most int)"
    )
    query = BUSIEST.format(bound="window_end", events=f"CYCLE(e, INTERVAL '{CYCLE} seconds')")
    pond.execute(f"CREATE CONTINUOUS QUERY q AS INSERT INTO busiest {query}")
    random, second = Random(5), 0
    while second < 600:
        count = random.choice([1, 7, 40, 90])
        flow(pond, random, count, second)
        second += count
        if second - count < 300 <= second:
            pond = open_pond()
    pond.insert("e", [(0, 0, at(1000))])
    cycles = 600 // CYCLE + 1
    expected: Counter[Row] = Counter()
    for number in range(-1, cycles):
        low, high = (at((number + shift) * CYCLE) for shift in (0, 1))
        members = f"(SELECT * FROM e WHERE at >= '{low}' AND at < '{high}')"
        expected.update(rows(pond, BUSIEST.format(bound=f"'{high}'::timestamptz", events=members)))
    wait_until(pond, "SELECT * FROM busiest", sorted(expected.elements()))


def test_a_cycle_sees_what_the_one_before_wrote(pond: Pond) -> None:
    pond.execute("CREATE TABLE total (cycle bigint, v bigint)")
    pond.execute(
        "CREATE CONTINUOUS QUERY q AS INSERT INTO total SELECT coalesce((SELECT max(cycle) FROM total), 0) + 1,"
        " sum(v) + coalesce((SELECT max(v) FROM total), 0) FROM CYCLE(e, 10, cycles => 4)"
    )
    pond.insert("e", [(0, 1, at(n)) for n in range(75)])
    wait_until(pond, "SELECT * FROM total", [(1, 10), (2, 20), (3, 30), (4, 40)])
    wait_until(pond, "SELECT state FROM millpond_queries", [("ended",)])
    found = rows(pond, "SELECT cycle, starts, ends, rows_in, rows_out, post_cut_ms > 0 FROM millpond_cycles")
    assert found == [(n + 1, str(10 * n), str(10 * n + 10), 10, 1, True) for n in range(4)]
    stream = pond.services.streams.get(pond.services.catalog.snapshot.relations["e"])
    assert stream.followers.floor is None, "what has ended holds no writer up"


def test_a_cycle_goes_to_several_tables(pond: Pond) -> None:
    """Each branch sees the targets of all of them as the last cycle left them; one reads nothing but these."""
    pond.execute("CREATE TABLE a (k int, n bigint); CREATE TABLE b (v int, a bigint); CREATE TABLE c (a bigint)")
    branches = (
        "WITH c AS (SELECT k, v FROM CYCLE(e, 10, cycles => 3)), g AS (SELECT k, count(*) AS n FROM c GROUP BY k)"
        " INSERT INTO a SELECT * FROM g WHERE n > 1; INSERT INTO b (a, v) SELECT (SELECT count(*) FROM a), v FROM c"
    )
    pond.execute(f"CREATE CONTINUOUS QUERY q AS ({branches}; INSERT INTO c SELECT count(*) FROM a)")
    pond.insert("e", [(n % 3, n, at(n)) for n in range(35)])
    wait_until(pond, "SELECT state, target, rows_out FROM millpond_queries", [("ended", "a, b, c", 42)])
    assert rows(pond, "SELECT k, sum(n) FROM a GROUP BY k") == [(0, 10), (1, 10), (2, 10)]
    assert rows(pond, "SELECT a, count(*), min(v), max(v) FROM b GROUP BY a") == [
        (0, 10, 0, 9),
        (3, 10, 10, 19),
        (6, 10, 20, 29),
    ]
    assert rows(pond, "SELECT a FROM c") == [(0,), (3,), (6,)]
    again = branches.replace("cycles => 3", "cycles => 6")
    pond.execute(f"CREATE OR REPLACE CONTINUOUS QUERY q AS {again}")
    pond.execute("DROP TABLE c")
    pond.insert("e", [(1, n, at(n)) for n in range(35, 45)])
    wait_until(pond, "SELECT a, count(*) FROM b GROUP BY a", [(0, 10), (3, 10), (6, 10), (9, 10)])
    plan = [line for (line,) in pond.execute("EXPLAIN CONTINUOUS QUERY q")]
    assert [line for line in plan if line.startswith("Inserts")] == ["Inserts into table a", "Inserts into table b"]
    with pytest.raises(MillpondError, match="because other objects depend on it"):
        pond.execute("DROP TABLE b")
    pond.execute("DROP TABLE b CASCADE")
    assert rows(pond, "SELECT name FROM millpond_queries") == []


def test_readers_see_whole_cycles_only(pond: Pond) -> None:
    """One query writes a row for each tuple and one for all, another sums them; a reader looks all the time."""
    pond.execute("CREATE TABLE copied (cycle bigint, v int); CREATE TABLE counted (n bigint)")
    pond.execute("CREATE TABLE summed (n bigint)")
    pond.execute(
        "CREATE CONTINUOUS QUERY copy AS (INSERT INTO copied SELECT window_start, v FROM CYCLE(e, 20);"
        " INSERT INTO counted SELECT count(*) FROM CYCLE(e, 20))"
    )
    pond.execute(
        "CREATE CONTINUOUS QUERY sums AS INSERT INTO summed"
        " SELECT (SELECT count(*) FROM copied) FROM CYCLE(e, 20) LIMIT 1"
    )
    seen: list[Row] = []
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            seen.extend(
                rows(
                    pond,
                    "SELECT count(*), (SELECT sum(n) FROM counted), sum(count(*)) OVER () FROM copied GROUP BY cycle",
                )
            )

    reader = threading.Thread(target=look)
    reader.start()
    for n in range(0, 200, 7):
        pond.insert("e", [(0, m, at(m)) for m in range(n, min(200, n + 7))])
    wait_until(pond, "SELECT count(*), count(DISTINCT cycle) FROM copied", [(200, 10)])
    wait_until(pond, "SELECT count(*) FROM summed", [(10,)])
    done.set()
    reader.join()
    assert {count for count, _, _ in seen} == {20}
    assert all(in_one == in_other for _, in_one, in_other in seen), "a cycle in one table is in the other"
    assert all(n % 20 == 0 for (n,) in rows(pond, "SELECT n FROM summed"))


def test_time_and_chance_of_a_cycle_are_its_own(pond: Pond) -> None:
    pond.execute("CREATE TABLE moments (at timestamptz, chance double precision, n bigint)")
    pond.execute(
        "CREATE CONTINUOUS QUERY q AS INSERT INTO moments"
        " SELECT now(), random(), v FROM CYCLE(e, 5, cycles => 3) WHERE v = 4"
    )
    for n in range(3):
        pond.insert("e", [(0, m, at(5 * n + m)) for m in range(5)])
    found = "SELECT count(*), count(DISTINCT at), count(DISTINCT chance), sum(n) FROM moments"
    wait_until(pond, found, [(3, 3, 3, 12)])


def test_a_stream_takes_cycles_too(pond: Pond) -> None:
    pond.execute("CREATE STREAM by_kind (k int, n bigint)")
    pond.execute("CREATE CONTINUOUS QUERY q AS INSERT INTO by_kind SELECT k, count(*) FROM CYCLE(e, 6) GROUP BY k")
    pond.insert("e", [(n % 2, n, at(n)) for n in range(20)])
    wait_until(pond, "SELECT k, n FROM by_kind", [(0, 3)] * 3 + [(1, 3)] * 3)
    assert cycles_done(pond, "q") == 3


def test_rows_that_come_after_their_cycle_are_counted(pond: Pond) -> None:
    pond.execute("CREATE TABLE n (n bigint)")
    pond.execute(
        f"CREATE CONTINUOUS QUERY q AS INSERT INTO n SELECT count(*) FROM CYCLE(e, INTERVAL '{CYCLE} seconds')"
    )
    pond.insert("e", [(0, 1, at(1)), (0, 1, at(CYCLE + 10)), (0, 1, at(2)), (0, 1, None), (0, 1, at(2 * CYCLE + 10))])
    wait_until(pond, "SELECT n FROM n", [(1,), (1,)])
    assert rows(pond, "SELECT late_rows FROM millpond_queries") == [(1,)]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT count(*) FROM CYCLE(e, 10)", "CYCLE is only supported in an INSERT"),
        ("CREATE VIEW v AS SELECT count(*) FROM CYCLE(e, 10)", "CYCLE is only supported in an INSERT"),
        ("CREATE CONTINUOUS QUERY q AS INSERT INTO n SELECT 1 FROM CYCLE(e, 10) a, e", "a second stream"),
        (
            "CREATE CONTINUOUS QUERY q AS (INSERT INTO n SELECT 1 FROM CYCLE(e, 1); INSERT INTO n SELECT 1 FROM e)",
            "second",
        ),
        (
            "CREATE CONTINUOUS QUERY q AS (INSERT INTO n SELECT 1 FROM e; INSERT INTO e SELECT 1 FROM e)",
            "a stream beside",
        ),
        (
            "CREATE CONTINUOUS QUERY q AS (INSERT INTO n SELECT 1 FROM e; INSERT INTO n SELECT n FROM n)",
            "must read a stream",
        ),
        ("CREATE CONTINUOUS QUERY q AS INSERT INTO n SELECT 1 FROM CYCLE(e, 10, rounds => 3)", "no argument"),
        ("CREATE CONTINUOUS QUERY q AS INSERT INTO n SELECT 1 FROM CYCLE(e, 10, cycles => 0)", "greater than zero"),
    ],
)
def test_what_is_refused(pond: Pond, query: str, message: str) -> None:
    pond.execute("CREATE TABLE n (n bigint)")
    with pytest.raises(MillpondError, match=message) as raised:
        pond.execute(query)
    assert raised.value.position is not None


def test_explain_says_what_each_cycle_runs(pond: Pond) -> None:
    pond.execute("CREATE TABLE n (ended timestamptz, n bigint)")
    query = "INSERT INTO n SELECT window_end, count(*) FROM CYCLE(e, INTERVAL '1 minute')"
    lines = [line for (line,) in pond.execute(f"EXPLAIN CREATE CONTINUOUS QUERY q AS {query}")]
    assert "Spark SQL for each cycle of 1min" in lines
    assert "`window_end`" in lines[lines.index("Spark SQL for each cycle of 1min") + 1]
    assert lines[-2].startswith("Before the cut")

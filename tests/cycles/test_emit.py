"""Rows of continuous queries for subscribers: those of each cycle once it is committed, or as its tuples arrive."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from random import Random
from typing import Any

import pytest

import millpond
from millpond import MillpondError, Pond

pytestmark = pytest.mark.timeout(300)

Row = tuple[Any, ...]
WAIT_S = 120
"""Nothing takes so long."""


@pytest.fixture
def pond(shared_spark: None, tmp_path: Path) -> Iterator[Pond]:
    with millpond.connect(tmp_path / "pond", master="local[2]", subscription_versions=20) as opened:
        opened.execute("CREATE STREAM s (k int, v int)")
        opened.execute("CREATE TABLE t (k int, total int)")
        yield opened


class Reader:
    """Reads a subscription in a thread of its own."""

    def __init__(self, pond: Pond, what: str) -> None:
        self.subscription = pond.subscribe(what)
        self.rows: list[Row] = []
        self.error: MillpondError | None = None
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        try:
            for one in self.subscription:
                self.rows.append((one.version, one.change, *(one.row or ())))
        except MillpondError as error:
            self.error = error

    def versions(self) -> list[list[Row]]:
        """The rows of each version, in order, without the version."""
        return [[row[1:] for row in rows] for _, rows in groupby(list(self.rows), key=lambda row: row[0])]

    def ended(self) -> MillpondError:
        self._thread.join(WAIT_S)
        assert self.error is not None
        return self.error


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def chunks_of(pond: Pond, name: str) -> int:
    """The chunks that a query has committed; without a Spark job for each look."""
    query = pond.services.queries.find(pond.services.catalog.snapshot.relations[name].oid)
    return 0 if query is None else query.record.chunks


def test_a_subscriber_gets_each_cycle_as_it_is_committed(pond: Pond) -> None:
    """Cycles are versions, in order, with exactly the rows that the table gets; one without rows is none. One who does
    not read stops nobody, and is told that it missed some."""
    random = Random(3)
    pond.execute(
        "CREATE CONTINUOUS QUERY q AS INSERT INTO t SELECT k, sum(v)::int FROM CYCLE(s, 10) WHERE v > 2 GROUP BY k"
    )
    pond.insert("s", [(0, 5)] * 10)
    wait_until(lambda: chunks_of(pond, "q") == 1)
    slow = pond.subscribe("q")
    reader, all_of_it = Reader(pond, "q"), Reader(pond, "t")
    sent = [[(random.randrange(3), random.randrange(4 if n % 4 else 3)) for _ in range(10)] for n in range(30)]
    for place in range(0, 30, 3):
        pond.insert("s", [row for cycle in sent[place : place + 3] for row in cycle])
        wait_until(lambda done=place + 4: chunks_of(pond, "q") == done)  # type: ignore[misc]
    expected = [sorted(made) for cycle in sent if (made := totals(cycle))]
    wait_until(lambda: len(reader.versions()) == len(expected))
    assert [sorted(row[1:] for row in version) for version in reader.versions()] == expected
    assert {row[1] for row in reader.rows} == {"insert"}
    first = next(iter(slow))
    assert first.change == "skipped"
    assert first.version < reader.rows[0][0], "nothing was given before it"
    pond.execute("ALTER TABLE t ADD COLUMN more int")
    assert reader.ended().sqlstate.value == "55000"
    wait_until(lambda: len(all_of_it.rows) >= 2)
    again = Reader(pond, "q")
    pond.execute("ALTER CONTINUOUS QUERY q PAUSE")
    pond.execute("ALTER CONTINUOUS QUERY q RESUME")
    pond.insert("s", [(7, 3)] * 10)
    wait_until(lambda: [row[1:] for row in again.rows] == [("insert", 7, 30, None)])
    pond.execute("DROP CONTINUOUS QUERY q")
    assert again.ended().sqlstate.value == "42P01"


def totals(cycle: list[Row]) -> list[Row]:
    keys = {k for k, v in cycle if v > 2}
    return [(key, sum(v for k, v in cycle if k == key and v > 2)) for key in keys]


def test_rights_to_read_the_rows_of_a_query(pond: Pond) -> None:
    """They are those of the target."""
    pond.execute("CREATE CONTINUOUS QUERY q AS INSERT INTO t SELECT k, v FROM s")
    pond.execute("CREATE ROLE reader; CREATE ROLE other; GRANT SELECT ON t TO reader")
    pond.execute("SET ROLE other")
    with pytest.raises(MillpondError) as refused:
        pond.subscribe("q")
    assert (refused.value.sqlstate.value, refused.value.message) == ("42501", "permission denied for table t")
    pond.execute("SET ROLE reader")
    reader = Reader(pond, "q")
    pond.execute("RESET ROLE")
    pond.insert("s", [(1, 2), (3, 4)])
    wait_until(lambda: [row[1:] for row in reader.rows] == [("insert", 1, 2), ("insert", 3, 4)])


START = datetime(2024, 2, 28, 23, 58, tzinfo=UTC)
CYCLE_S, DELAY_S = 30, 10

EMITTING = """
    CREATE CONTINUOUS QUERY q AS (
      WITH odd AS (
        SELECT *, change_point(v) OVER (PARTITION BY k) AS other FROM CYCLE(e, INTERVAL '30 seconds') WHERE v % 2 = 1
      )
      EMIT SELECT k, v, at, (SELECT sum(total) FROM sums WHERE sums.k = odd.k) AS before, n.name, other
        FROM odd LEFT JOIN kind n USING (k);
      INSERT INTO sums SELECT k, sum(v)::int FROM odd GROUP BY k;
      INSERT INTO starts SELECT DISTINCT window_start FROM CYCLE(e, INTERVAL '30 seconds') c)
"""


def test_tuples_are_emitted_as_they_arrive(pond: Pond) -> None:
    """Out of order, in random chunks, with a pause: each tuple sees what the cycle before its own left, and no more."""
    random = Random(11)
    pond.execute("CREATE STREAM e (k int, v int, at timestamptz) WITH (timestamp = at, watermark = '10s')")
    pond.execute("CREATE TABLE sums (k int, total int); CREATE TABLE starts (at timestamptz)")
    pond.execute("CREATE TABLE kind (k int PRIMARY KEY, name text); INSERT INTO kind VALUES (0, 'zero'), (1, 'one')")
    pond.execute(EMITTING)
    reader = Reader(pond, "q")
    sent = [(random.randrange(3), random.randrange(9), second - random.randrange(DELAY_S)) for second in range(150)]
    sent.append((0, 1, 1005))
    done = 0
    while done < len(sent):
        chunk = sent[done : done + random.choice((1, 7, 40))]
        pond.insert("e", [(k, v, START + timedelta(seconds=second)) for k, v, second in chunk])
        done += len(chunk)
        if done > 70 and chunk[0][2] < 80:
            pond.execute("ALTER CONTINUOUS QUERY q PAUSE")
            pond.execute("ALTER CONTINUOUS QUERY q RESUME")
        time.sleep(random.choice((0, 0.05, 0.3)))
    expected = emitted(sent)
    wait_until(lambda: len(reader.rows) >= len(expected))
    assert [row[2:] for row in reader.rows] == expected
    committed = {
        (k, total) for k, total in (tuple(row) for row in pond.execute("SELECT k, sum(total) FROM sums GROUP BY k"))
    }
    assert committed == set(sums_of([row for row in sent if row[2] < 1000]).items())
    assert len(list(pond.execute("SELECT * FROM starts"))) == chunks_of(pond, "q")


def sums_of(rows: list[Row]) -> dict[int, int]:
    found: defaultdict[int, int] = defaultdict(int)
    for k, v, _ in rows:
        if v % 2:
            found[k] += v
    return dict(found)


def emitted(sent: list[Row]) -> list[Row]:
    """The rows of one cycle after the other, each in the order of arrival."""
    names = {0: "zero", 1: "one"}
    made: list[Row] = []
    last: dict[int, int] = {}
    for cycle in sorted({second // CYCLE_S for _, _, second in sent}):
        before = sums_of([row for row in sent if row[2] // CYCLE_S < cycle])
        for k, v, second in sent:
            if second // CYCLE_S == cycle and v % 2:
                at, other = START + timedelta(seconds=second), last.get(k) != v
                made.append((k, v, at, before.get(k), names.get(k), other))
                last[k] = v
    return made


def test_what_cannot_be_emitted(pond: Pond) -> None:
    insert = "INSERT INTO t SELECT k, count(*)::int FROM CYCLE(s, 5) GROUP BY k"
    refused = {
        f"EMIT SELECT k, count(*) FROM CYCLE(s, 5) GROUP BY k; {insert}": "GROUP BY",
        f"EMIT SELECT k FROM CYCLE(s, 5) ORDER BY k; {insert}": "ORDER BY",
        f"EMIT SELECT k FROM CYCLE(s, 6); {insert}": "another cycle",
        f"EMIT SELECT lag_cycle(v) OVER (PARTITION BY k ORDER BY v) FROM CYCLE(s, 5); {insert}": "in another order",
        f"EMIT SELECT rank() OVER (ORDER BY k) FROM CYCLE(s, 5); {insert}": "a window function",
        f"EMIT SELECT k FROM t; {insert}": "must read a stream",
        "EMIT SELECT k FROM s; INSERT INTO t SELECT k, v FROM s": "without CYCLE",
    }
    for text, message in refused.items():
        with pytest.raises(MillpondError) as raised:
            pond.execute(f"CREATE CONTINUOUS QUERY q AS ({text})")
        assert message in raised.value.message, text
    pond.execute(f"CREATE CONTINUOUS QUERY q AS (EMIT SELECT k / v AS x FROM CYCLE(s, 5); {insert})")
    reader = Reader(pond, "q")
    pond.insert("s", [(4, 2), (4, 0)])
    query = pond.services.queries.find(pond.services.catalog.snapshot.relations["q"].oid)
    assert query is not None
    wait_until(lambda: query.record.failure is not None)
    assert query.record.failure is not None
    assert query.record.failure.message == "division by zero"
    assert (query.record.chunks, reader.rows) == (0, [])


def test_what_is_remembered_survives_a_restart_in_the_middle_of_a_cycle(shared_spark: None, tmp_path: Path) -> None:
    """Rows of the open cycle are seen again; nobody has to listen for them to be remembered."""
    path, emit = tmp_path / "pond", "SELECT k, v, lag_cycle(v) OVER (PARTITION BY k) AS before FROM CYCLE(s, 5)"
    with millpond.connect(path, master="local[2]") as pond:
        pond.execute("CREATE STREAM s (k int, v int); CREATE TABLE t (n int)")
        pond.execute(f"CREATE CONTINUOUS QUERY q AS (EMIT {emit}; INSERT INTO t SELECT count(*)::int FROM CYCLE(s, 5))")
        reader = Reader(pond, "q")
        pond.insert("s", [(v % 2, v) for v in range(7)])
        wait_until(lambda: len(reader.rows) == 7)
        assert [row[3:] for row in reader.rows] == [(v, v - 2 if v > 1 else None) for v in range(7)]
        wait_until(lambda: chunks_of(pond, "q") == 1)
    with millpond.connect(path, master="local[2]") as pond:
        reader = Reader(pond, "q")
        for v in range(7, 12):
            pond.insert("s", [(v % 2, v)])
        wait_until(lambda: bool(reader.rows) and reader.rows[-1][3] == 11)
        assert [row[3:] for row in reader.rows[-5:]] == [(v, v - 2) for v in range(7, 12)]
        assert {row[3] for row in reader.rows[:-5]} <= {5, 6}, "at least once"
        wait_until(lambda: chunks_of(pond, "q") == 2)

"""Tables as they were: after each cycle, and at any time, while that is retained."""

from __future__ import annotations

import bisect
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

import millpond
from millpond import MillpondError, Pond
from millpond.stream_window import moment

pytestmark = pytest.mark.timeout(300)

START_US = 1_700_000_000_000_000
RETENTION_S = 600
Row = tuple[Any, ...]


class Clock:
    """A clock that moves a little whenever it is asked, and as far as a test wants."""

    def __init__(self) -> None:
        self.now_us = START_US

    def __call__(self) -> int:
        self.now_us += 1
        return self.now_us

    def advance(self, seconds: float) -> None:
        self.now_us += int(seconds * 1_000_000)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def open_pond(shared_spark: None, tmp_path: Path, clock: Clock) -> Iterator[Callable[[], Pond]]:
    """Opens the pond of the test; the one that was open before is closed."""
    opened: list[Pond] = []

    def open_again() -> Pond:
        for pond in opened:
            pond.close()
        made = millpond.connect(
            tmp_path / "pond", master="local[2]", clock=clock, history_retention=f"{RETENTION_S}s", table_files_max=4
        )
        opened.append(made)
        return opened[-1]

    yield open_again
    for pond in opened:
        pond.close()


def rows(pond: Pond, query: str) -> list[Row]:
    return sorted(tuple(row) for row in pond.execute(query))


def error(pond: Pond, query: str) -> tuple[str, str, int | None]:
    with pytest.raises(MillpondError) as raised:
        pond.execute(query)
    return raised.value.sqlstate.value, raised.value.message, raised.value.position


def test_a_table_is_read_as_it_was_at_any_time(open_pond: Callable[[], Pond], clock: Clock) -> None:
    """Random changes, then moments between them, after VACUUM and a restart, and with a new column. What is older than
    the retention is refused, and nothing else."""
    random, pond = Random(7), open_pond()
    pond.execute("CREATE TABLE t (k int, v int)")
    current: list[Row] = []
    moments, states = [clock.now_us], [current]
    for step in range(12):
        clock.advance(random.choice((10, 60, 200)))
        if step % 4 == 3:
            key = random.randrange(5)
            pond.execute("DELETE FROM t WHERE k = $1", [key])
            current = [row for row in current if row[0] != key]
        else:
            new = [(random.randrange(5), step) for _ in range(3)]
            pond.insert("t", new)
            current = sorted([*current, *new])
        moments.append(clock.now_us)
        states.append(current)
    pond.execute("VACUUM FULL t")
    pond = open_pond()
    compare(pond, clock, moments, states, random)
    pond.execute("ALTER TABLE t ADD COLUMN w int DEFAULT 5")
    past = rows(pond, f"SELECT k, v, w FROM t FOR SYSTEM_TIME AS OF '{moment(moments[-1])}'")
    assert past == [(*row, None) for row in states[-1]]
    assert rows(pond, "SELECT DISTINCT w FROM t") == [(5,)]
    listed = rows(pond, "SELECT version, committed_at, query, cycle FROM millpond_history WHERE name = 't'")
    assert {(query, cycle) for _, _, query, cycle in listed} == {(None, None)}
    assert len(listed) < len(states), "what is too old is forgotten"


def compare(pond: Pond, clock: Clock, moments: list[int], states: list[list[Row]], random: Random) -> None:
    for _ in range(8):
        asked = random.randrange(moments[0] - 100_000_000, clock.now_us)
        place = bisect.bisect_right(moments, asked) - 1
        query = f"SELECT k, v FROM t FOR SYSTEM_TIME AS OF '{moment(asked)}' AS old WHERE old.k >= 0"
        replaced = moments[place + 1] if place + 1 < len(moments) else clock.now_us
        if place < 0 or replaced <= clock.now_us - RETENTION_S * 1_000_000:
            assert error(pond, query)[0] == "MP002"
        else:
            assert rows(pond, query) == states[place]


def test_a_table_is_read_as_it_was_after_each_cycle(open_pond: Callable[[], Pond], clock: Clock) -> None:
    pond = open_pond()
    pond.execute("CREATE STREAM s (v int)")
    pond.execute("CREATE TABLE t (q text, v int)")
    for name, size in (("by_two", 2), ("by_three", 3)):
        pond.execute(
            f"CREATE CONTINUOUS QUERY {name} AS INSERT INTO t SELECT '{name}', sum(v)::int FROM CYCLE(s, {size}) "
            "HAVING sum(v) <> 13"
        )
    for v in range(12):
        pond.insert("s", [(v,)])
        clock.advance(1)
        wait_for(pond, {"by_two": (v + 1) // 2, "by_three": (v + 1) // 3})
    twos, threes = [2 * n * 2 + 1 for n in range(6)], [3 * n * 3 + 3 for n in range(4)]
    for opened in (pond, None):
        pond = opened or open_pond()
        for name, sums in (("by_two", twos), ("by_three", threes)):
            for cycle in range(1, len(sums) + 1):
                read = f"SELECT v FROM t AS OF CYCLE {cycle} OF {name} x WHERE x.q = '{name}'"
                assert rows(pond, read) == [(one,) for one in sums[:cycle] if one != 13]
    joined = "SELECT count(*) FROM t AS OF CYCLE $1 OF by_two AS a JOIN t AS b ON a.q = b.q AND a.v = b.v"
    assert [row[0] for row in pond.execute(joined, [5])] == [7]
    assert [row[0] for row in pond.execute(joined, [2])] == [3]
    check_refusals(pond)
    pond.execute("DROP CONTINUOUS QUERY by_three")
    assert len(rows(pond, "SELECT v FROM t AS OF CYCLE 1 OF by_three")) == 2, "its cycles are remembered"
    pond.execute("BEGIN")
    pond.execute("DELETE FROM t")
    assert len(rows(pond, "SELECT v FROM t AS OF CYCLE 5 OF by_two")) == 7, "what is not committed is no past"
    pond.execute("UPDATE t SET v = 0 FROM t AS OF CYCLE 1 OF by_two AS old WHERE old.v = t.v")
    pond.execute("INSERT INTO t SELECT * FROM t AS OF CYCLE 1 OF by_two")
    assert rows(pond, "SELECT * FROM t") == [("by_two", 1)]
    pond.execute("COMMIT")
    explained = "\n".join(row[0] for row in pond.execute("EXPLAIN SELECT * FROM t AS OF CYCLE 1 OF by_two"))
    version = rows(pond, "SELECT version FROM millpond_history WHERE query = 'by_two' AND cycle = 1")[0][0]
    assert f"Table t, version {version}" in explained


def wait_for(pond: Pond, cycles: dict[str, int]) -> None:
    deadline = time.monotonic() + 60
    found = [(pond.services.queries.find(pond.services.catalog.snapshot.relations[one].oid), one) for one in cycles]
    while any(query is None or query.record.chunks != cycles[name] for query, name in found):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def check_refusals(pond: Pond) -> None:
    pond.execute("CREATE TABLE other (v int)")
    pond.execute("CREATE VIEW plain AS SELECT * FROM t")
    create = "CREATE CONTINUOUS QUERY c AS INSERT INTO other SELECT s.v FROM s JOIN"
    expected = {
        "SELECT * FROM t AS OF CYCLE 1": ("22023", "cycles of several continuous queries wrote table", "1"),
        "SELECT * FROM t AS OF CYCLE 7 OF by_two": ("22023", 'cycle 7 of continuous query "by_two" has not been', "7"),
        "SELECT * FROM t AS OF CYCLE 0 OF by_two": ("MP002", 'table "t" as of cycle 0 of continuous query "by', "0"),
        "SELECT * FROM t AS OF CYCLE 1 OF nobody": ("42704", 'no cycle of a continuous query "nobody"', "1"),
        "SELECT * FROM other AS OF CYCLE 1": ("MP002", 'a cycle that wrote table "other" is not retained', "1"),
        "SELECT * FROM s AS OF CYCLE 1": ("0A000", "AS OF for a stream is not supported", "s AS"),
        "SELECT * FROM plain AS OF CYCLE 1 OF by_two": ("0A000", "AS OF for a view is not supported", "plain"),
        "SELECT * FROM t FOR SYSTEM_TIME AS OF now() + interval '1 s'": ("22023", "is in the future", "now"),
        "SELECT * FROM t FOR SYSTEM_TIME AS OF NULL": ("22023", "AS OF must not be NULL", "NULL"),
        "SELECT * FROM t FOR SYSTEM_TIME AS OF 5": ("42804", "AS OF needs a time", "5"),
        "CREATE VIEW v AS SELECT * FROM t AS OF CYCLE 1": ("0A000", "AS OF in a definition", "1"),
        f"{create} t AS OF CYCLE 1 ON t.v = s.v": ("0A000", "AS OF in a definition", "1"),
    }
    for query, (state, message, place) in expected.items():
        found = error(pond, query)
        assert (found[0], found[2]) == (state, query.index(place) + 1), (query, found)
        assert message in found[1]
    assert rows(pond, "SELECT v FROM t FOR SYSTEM_TIME AS OF now() - interval '0 minutes'") == rows(
        pond, "SELECT v FROM t"
    )

"""Functions that remember rows of earlier cycles: cycle by cycle they make what one query makes of all rows at once."""

from __future__ import annotations

import time
from random import Random
from typing import Any

import pytest

from millpond import MillpondError, Pond
from tests.views.support import OpenPond

pytestmark = pytest.mark.timeout(300)

ROWS, CYCLE = 240, 40
Row = tuple[Any, ...]

TARGETS = {
    "by_key": "k int, n bigint, average numeric(38,16), slow boolean, before bigint, name text",
    "by_row": "place bigint, k int, entered boolean, total real, before text",
    "nested": "k int, v int, jumps bigint",
}

QUERIES = {
    # Above a grouping, in an expression, below a join and a filter.
    "by_key": """
        SELECT p.k, p.n, p.average, p.slow, p.before, kind.name FROM (
          SELECT k, n, moving_avg(s, 5) OVER w AS average, moving_sum(s::int, 3) OVER w < 40 AS slow,
            lag_cycle(n, 2) OVER w AS before
          FROM (SELECT {cycle} AS cycle, k, sum(v) AS s, count(*) AS n FROM {events} GROUP BY {cycle}, k) g
          WINDOW w AS (PARTITION BY k ORDER BY cycle)
        ) p JOIN kind USING (k) WHERE p.n < 9""",
    # Over the tuples as they are: by their order of arrival.
    "by_row": """
        SELECT tid, k, change_point(v, name) OVER (PARTITION BY k ORDER BY tid),
          moving_sum(r, 4) OVER (PARTITION BY k ORDER BY tid), lag_cycle(name, 3) OVER (PARTITION BY k ORDER BY tid)
        FROM {events}""",
    # Below a filter, one over the other, in WITH, sorted by what is not delivered.
    "nested": """
        WITH jumped AS (
          SELECT k, v, age,
            CASE WHEN change_point((v > 2)) OVER (PARTITION BY k ORDER BY age DESC) THEN 1 ELSE 0 END AS jump
          FROM (SELECT k, v, -tid AS age FROM {events} WHERE v <> 3) e
        )
        SELECT k, v, moving_sum(jump, 6) OVER (PARTITION BY k ORDER BY age DESC) FROM jumped""",
}


@pytest.fixture
def pond(open_pond: OpenPond) -> Pond:
    made = open_pond()
    made.execute("CREATE STREAM e (k int, v int, r real, name text)")
    made.execute(
        "CREATE TABLE kind (k int, name text); INSERT INTO kind VALUES (0, 'zero'), (1, 'one'), (NULL, 'none')"
    )
    return made


def shown(pond: Pond, query: str) -> list[Row]:
    return sorted((tuple(row) for row in pond.execute(query)), key=repr)


def wait_until(pond: Pond, query: str, expected: list[Row]) -> None:
    deadline = time.monotonic() + 60
    while (found := shown(pond, query)) != expected:
        failed = shown(pond, "SELECT name, state, error FROM millpond_queries WHERE error IS NOT NULL")
        assert not failed
        assert time.monotonic() < deadline, (found[:20], expected[:20])
        time.sleep(0.05)


def test_cycles_make_what_all_rows_make(open_pond: OpenPond, pond: Pond) -> None:
    for name, columns in TARGETS.items():
        pond.execute(f"CREATE TABLE {name} ({columns})")
        query = QUERIES[name].format(events=f"CYCLE(e, {CYCLE})", cycle="window_start")
        pond.execute(
            f"CREATE CONTINUOUS QUERY make_{name} AS INSERT INTO {name} {query}".replace(
                "GROUP BY window_start,", "GROUP BY"
            )
        )
    _create_streaks(pond)
    random, sent = Random(3), 0
    while sent < ROWS:
        count = min(random.choice([1, 9, 50]), ROWS - sent)
        names = ["ann", "bob", None]
        made = [
            (random.choice([None, 0, 1, 2]), random.randrange(5), random.random(), random.choice(names))
            for _ in range(count)
        ]
        pond.insert("e", made)
        sent += count
        if sent - count < ROWS // 2 <= sent:
            pond = open_pond()
    for name in TARGETS:
        expected = shown(pond, QUERIES[name].format(events="e", cycle=f"tid / {CYCLE}"))
        wait_until(pond, f"SELECT * FROM {name}", expected)
    wait_until(pond, "SELECT * FROM streaks", _streaks(pond))
    state: dict[str, int] = dict(shown(pond, "SELECT name, state_rows FROM millpond_queries WHERE state_bytes > 0"))
    assert state == {"make_by_key": 4 * 4, "make_by_row": 4 * 3, "make_nested": 4 + 4 * 5, "make_streaks": 12}


STREAK = """
  last = state or []
  made = []
  for one in v:
      last = [*last, one][-3:]
      made.append(None if one == 4 else sum(last) + len(name or ""))
  return made, last
"""


def _create_streaks(pond: Pond) -> None:
    parameters = "k int, v int, name text"
    keys = "STATEFUL BY (k, name)"
    pond.execute(f"CREATE FUNCTION streak({parameters}) RETURNS numeric LANGUAGE python {keys} AS $${STREAK}$$")
    pond.execute("CREATE TABLE streaks (place bigint, streak int)")
    query = f"SELECT tid, 2 * streak(k, v, name) OVER (ORDER BY r - r) FROM CYCLE(e, {CYCLE}) WHERE v <> 3"
    pond.execute(f"CREATE CONTINUOUS QUERY make_streaks AS INSERT INTO streaks {query}")


def _streaks(pond: Pond) -> list[Row]:
    """The same by a loop over all rows: what is equal in its order goes by the order of arrival."""
    seen: dict[Row, list[int]] = {}
    made: list[Row] = []
    for tid, k, v, name in sorted(tuple(row) for row in pond.execute("SELECT tid, k, v, name FROM e WHERE v <> 3")):
        last = seen[k, name] = [*seen.get((k, name), []), v][-3:]
        made.append((tid, None if v == 4 else 2 * (sum(last) + len(name or ""))))
    return sorted(made, key=repr)


def test_memory_goes_with_the_definition(pond: Pond) -> None:
    """A query that is replaced by itself remembers; another one begins anew, and what it does not need is removed."""
    create = "CREATE OR REPLACE CONTINUOUS QUERY q AS INSERT INTO n SELECT lag_cycle(count(*)) OVER () FROM CYCLE(e, 2)"
    pond.execute("CREATE TABLE n (before bigint)")
    expected: list[Row] = []
    for statement, first in ((create, None), (create, 2), (f"{create} WHERE k = 0", None)):
        pond.execute(statement)
        pond.insert("e", [(0, 1, 1.0, "a")] * 4)
        expected += [(first,), (2,)]
        wait_until(pond, "SELECT before FROM n", sorted(expected, key=repr))
    (kept,) = (pond.path / "functions").iterdir()
    pond.insert("e", [(0, 1, 1.0, "a")] * 2)
    wait_until(pond, "SELECT before FROM n", sorted([*expected, (2,)], key=repr))
    assert len(list(kept.iterdir())) <= 2
    pond.execute("DROP CONTINUOUS QUERY q")
    assert not kept.exists()
    asked = "INSERT INTO n SELECT lag_cycle(count(*)) OVER () FROM CYCLE(e, 4, cycles => 3) RETURNING before"
    assert [before for (before,) in pond.execute(asked)] == [None, 4, 4], "in the foreground"
    assert not list(pond.services.scratch.glob("functions-*"))


REFUSED = {
    "SELECT moving_avg(v, 2) FROM CYCLE(e, 2)": "requires an OVER clause",
    "SELECT moving_avg(v, 0) OVER () FROM CYCLE(e, 2)": "must be a constant from 1 to 10000",
    "SELECT moving_avg(v, 2) OVER (ROWS 3 PRECEDING) FROM CYCLE(e, 2)": "has a frame of its own",
    "SELECT (SELECT moving_sum(k.k, 2) OVER () FROM kind k WHERE k.k = e.k) FROM CYCLE(e, 2) e": "depends on the row",
    "SELECT (lag_cycle(1) OVER (PARTITION BY array_agg(v))) FROM CYCLE(e, 2)": "an array in PARTITION BY",
    "SELECT moving_avg(k, 2) OVER (PARTITION BY k) FROM kind": "needs ORDER BY",
}


def test_what_is_refused(pond: Pond) -> None:
    pond.execute("CREATE TABLE n (n double precision)")
    for query, message in REFUSED.items():
        with pytest.raises(MillpondError, match=message) as raised:
            pond.execute(f"CREATE CONTINUOUS QUERY q AS INSERT INTO n {query}" if "CYCLE" in query else query)
        assert raised.value.position is not None
    _check_no_order(pond)


def _check_no_order(pond: Pond) -> None:
    pond.execute(
        "CREATE CONTINUOUS QUERY q AS INSERT INTO n"
        " SELECT lag_cycle(v) OVER (PARTITION BY k) FROM (SELECT k, v FROM CYCLE(e, 2)) p"
    )
    pond.insert("e", [(0, 1, 1.0, "a")] * 2)
    message = "lag_cycle found several rows of a key in one cycle, and no order among them"
    while not (found := shown(pond, "SELECT state, error FROM millpond_queries WHERE error IS NOT NULL")):
        time.sleep(0.05)
    assert found == [("failed", message)]

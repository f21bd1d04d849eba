"""Work before the cut changes no answer: pieces of any size, out of order, with tables that change meanwhile."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest

import millpond
from millpond import Pond
from millpond.run.continuous_query import ContinuousQuery
from millpond.statements.cycle_chunks import CycleInserter

pytestmark = pytest.mark.timeout(300)

START = datetime(2024, 5, 1, tzinfo=UTC)
CYCLE = 30
CYCLES = 4
ROWS = 40
NAMES = {0: "zero", 1: "one", 2: "two"}
Row = tuple[Any, ...]

SPLIT = {
    "grouped": (
        "SELECT {bound}, e.k, count(*), avg(e.v), count(DISTINCT e.v), min(n.name) FROM {events} e"
        " JOIN kind n ON n.k = e.k WHERE e.v <> 13 GROUP BY e.k HAVING count(*) > 1"
    ),
    "ranked": (
        "SELECT t.bound, t.k, t.total, rank() OVER (ORDER BY t.total DESC, t.k), (SELECT max(v) FROM {events}), n.name"
        " FROM (SELECT {bound} AS bound, k, sum(v) AS total FROM {events} GROUP BY k) t LEFT JOIN kind n ON n.k = t.k"
    ),
}
WHOLE = {
    "rows": "SELECT {bound}, e.k, e.v, row_number() OVER (PARTITION BY e.k ORDER BY e.v, e.at), 0, '' FROM {events} e"
}


@pytest.fixture
def pond(shared_spark: None, tmp_path: Path) -> Iterator[Pond]:
    with millpond.connect(tmp_path / "pond", master="local[2]", cycle_piece_rows=5) as made:
        made.execute("CREATE STREAM e (k int, v int, at timestamptz) WITH (timestamp = at, watermark = '10s')")
        made.execute("CREATE TABLE kind (k int PRIMARY KEY, name text)")
        made.execute("INSERT INTO kind VALUES " + ", ".join(f"({k}, '{name}')" for k, name in NAMES.items()))
        for name in (*SPLIT, *WHOLE):
            made.execute(f"CREATE TABLE {name} (at timestamptz, k int, a numeric, b numeric, c numeric, d text)")
        yield made


def at(second: float) -> datetime:
    return START + timedelta(seconds=second)


def found_query(pond: Pond, name: str) -> ContinuousQuery:
    found = pond.services.queries.find(pond.services.catalog.snapshot.relations[name].oid)
    assert found is not None
    return found


def wait_for_cycles(pond: Pond, name: str, cycles: int) -> ContinuousQuery:
    query, deadline = found_query(pond, name), time.monotonic() + 120
    while query.record.cycle is None or query.record.cycle.cycles < cycles:
        assert time.monotonic() < deadline, (query.record, query.error)
        assert query.record.failure is None
        time.sleep(0.02)
    return query


def wait_for_pieces(pond: Pond, name: str, seconds: float) -> None:
    """Wait until some of the rows that arrived last are in a piece, if that is soon."""
    work, deadline = found_query(pond, name)._work, time.monotonic() + seconds
    assert isinstance(work, CycleInserter)
    while work._early._pieces is None and time.monotonic() < deadline:
        time.sleep(0.02)


def rows(pond: Pond, query: str) -> Counter[Row]:
    return Counter(tuple(row) for row in pond.execute(query))


def test_pieces_of_cycles_make_what_whole_cycles_make(pond: Pond) -> None:
    """Branches that all split are worked on as tuples arrive; one that does not lets all of them wait for the cut."""
    events = f"CYCLE(e, INTERVAL '{CYCLE} seconds')"
    inserts = [f"INSERT INTO {name} {text.format(bound='window_end', events=events)}" for name, text in SPLIT.items()]
    pond.execute(f"CREATE CONTINUOUS QUERY pieces AS ({'; '.join(inserts)})")
    ((name, text),) = WHOLE.items()
    pond.execute(
        f"CREATE CONTINUOUS QUERY whole AS INSERT INTO {name} {text.format(bound='window_end', events=events)}"
    )
    pond.execute("CREATE TABLE counted (first bigint, k int, total bigint)")
    pond.execute(
        "CREATE CONTINUOUS QUERY by_rows AS INSERT INTO counted"
        f" SELECT window_start, k, sum(v) FROM CYCLE(e, {ROWS}) GROUP BY k"
    )
    random, second = Random(11), 0
    sent: list[Row] = []
    while second < CYCLES * CYCLE:
        count = random.choice([1, 6, 13, 50]) if second else 15
        times = [at(n - random.randrange(10) if n > 9 else n) for n in range(second, second + count)]
        new = [(random.randrange(4), random.randrange(20), one) for one in times]
        pond.insert("e", new)
        sent += new
        second += count
        # Later rows may wait for more: none may come any more that would be of a cycle before theirs.
        if second == count:
            wait_for_pieces(pond, "by_rows", 120.0)
        if second == count or random.random() < 0.3:
            wait_for_pieces(pond, "pieces", 120.0 if second == count else 1.5)
    pond.insert("e", [(0, 0, at(10_000))])
    cycles = second // CYCLE + bool(second % CYCLE)
    assert any(one.early_s > 0 for one in wait_for_cycles(pond, "pieces", cycles).cycles)
    assert not any(one.early_s > 0 for one in wait_for_cycles(pond, "whole", cycles).cycles)
    assert any(one.early_s > 0 for one in wait_for_cycles(pond, "by_rows", len(sent) // ROWS).cycles)
    totals: Counter[tuple[int, int]] = Counter()
    for place, (k, v, _) in enumerate(sent[: len(sent) // ROWS * ROWS]):
        totals[place // ROWS * ROWS, k] += v
    assert sorted(tuple(row) for row in pond.execute("SELECT * FROM counted")) == sorted(
        (first, k, total) for (first, k), total in totals.items()
    )
    made = {"grouped": grouped, "ranked": ranked, "rows": numbered}
    for name in (*SPLIT, *WHOLE):
        expected: Counter[Row] = Counter()
        for number in range(cycles):
            low, high = (at((number + shift) * CYCLE) for shift in (0, 1))
            members = [row for row in sent if low <= row[2] < high]
            expected.update((high, *rest) for rest in made[name](members))
        assert rows(pond, f"SELECT * FROM {name}") == expected


def grouped(members: list[Row]) -> Iterator[Row]:
    for k, name in NAMES.items():
        values = [v for key, v, _ in members if key == k and v != 13]
        if len(values) > 1:
            yield k, len(values), mean(values), len(set(values)), name


def ranked(members: list[Row]) -> Iterator[Row]:
    totals = {k: sum(v for key, v, _ in members if key == k) for k in {row[0] for row in members}}
    order = sorted(totals, key=lambda k: (-totals[k], k))
    for place, k in enumerate(order, 1):
        yield k, totals[k], place, max(v for _, v, _ in members), NAMES.get(k)


def numbered(members: list[Row]) -> Iterator[Row]:
    for k in {row[0] for row in members}:
        for place, (_, v, _) in enumerate(sorted(row for row in members if row[0] == k), 1):
            yield k, v, place, 0, ""


def mean(values: list[int]) -> Decimal:
    return (Decimal(sum(values)) / len(values)).quantize(Decimal("1e-16"), ROUND_HALF_UP)


def test_a_table_that_changes_before_the_cut_is_read_as_it_is_then(pond: Pond) -> None:
    pond.execute(
        "CREATE CONTINUOUS QUERY q AS INSERT INTO grouped SELECT window_start, 0, count(*), 0, 0, n.name"
        " FROM CYCLE(e, INTERVAL '30 seconds') e JOIN kind n ON n.k = e.k GROUP BY n.name"
    )
    pond.insert("e", [(1, 1, at(n)) for n in range(15)])
    wait_for_pieces(pond, "q", 120.0)
    pond.execute("UPDATE kind SET name = 'uno' WHERE k = 1")
    pond.insert("e", [(1, 1, at(15)), (1, 1, at(60))])
    wait_for_cycles(pond, "q", 1)
    assert [tuple(row) for row in pond.execute("SELECT a, d FROM grouped")] == [(16, "uno")]


def test_functions_that_remember_are_fed_from_pieces(pond: Pond) -> None:
    """A call over what a cycle groups, and one over its tuples as they are, beside each other."""
    pond.execute("CREATE TABLE moved (at timestamptz, k int, total numeric, moving numeric)")
    pond.execute("CREATE TABLE changed (k int, v int, at timestamptz)")
    events = f"CYCLE(e, INTERVAL '{CYCLE} seconds')"
    pond.execute(
        "CREATE CONTINUOUS QUERY q AS ("
        " INSERT INTO moved SELECT bound, k, total, moving_sum(total, 2) OVER (PARTITION BY k ORDER BY bound)"
        f" FROM (SELECT window_end AS bound, k, sum(v) AS total FROM {events} GROUP BY k) t;"
        " INSERT INTO changed SELECT k, v, at FROM (SELECT k, v, at,"
        f" change_point(v) OVER (PARTITION BY k ORDER BY at) AS differs FROM {events}) c WHERE differs)"
    )
    random = Random(5)
    sent = [(random.randrange(3), random.randrange(3), at(n)) for n in range(CYCLES * CYCLE)]
    for number in range(CYCLES):
        of_cycle = sent[number * CYCLE : (number + 1) * CYCLE]
        pond.insert("e", of_cycle[:20])
        if number:
            wait_for_cycles(pond, "q", number)
        if number % 2:  # others have no piece, or one that began after the watermark
            wait_for_pieces(pond, "q", 120.0)
        pond.insert("e", of_cycle[20:])
    pond.insert("e", [(0, 0, at(10_000))])
    early = [one.early_s > 0 for one in wait_for_cycles(pond, "q", CYCLES).cycles]
    assert early[1]
    assert early[3]
    totals: dict[int, list[int]] = {}
    expected: Counter[Row] = Counter()
    for number in range(CYCLES):
        members = sent[number * CYCLE : (number + 1) * CYCLE]
        for k in {row[0] for row in members}:
            of_key = totals.setdefault(k, [])
            of_key.append(sum(v for key, v, _ in members if key == k))
            expected[at((number + 1) * CYCLE), k, of_key[-1], sum(of_key[-2:])] += 1
    assert rows(pond, "SELECT * FROM moved") == expected
    last: dict[int, int] = {}
    changes: Counter[Row] = Counter()
    for k, v, moment in sent:
        changes[k, v, moment] += last.get(k) != v
        last[k] = v
    assert rows(pond, "SELECT * FROM changed") == +changes


def test_explain_says_what_is_done_before_the_cut(pond: Pond) -> None:
    grouped = "SELECT window_end, k, count(*), 0, 0, '' FROM CYCLE(e, INTERVAL '1 minute') GROUP BY k"
    raw = "SELECT window_end, k, v, 0, 0, '' FROM CYCLE(e, INTERVAL '1 minute')"
    moving = (
        "SELECT bound, 0, moving_sum(n, 2) OVER (ORDER BY bound), 0, 0, '' FROM"
        " (SELECT window_end AS bound, count(*) AS n FROM CYCLE(e, INTERVAL '1 minute')) t"
    )
    for text, expected in ((grouped, "Before the cut"), (moving, "Before the cut"), (raw, "At the cut")):
        lines = [row[0] for row in pond.execute(f"EXPLAIN CREATE CONTINUOUS QUERY q AS INSERT INTO grouped {text}")]
        assert any(line.startswith(expected) for line in lines), lines

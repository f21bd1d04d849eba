"""Cycles are cut by what arrived, in the order of arrival, however it was looked at and wherever one began again."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from millpond.relation import Column, Relation
from millpond.run import cuts
from millpond.run.cuts import Cut, Cutter
from millpond.state.records import CycleRecord
from millpond.stream import StreamRelation
from millpond.stream_window import CycleWindow
from millpond.types import BIGINT, TIMESTAMPTZ
from tests.unit.stream.support import ManualClock, small_options

SECOND = 1_000_000
SIZE = 10
START = datetime(2024, 1, 1, tzinfo=UTC)
BASE = int(START.timestamp())


def events(seconds: list[int | None]) -> pa.Table:
    times = [None if second is None else START + timedelta(seconds=second) for second in seconds]
    return pa.table({"at": pa.array(times, pa.timestamp("us", "UTC")), "n": pa.array(range(len(times)), pa.int64())})


def opened(directory: Path, delay: int) -> tuple[StreamRelation, Relation]:
    columns = (Column("at", TIMESTAMPTZ), Column("n", BIGINT))
    options = {"timestamp": "at", "watermark": str(delay * 1000)}
    relation = Relation(7, "s", "stream", columns, options=options)
    stored = small_options(durability="memory")
    stream = StreamRelation.open(
        "s", directory / "lasting", directory / "scratch", events([]).schema, stored, clock=ManualClock()
    )
    return stream, relation


def window(by_rows: bool = False) -> CycleWindow:
    size = 4 if by_rows else SIZE * SECOND
    return CycleWindow("cycle", "s", "tid" if by_rows else "at", by_rows, size, size)


def naive(seconds: list[int | None], delay: int) -> tuple[dict[int, list[int]], list[int]]:
    """The tuples of each cycle that ends, one tuple after the other, and those that came too late."""
    waiting: defaultdict[int, list[int]] = defaultdict(list)
    ended: dict[int, list[int]] = {}
    late: list[int] = []
    highest = -(10**9)
    for tid, second in enumerate(seconds):
        if second is None:
            continue
        number = second // SIZE
        if (number + 1) * SIZE <= highest - delay:
            late.append(tid)
        else:
            waiting[number].append(tid)
        highest = max(highest, second)
        for complete in sorted(one for one in waiting if (one + 1) * SIZE <= highest - delay):
            ended[complete] = waiting.pop(complete)
    return ended, late


def members(cut: Cut) -> list[int]:
    return [cut.first + place for place in range(cut.end - cut.first) if cut.members is None or cut.members[place]]


Seconds = st.lists(st.one_of(st.integers(0, 90), st.integers(0, 90), st.none()), max_size=40)


@given(Seconds, st.integers(0, 25), st.integers(1, 7), st.lists(st.booleans(), max_size=12))
def test_cycles_by_time_are_those_of_one_look_at_each_tuple(
    seconds: list[int | None], delay: int, look: int, restarts: list[bool]
) -> None:
    expected, late = naive(seconds, delay)
    with TemporaryDirectory() as directory:
        stream, relation = opened(Path(directory), delay)
        found: dict[int, list[int]] = {}
        record, first = CycleRecord(), 0
        usual, cuts.LOOK_ROWS = cuts.LOOK_ROWS, look
        try:
            cutter = Cutter(stream, relation, window(), first, record)
            for place, second in enumerate(seconds):
                stream.append(events([second]))
                if place < len(restarts) and restarts[place]:
                    cutter = Cutter(stream, relation, window(), first, record)
                while (cut := cutter.next(first, record)) is not None:
                    found[cut.low // SECOND // SIZE - BASE // SIZE] = members(cut)
                    first, record = cut.following, cut.record
        finally:
            cuts.LOOK_ROWS = usual
        stream.close()
    assert found == expected
    assert record.cycles == len(expected)
    assert record.late == sum(tid < record.seen for tid in late)


@given(Seconds, st.integers(0, 25))
def test_cycles_of_a_stream_that_is_there_already_are_the_same(seconds: list[int | None], delay: int) -> None:
    expected, _ = naive(seconds, delay)
    with TemporaryDirectory() as directory:
        stream, relation = opened(Path(directory), delay)
        if seconds:
            stream.append(events(seconds))
        record, first, found = CycleRecord(), 0, []
        cutter = Cutter(stream, relation, window(), first, record)
        while (cut := cutter.next(first, record)) is not None:
            found.append(members(cut))
            first, record = cut.following, cut.record
        stream.close()
    assert found == [expected[number] for number in sorted(expected)]


def test_cycles_of_rows(tmp_path: Path) -> None:
    stream, relation = opened(tmp_path, 0)
    stream.append(events([5, 4, 3, 2, 1, 0, 9, 8, 7]))
    cutter, record, first, found = (
        Cutter(stream, relation, window(by_rows=True), 1, CycleRecord()),
        CycleRecord(),
        1,
        [],
    )
    while (cut := cutter.next(first, record)) is not None:
        found.append(members(cut))
        first, record = cut.following, cut.record
    assert found == [[1, 2, 3, 4], [5, 6, 7, 8]]
    assert not cutter.may_end_by_clock

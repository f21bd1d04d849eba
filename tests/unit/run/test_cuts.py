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
from millpond.run.cuts import Cutter, Piece
from millpond.state.records import CycleRecord
from millpond.stream import StreamRelation
from millpond.stream_window import CycleWindow
from millpond.types import BOOLEAN, TIMESTAMPTZ
from tests.unit.stream.support import ManualClock, small_options

SECOND = 1_000_000
SIZE = 10
START = datetime(2024, 1, 1, tzinfo=UTC)
BASE = int(START.timestamp())


def events(seconds: list[int | None], *, ends: bool = False) -> pa.Table:
    """Events, of which the last may say that the stream ends."""
    times = [None if second is None else START + timedelta(seconds=second) for second in seconds]
    signals = [*(None if place % 2 else False for place in range(len(times) - 1)), ends][: len(times)]
    return pa.table({"at": pa.array(times, pa.timestamp("us", "UTC")), "over": pa.array(signals, pa.bool_())})


def opened(directory: Path, delay: int) -> tuple[StreamRelation, Relation]:
    columns = (Column("at", TIMESTAMPTZ), Column("over", BOOLEAN))
    options = {"timestamp": "at", "watermark": str(delay * 1000)}
    relation = Relation(7, "s", "stream", columns, options=options)
    stored = small_options(durability="memory")
    stream = StreamRelation.open(
        "s", directory / "lasting", directory / "scratch", events([]).schema, stored, clock=ManualClock()
    )
    return stream, relation


def window(by_rows: bool = False, until: str | None = None) -> CycleWindow:
    size = 4 if by_rows else SIZE * SECOND
    return CycleWindow("cycle", "s", "tid" if by_rows else "at", by_rows, size, size, until=until)


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


def members(cut: Piece) -> list[int]:
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


@given(Seconds, st.integers(0, 25), st.lists(st.booleans(), min_size=40, max_size=40), st.booleans())
def test_open_cycles_are_parts_of_those_that_are_cut(
    seconds: list[int | None], delay: int, looks: list[bool], by_rows: bool
) -> None:
    """Whenever one looks, and takes what is new: together, in order, it is what the cycle has when it is cut."""
    with TemporaryDirectory() as directory:
        stream, relation = opened(Path(directory), delay)
        record, first = CycleRecord(), 0
        cutter = Cutter(stream, relation, window(by_rows), first, record)
        taken: list[int] = []
        until = 0
        for second, looked in zip(seconds, looks, strict=False):
            stream.append(events([second]))
            while looked and (cut := cutter.next(first, record)) is not None:
                taken += members(cut.since(until))
                assert taken == members(cut)
                taken, first, until, record = [], cut.following, cut.following, cut.record
            piece = cutter.open(first, record) if looked else None
            if piece is not None:
                taken += members(piece.since(until))
                until = piece.end
        stream.close()


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


@given(Seconds, Seconds, st.integers(0, 25), st.integers(1, 7), st.booleans(), st.booleans())
def test_the_end_of_the_stream_ends_all_cycles(
    seconds: list[int | None], after: list[int | None], delay: int, look: int, by_rows: bool, restart: bool
) -> None:
    """What comes after the tuple that says so is of no cycle, nor is that tuple, however late or early it is."""
    expected, _ = naive([*seconds, 10**6], delay)
    cycles = [members for _, members in sorted(expected.items())]
    if by_rows:
        cycles = [list(range(low, min(low + 4, len(seconds)))) for low in range(0, len(seconds), 4)]
    wanted = window(by_rows, "over")
    with TemporaryDirectory() as directory:
        stream, relation = opened(Path(directory), delay)
        usual, cuts.LOOK_ROWS = cuts.LOOK_ROWS, look
        try:
            stream.append(events([*seconds, 0], ends=True))
            if after:
                stream.append(events(after))
            record, first, found = CycleRecord(), 0, []
            cutter = Cutter(stream, relation, wanted, first, record)
            while (cut := cutter.next(first, record)) is not None:
                found.append(members(cut))
                first, record = cut.following, cut.record
                if restart:
                    cutter = Cutter(stream, relation, wanted, first, record)
            assert cutter.stream_end == len(seconds)
        finally:
            cuts.LOOK_ROWS = usual
        stream.close()
    assert found == cycles

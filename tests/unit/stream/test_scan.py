"""Scans of ad hoc queries: where they end, what they hold, and what becomes of a reader that is overrun."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from millpond.errors import MillpondError, SqlState
from millpond.stream import StreamOptions, StreamRelation
from millpond.stream.limit import StreamLimit
from millpond.stream.scan import EventLimit, ScanEnd, StreamScan
from tests.unit.stream.support import ManualClock, checked_numbers, numbered, open_stream, small_options

SECOND = 1_000_000
PAUSE = ScanEnd(quiet_us=2 * SECOND)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(1_000 * SECOND)


@pytest.fixture
def stream(tmp_path: Path, clock: ManualClock) -> StreamRelation:
    return open_stream(tmp_path, small_options(durability="memory"), clock=clock)


def append(stream: StreamRelation, count: int) -> None:
    stream.append(numbered(stream.stats().end_tid, count))


def read(scan: StreamScan, rows_max: int | None = None) -> list[int]:
    """All that can be read now, which are numbers equal to their tids."""
    found: list[int] = []
    while scan.look():
        taken = scan.take(rows_max)
        found += checked_numbers(taken.chunk)
        taken.release()
        scan.passed(scan.position)
    return found


def read_or_overrun(scan: StreamScan) -> tuple[list[int], bool]:
    """The same, and whether the reader was overrun."""
    found: list[int] = []
    try:
        while scan.look():
            taken = scan.take()
            found += checked_numbers(taken.chunk)
            taken.release()
    except MillpondError as error:
        if error.sqlstate is not SqlState.STREAM_OVERRUN:
            raise
        return found, True
    return found, False


def test_a_scan_takes_what_is_there_and_what_arrives_until_a_pause(stream: StreamRelation, clock: ManualClock) -> None:
    append(stream, 5)
    clock.now_us += 60 * SECOND
    scan = StreamScan(stream, PAUSE)
    assert read(scan) == [0, 1, 2, 3, 4]
    clock.now_us += 2 * SECOND - 1
    append(stream, 2)
    assert read(scan) == [5, 6]
    clock.now_us += 2 * SECOND
    assert (scan.look(), scan.final) == (0, 7)
    append(stream, 1)
    assert read(scan) == []


def test_a_busy_reader_finds_the_pause_among_what_came_meanwhile(stream: StreamRelation, clock: ManualClock) -> None:
    scan = StreamScan(stream, PAUSE)
    for pause_s in (1, 1, 3, 1):
        clock.now_us += pause_s * SECOND
        append(stream, 10)
    assert read(scan) == list(range(20))
    assert scan.ended


def test_a_scan_from_the_end_leaves_out_what_is_there(stream: StreamRelation, clock: ManualClock) -> None:
    append(stream, 3)
    scan = StreamScan(stream, PAUSE, from_start=False)
    append(stream, 2)
    assert read(scan) == [3, 4]
    clock.now_us += 2 * SECOND
    assert read(scan) == []
    assert scan.ended


def test_a_timeout_of_zero_reads_what_is_there_now(stream: StreamRelation) -> None:
    append(stream, 3)
    scan = StreamScan(stream, ScanEnd(quiet_us=0))
    assert (read(scan), scan.ended) == ([0, 1, 2], True)


@pytest.mark.parametrize("there", [0, 4, 30])
def test_a_number_of_rows_ends_a_scan(stream: StreamRelation, there: int) -> None:
    append(stream, there)
    scan = StreamScan(stream, ScanEnd(rows=25))
    append(stream, 3)
    found = read(scan)
    append(stream, 60)
    assert found + read(scan) == list(range(25))
    assert scan.ended


def test_a_time_ends_a_scan_by_when_tuples_arrived(stream: StreamRelation, clock: ManualClock) -> None:
    scan = StreamScan(stream, ScanEnd(lasting_us=10 * SECOND))
    for _ in range(6):
        clock.now_us += 3 * SECOND
        append(stream, 1)
    assert (read(scan), scan.ended) == ([0, 1, 2], True)
    assert StreamScan(stream, ScanEnd(lasting_us=SECOND)).seconds_left() == 1.0


@pytest.mark.parametrize("kind", [pa.timestamp("us"), pa.timestamp("us", tz="UTC"), pa.date32()])
def test_an_event_ends_a_scan_before_it(tmp_path: Path, kind: pa.DataType) -> None:
    schema = pa.schema([("at", kind)])
    stream = StreamRelation.open("s", tmp_path / "a", tmp_path / "b", schema, StreamOptions(durability="memory"))
    first = datetime(2026, 1, 1, tzinfo=UTC)
    days = [(first + timedelta(days=day)).replace(tzinfo=None) for day in (0, 2, 1, 3, 2)]
    stream.append(pa.table({"at": pa.array([None, *days], pa.timestamp("us")).cast(kind, safe=False)}))
    scan = StreamScan(stream, ScanEnd(event=EventLimit("at", first + timedelta(days=3))))
    assert (scan.look(), scan.final) == (4, 4)
    scan.close()


def test_readers_that_go_together_hold_each_chunk_once(stream: StreamRelation) -> None:
    append(stream, 4)
    one, two = StreamScan(stream, PAUSE), StreamScan(stream, PAUSE)
    assert (one.look(), two.look()) == (4, 4)
    first, second = one.take(), two.take()
    assert first is second
    assert first.is_shared
    first.release()
    assert checked_numbers(second.chunk) == [0, 1, 2, 3]
    append(stream, 4)
    assert one.look() == 4
    third = one.take()
    append(stream, 4)
    assert two.look() == 8
    assert two.take() is third
    # One who is behind stops where another one is, and goes on with its chunks from there.
    late = StreamScan(stream, PAUSE)
    append(stream, 2)
    late.look()
    late.take()
    assert (late.position, two.look()) == (12, 6)


def test_an_overrun_reader_is_told_what_it_missed(stream: StreamRelation) -> None:
    scan = StreamScan(stream, PAUSE)
    append(stream, 10)
    assert read(scan) == list(range(10))
    for _ in range(80):
        append(stream, 20)
    assert scan.look()
    with pytest.raises(MillpondError, match="tuples 10 to") as caught:
        scan.take()
    assert caught.value.sqlstate is SqlState.STREAM_OVERRUN
    assert caught.value.hint is not None
    assert "on_overrun" in caught.value.hint


def test_writers_leave_what_a_blocking_reader_has_yet_to_read(stream: StreamRelation) -> None:
    scan = StreamScan(stream, PAUSE, block=True)
    capacity = stream.stats().capacity_rows
    found: list[int] = []
    for _ in range(8):
        append(stream, capacity // 2)
        found += read(scan)
    assert found == list(range(8 * (capacity // 2)))
    assert stream.stats().first_tid > 0
    scan.close()
    assert stream.followers.floor is None


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(1, 30)),
        st.tuples(st.just("pass"), st.integers(1, 3 * SECOND)),
        st.tuples(st.just("read"), st.sampled_from([0, 1])),
    ),
    max_size=30,
)


@given(STEPS, st.integers(20, 200), st.booleans())
def test_whatever_happens_a_scan_is_a_range_of_tids_or_an_overrun(
    steps: list[tuple[str, int]], capacity: int, late: bool
) -> None:
    """Two readers among writers in a small ring; arrivals alone decide where the range ends."""
    with TemporaryDirectory() as directory:
        clock = ManualClock(SECOND)
        options = StreamOptions(capacity_rows=capacity, durability="memory", segment_rows_min=5)
        stream = open_stream(Path(directory), options, clock=clock)
        append(stream, 7)
        arrivals: dict[int, int] = {}
        scans = [StreamScan(stream, PAUSE, from_start=not late) for _ in range(2)]
        found: list[list[int]] = [[], []]
        overrun = [False, False]
        started = clock.now_us
        for what, number in [*steps, ("pass", 10 * SECOND), ("read", 0), ("read", 1)]:
            if what == "append":
                end = stream.stats().end_tid
                append(stream, number)
                arrivals |= dict.fromkeys(range(end, end + number), clock.now_us)
            elif what == "pass":
                clock.now_us += number
            elif not overrun[number]:
                found_now, overrun[number] = read_or_overrun(scans[number])
                found[number] += found_now
        for place, scan in enumerate(scans):
            expected = range(scan.first, _end_by_arrivals(arrivals, started, stream.stats().end_tid))
            if overrun[place]:
                assert found[place] == list(expected)[: len(found[place])]
            else:
                assert found[place] == list(expected)
                assert scan.ended
        stream.close()


def _end_by_arrivals(arrivals: dict[int, int], started: int, end: int) -> int:
    """The first tuple after a pause, or the end."""
    last = started
    for tid, arrival in sorted(arrivals.items()):
        if arrival - last >= 2 * SECOND:
            return tid
        last = max(last, arrival)
    return end


@pytest.mark.parametrize("text", ["", "1000 rows", "1 row, 30s", "watermark 2026-01-31T12:00:00+02:00", "5 min"])
def test_limits_are_read(text: str) -> None:
    assert (StreamLimit.of(text) == StreamLimit()) is (text == "")


@pytest.mark.parametrize("text", ["10", "ten rows", "3 fortnights", "watermark soon", "rows 3"])
def test_what_is_no_limit_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        StreamLimit.of(text)


def test_a_scan_tells_how_quiet_the_stream_is_and_when_unread_tuples_press(
    stream: StreamRelation, clock: ManualClock
) -> None:
    scan = StreamScan(stream, PAUSE)
    clock.now_us += SECOND
    append(stream, 100)
    clock.now_us += SECOND // 2
    assert (scan.look(), scan.quiet_s()) == (100, 0.5)
    assert [scan.is_pressing(waiting) for waiting in (100, 249, 250)] == [False, False, True]


def test_readers_that_began_with_an_empty_stream_do_not_wait_for_each_other(stream: StreamRelation) -> None:
    idle, busy = StreamScan(stream, PAUSE), StreamScan(stream, PAUSE)
    append(stream, 3)
    assert busy.look() == 3
    taken = busy.take()
    assert checked_numbers(taken.chunk) == [0, 1, 2]
    assert read(idle) == [0, 1, 2]

"""The thread of a continuous query: when it works, what it does about errors, and how it ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from millpond.errors import MillpondError, SqlState
from millpond.run.continuous_query import ContinuousQuery, CycleCosts
from millpond.state.records import CycleRecord, QueryRecord
from millpond.stream import StreamRelation
from tests.unit.stream.support import checked_numbers, numbered, open_stream

OID, SOURCE = 7, 3
ROWS_MAX = 5


class Work:
    """What a query does, without Spark: it notes the numbers of its chunks, and fails as it is told to."""

    is_ready = True

    def __init__(self) -> None:
        self.taken: list[int] = []
        self.sizes: list[int] = []
        self.committed = QueryRecord({SOURCE: 0})
        self.errors: list[Exception] = []
        self.late_errors: list[Exception] = []

    def step(self, record: QueryRecord, sources: Mapping[int, StreamRelation]) -> QueryRecord | None:
        first = record.offsets[SOURCE]
        end = min(sources[SOURCE].stats().end_tid, first + ROWS_MAX)
        if first == end:
            return None
        if self.errors:
            raise self.errors.pop(0)
        with sources[SOURCE].hold(first, end) as chunk:
            numbers = checked_numbers(chunk)
        self.taken += numbers
        self.sizes.append(len(numbers))
        self.committed = record.advanced({SOURCE: end}, len(numbers), self.cycle_after(record))
        if self.late_errors:
            raise self.late_errors.pop(0)
        return self.committed

    def cycle_after(self, record: QueryRecord) -> CycleRecord | None:
        """Each chunk is a cycle."""
        return (record.cycle or CycleRecord()).after(done=0, seen=0, reached=0, late=0)

    @property
    def cycles(self) -> Sequence[CycleCosts]:
        return ()

    @property
    def look_again_s(self) -> float | None:
        return None

    def rest(self) -> None:
        pass

    def commit(self, oid: int, record: QueryRecord) -> None:
        assert oid == OID
        self.committed = record


@pytest.fixture
def stream(tmp_path: Path) -> StreamRelation:
    return open_stream(tmp_path)


@pytest.fixture
def work() -> Work:
    return Work()


@pytest.fixture
def query(stream: StreamRelation, work: Work) -> Iterator[ContinuousQuery]:
    made = ContinuousQuery(OID, {SOURCE: stream}, work, lambda: work.committed, work.commit, lambda: None)
    made.commit(QueryRecord({SOURCE: made.follow(SOURCE, None)}))
    yield made
    made.stop()
    made.leave()


def wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def error(sqlstate: SqlState) -> MillpondError:
    return MillpondError(sqlstate, "told to fail")


def test_it_takes_what_arrives_in_chunks(stream: StreamRelation, query: ContinuousQuery, work: Work) -> None:
    query.start()
    stream.append(numbered(0, 1))
    wait_until(lambda: query.lag == 0)
    stream.append(numbered(1, 12))
    wait_until(lambda: query.lag == 0)
    assert work.taken == list(range(13))
    assert max(work.sizes) <= ROWS_MAX
    steps = len(work.sizes)
    assert query.record == work.committed
    assert query.record == QueryRecord({SOURCE: 13}, steps, 13, 13, cycle=CycleRecord(steps, 0, 0, 0))
    assert stream.followers.floor == 13, "what was taken may be overwritten"


def test_it_ends_after_so_many_cycles_and_holds_nobody_up(stream: StreamRelation, work: Work) -> None:
    query = ContinuousQuery(OID, {SOURCE: stream}, work, lambda: work.committed, work.commit, lambda: None, 2)
    query.commit(QueryRecord({SOURCE: query.follow(SOURCE, None)}))
    stream.append(numbered(0, 3 * ROWS_MAX))
    query.start()
    wait_until(lambda: stream.followers.floor is None)
    assert query.is_over
    assert work.taken == list(range(2 * ROWS_MAX))
    query.stop()


@pytest.mark.parametrize(
    "raised",
    [error(SqlState.SERIALIZATION_FAILURE), error(SqlState.DISK_FULL), error(SqlState.INTERNAL_ERROR), OSError("x")],
)
def test_what_may_pass_is_tried_again(
    stream: StreamRelation, query: ContinuousQuery, work: Work, raised: Exception
) -> None:
    work.errors = [raised, raised]
    query.start()
    stream.append(numbered(0, 3))
    wait_until(lambda: query.lag == 0)
    assert work.taken == [0, 1, 2]
    wait_until(lambda: query.error is None)
    assert query.record.failure is None


@pytest.mark.parametrize("raised", [error(SqlState.SERIALIZATION_FAILURE), OSError("x")])
def test_what_failed_after_it_was_done_is_not_done_again(
    stream: StreamRelation, query: ContinuousQuery, work: Work, raised: Exception
) -> None:
    work.late_errors = [raised]
    query.start()
    stream.append(numbered(0, 3))
    wait_until(lambda: query.lag == 0)
    assert work.taken == [0, 1, 2]


@pytest.mark.parametrize(
    "errors",
    [
        [error(SqlState.DIVISION_BY_ZERO)],
        [error(SqlState.NOT_NULL_VIOLATION)],
        [error(SqlState.INSUFFICIENT_PRIVILEGE)],
        [error(SqlState.INTERNAL_ERROR)] * 3,
    ],
)
def test_what_will_not_pass_sets_it_aside(
    stream: StreamRelation, query: ContinuousQuery, work: Work, errors: list[Exception]
) -> None:
    work.errors = list(errors)
    query.start()
    stream.append(numbered(0, 3))
    wait_until(lambda: query.record.failure is not None)
    assert work.committed == query.record, "that is remembered"
    assert query.record.offsets == {SOURCE: 0}
    query.start()
    assert (query.lag, work.taken) == (3, []), "it has to be told to go on"
    query.stop()
    query.commit(QueryRecord({SOURCE: 0}))
    query.start()
    wait_until(lambda: query.lag == 0)
    assert work.taken == [0, 1, 2]


def test_it_stops_at_any_moment(stream: StreamRelation, query: ContinuousQuery, work: Work) -> None:
    """Also when it is just about to wait; nothing is lost."""
    written = threading.Event()

    def write() -> None:
        for first in range(100):
            stream.append(numbered(first, 1))
        written.set()

    writer = threading.Thread(target=write)
    writer.start()
    while not written.is_set():
        query.start()
        query.stop()
    writer.join()
    query.start()
    wait_until(lambda: query.lag == 0)
    assert work.taken == list(range(100))

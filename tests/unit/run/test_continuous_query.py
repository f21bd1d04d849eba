"""The thread of a continuous query: when it works, what it does about errors, and how it ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from millpond.errors import MillpondError, SqlState
from millpond.run.continuous_query import ContinuousQuery
from millpond.state.records import QueryRecord
from millpond.stream import Chunk, StreamRelation
from tests.unit.stream.support import checked_numbers, numbered, open_stream

OID, SOURCE = 7, 3
ROWS_MAX = 5


class Work:
    """What a query does, without Spark: it notes the numbers of its chunks, and fails as it is told to."""

    def __init__(self) -> None:
        self.taken: list[int] = []
        self.sizes: list[int] = []
        self.committed = QueryRecord({SOURCE: 0})
        self.errors: list[Exception] = []
        self.late_errors: list[Exception] = []

    def take(self, record: QueryRecord, chunks: Mapping[int, Chunk]) -> QueryRecord:
        if self.errors:
            raise self.errors.pop(0)
        numbers = checked_numbers(chunks[SOURCE])
        self.taken += numbers
        self.sizes.append(len(numbers))
        self.committed = record.advanced({SOURCE: chunks[SOURCE].end}, len(numbers))
        if self.late_errors:
            raise self.late_errors.pop(0)
        return self.committed

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
    made = ContinuousQuery(
        OID, {SOURCE: stream}, work.take, lambda: work.committed, work.commit, lambda: None, ROWS_MAX
    )
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
    assert query.record == work.committed == QueryRecord({SOURCE: 13}, len(work.sizes), 13, 13)
    assert stream.followers.floor == 13, "what was taken may be overwritten"


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

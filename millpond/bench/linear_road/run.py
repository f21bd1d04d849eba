"""One run of Linear Road on a pond of its own: as fast as it goes, or at a multiple of real time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType

import numpy as np
import pyarrow as pa

import millpond
from millpond.bench.jobs import jobs_started
from millpond.bench.linear_road.queries import STREAM, TABLES
from millpond.bench.linear_road.road import SCHEMA
from millpond.bench.stopwatch import Spent, Stopwatch
from millpond.run.continuous_query import ContinuousQuery, CycleCosts

CAPACITY = 2_000_000
"""Rows that the stream holds: who writes ahead of the query waits."""

_LOOK_INTERVAL_S = 0.005
_WAIT_S = 3600.0
_NOTHING = -1
"""The kind of the row that ends the last minute."""


@dataclass(frozen=True)
class Driven:
    """What a run took, and each of its cycles."""

    spent: Spent
    cycles: Sequence[CycleCosts]
    rows: int
    jobs_a_cycle: float

    @property
    def post_cut_ms(self) -> list[float]:
        return [1000 * one.post_cut_s for one in self.cycles]

    @property
    def work_ms(self) -> list[float]:
        """What cycles took before and after their cut."""
        return [1000 * (one.post_cut_s + one.early_s) for one in self.cycles]


class RoadRun:
    """A pond with the stream, the tables and the query of a run over the input of some minutes."""

    def __init__(self, minutes: Sequence[pa.Table], query: str, history: pa.Table | None = None) -> None:
        self._minutes = [_with_moments(rows) for rows in minutes]
        self._query, self._history = query, history
        self._used = ExitStack()
        self.sent: dict[int, float] = {}

    def __enter__(self) -> RoadRun:
        self.pond = self._used.enter_context(millpond.connect())
        self.pond.execute(STREAM.format(capacity=CAPACITY))
        self.pond.execute(TABLES)
        if self._history is not None:
            self.pond.insert("paid", self._history)
        self.pond.execute(self._query)
        # A query that is there before the rows, as most are, plans its work meanwhile.
        query = self._found()
        _wait_until(query, lambda: query.is_ready)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._used.close()

    def stress(self) -> Driven:
        """All input as fast as the query takes it."""
        query, jobs, watch = self._found(), jobs_started(self.pond), Stopwatch()
        for rows in self._minutes:
            self.pond.insert("report", rows)
        return self._ended(query, jobs, watch)

    def real_time(self, factor: float) -> Driven:
        """The input of each second when it is due; `sent` says when that was."""
        query, jobs, watch = self._found(), jobs_started(self.pond), Stopwatch()
        begun = time.perf_counter() - self._minutes[0].column("time")[0].as_py() / factor
        for rows in self._minutes:
            seconds = rows.column("time").to_numpy()
            for second, first, end in _runs(seconds):
                time.sleep(max(0.0, begun + second / factor - time.perf_counter()))
                self.sent[second] = time.perf_counter()
                self.pond.insert("report", rows.slice(first, end - first))
        return self._ended(query, jobs, watch)

    def _ended(self, query: ContinuousQuery, jobs: int, watch: Stopwatch) -> Driven:
        self.pond.insert("report", _end_row(self._minutes[-1]))
        _wait_until(query, lambda: query.is_over)
        spent, cycles = watch.spent(), list(query.cycles)
        rows = sum(one.num_rows for one in self._minutes)
        return Driven(spent, cycles, rows, (jobs_started(self.pond) - jobs) / len(cycles))

    def _found(self) -> ContinuousQuery:
        found = self.pond.services.queries.find(self.pond.services.catalog.snapshot.relations["road"].oid)
        assert found is not None
        return found


def _wait_until(query: ContinuousQuery, holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _WAIT_S
    while not holds():
        if query.error is not None or query.record.failure is not None:
            raise RuntimeError(f"the query failed: {query.error or query.record.failure}")
        if time.monotonic() > deadline:
            raise TimeoutError(f"the query has not gone on within {_WAIT_S:g} s")
        time.sleep(_LOOK_INTERVAL_S)


def _with_moments(rows: pa.Table) -> pa.Table:
    """Input as the stream takes it: with its second as a time."""
    seconds = rows.column("time").to_numpy().astype(np.int64)
    return rows.append_column("at", pa.array(seconds * 1_000_000).cast(pa.timestamp("us", "UTC")))


def _end_row(last: pa.Table) -> pa.Table:
    """A row after the last minute, which says that there is none left of it."""
    end = 60 * (last.column("time")[0].as_py() // 60 + 1)
    row = dict.fromkeys(SCHEMA.names) | {"type": _NOTHING, "time": end}
    return _with_moments(pa.Table.from_pylist([row], schema=SCHEMA))


def _runs(seconds: np.ndarray[tuple[int, ...], np.dtype[np.int32]]) -> list[tuple[int, int, int]]:
    """Where the rows of each second begin and end.

    >>> _runs(np.array([3, 3, 5], dtype=np.int32))
    [(3, 0, 2), (5, 2, 3)]
    """
    firsts = np.flatnonzero(np.r_[True, seconds[1:] != seconds[:-1]])
    ends = np.r_[firsts[1:], len(seconds)]
    return [(int(seconds[first]), int(first), int(end)) for first, end in zip(firsts, ends, strict=True)]

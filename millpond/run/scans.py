"""The scans of one query, a chunk at a time from whichever stream has one, until all streams have ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from millpond import interrupt
from millpond.relation import ARRIVAL_TIMESTAMP
from millpond.stream.scan import StreamScan
from millpond.stream.shared_chunks import SharedChunk
from millpond.values.arrays import Column, pc


@dataclass(frozen=True)
class Pace:
    """When to take a chunk, of at most `rows_max` tuples: with so many of them, when the first of fewer has waited so
    long, or when none has arrived for a while."""

    rows: int
    patience_s: float
    quiet_s: float
    rows_max: int | None = None


@dataclass
class ScanCosts:
    """What scans did, and how long their chunks were worked on, for EXPLAIN ANALYZE. Lags are of tuples that arrived
    while the query ran."""

    measure_lag: bool = False
    chunks: int = 0
    shared_chunks: int = 0
    tuples: int = 0
    lag_us_max: int = 0
    lag_us_sum: int = 0
    lag_tuples: int = 0
    stream_s: float = 0.0

    def add(self, scan: StreamScan, taken: SharedChunk) -> None:
        self.chunks += 1
        self.shared_chunks += taken.is_shared
        self.tuples += taken.chunk.rows
        if self.measure_lag:
            arrivals: Column = taken.chunk.read([ARRIVAL_TIMESTAMP.name]).column(0).cast(pa.int64())
            arrived = arrivals.filter(pc.greater_equal(arrivals, scan.started_us))
            if len(arrived):
                now_us = scan.stream.now_us()
                self.lag_tuples += len(arrived)
                self.lag_us_sum += now_us * len(arrived) - pc.sum(arrived).as_py()
                self.lag_us_max = max(self.lag_us_max, now_us - pc.min(arrived).as_py())


@dataclass
class Scans:
    """The scans of a query by the oid of their stream, read from one thread."""

    by_stream: Mapping[int, StreamScan]
    pace: Pace
    costs: ScanCosts = field(default_factory=ScanCosts)

    def __post_init__(self) -> None:
        self._arrived = threading.Event()
        self._first_seen: dict[int, float] = {}
        scans = self.by_stream.values()
        self._stop_listening = [scan.stream.arrivals.listen(self._arrived.set) for scan in scans]

    def chunks(self) -> Iterator[tuple[int, SharedChunk]]:
        """Each chunk with its stream, in place until the reader releases it."""
        while not all(scan.ended for scan in self.by_stream.values()):
            interrupt.check()
            self._arrived.clear()
            taken = next((item for oid, scan in self.by_stream.items() if (item := self._taken(oid, scan))), None)
            if taken is not None:
                yield taken
            elif not all(scan.ended for scan in self.by_stream.values()):
                self._arrived.wait(self._wait_s())

    def passed(self) -> None:
        """What was taken is no longer needed: writers that wait for this query may overwrite it."""
        for scan in self.by_stream.values():
            scan.passed(scan.position)

    def close(self) -> None:
        for stop in self._stop_listening:
            stop()
        for scan in self.by_stream.values():
            scan.close()

    def _taken(self, oid: int, scan: StreamScan) -> tuple[int, SharedChunk] | None:
        waiting = scan.look()
        if not waiting:
            return None
        if scan.final is None and self._is_better_later(oid, scan, waiting):
            return None
        self._first_seen.pop(oid, None)
        taken = scan.take(self.pace.rows_max)
        self.costs.add(scan, taken)
        return oid, taken

    def _is_better_later(self, oid: int, scan: StreamScan, waiting: int) -> bool:
        """Whether more tuples may soon be worth the same job, and none will be overwritten until then."""
        first_seen = self._first_seen.setdefault(oid, time.monotonic())
        return (
            waiting < self.pace.rows
            and time.monotonic() - first_seen < self.pace.patience_s
            and scan.quiet_s() < self.pace.quiet_s
            and not scan.is_pressing(waiting)
        )

    def _wait_s(self) -> float:
        """Until something is to be done even if nothing arrives, or the statement may have been canceled."""
        until = [scan.seconds_left() for scan in self.by_stream.values() if scan.final is None]
        until += [first + self.pace.patience_s - time.monotonic() for first in self._first_seen.values()]
        known = [max(0.001, seconds) for seconds in until if seconds is not None]
        return min([interrupt.LOOK_INTERVAL_S, *known])

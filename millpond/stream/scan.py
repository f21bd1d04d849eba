"""The scan of an ad hoc query: from a tuple of the stream on, until nothing has arrived for a while or a limit is met.

Where it ends is decided by when tuples arrived, not by when the reader looked: a reader that was busy finds the pause
among the tuples that came meanwhile, and leaves those after it to the next query.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa

from millpond.relation import ARRIVAL_TIMESTAMP
from millpond.stream.relation import StreamRelation
from millpond.stream.shared_chunks import SharedChunk
from millpond.values.arrays import Column, pc

PRESSING = 0.25
"""A reader that waits for more than this part of the ring to be unread may well be overrun."""


@dataclass(frozen=True)
class EventLimit:
    """The scan ends before the first tuple whose `column` is `at` or later."""

    column: str
    at: datetime


@dataclass(frozen=True)
class ScanEnd:
    """What ends a scan, whichever comes first: a pause, a number of tuples, a time after its start, or an event's
    time. None is for what does not."""

    quiet_us: int | None = None
    rows: int | None = None
    lasting_us: int | None = None
    event: EventLimit | None = None


class StreamScan:
    """One reader's way through a stream: from its end on or, with `from_start`, with all that the ring holds, which is
    held from now on. With `block`, writers wait for it rather than overwrite what it has not read."""

    def __init__(self, stream: StreamRelation, end: ScanEnd, *, from_start: bool = True, block: bool = False) -> None:
        self.stream = stream
        self.started_us = self._last_us = stream.now_us()
        self.final: int | None = None
        self._end = end
        self._opening = stream.shared_chunks.take_all() if from_start else None
        self._begin = int(stream.stats().end_tid if self._opening is None else self._opening.chunk.end)
        self.first = self.position = self._seen = (
            self._begin if self._opening is None else int(self._opening.chunk.first)
        )
        self._follower = stream.follow(self._begin) if block else None

    @property
    def ended(self) -> bool:
        """Whether everything up to the end was read."""
        return self.final is not None and self.position >= self.final

    def look(self) -> int:
        """How many tuples can be read now. If `final` is known after it, no others will follow."""
        if self.final is None:
            now_us, stats = self.stream.now_us(), self.stream.stats()
            if stats.end_tid > self._seen:
                self._examine(stats.end_tid, stats.last_arrival_us)
            if self.final is None and self._is_over(now_us):
                self.final = self._seen
        return (self._seen if self.final is None else self.final) - self.position

    def quiet_s(self) -> float:
        """How long nothing has arrived."""
        return (self.stream.now_us() - self._last_us) / 1e6

    def is_pressing(self, waiting: int) -> bool:
        """Whether so many unread tuples are a good part of the ring."""
        stats = self.stream.stats()
        of_bytes = stats.bytes_held * waiting / max(1, stats.rows_held) / stats.capacity_bytes
        return max(waiting / stats.capacity_rows, of_bytes) >= PRESSING

    def seconds_left(self) -> float | None:
        """How long to wait until the scan is over if nothing arrives; None for ever."""
        now_us = self.stream.now_us()
        ends = [
            start + length
            for start, length in ((self._last_us, self._end.quiet_us), (self.started_us, self._end.lasting_us))
            if length is not None
        ]
        return max(0.0, (min(ends) - now_us) / 1e6) if ends else None

    def take(self, rows_max: int | None = None) -> SharedChunk:
        """The next tuples that a look has found, in place until they are released. The first are all that the scan
        began with, however many."""
        end = self._seen if self.final is None else self.final
        end = end if rows_max is None else min(end, self.position + rows_max)
        taken = self._taken_opening() or self.stream.shared_chunks.take(self.position, end)
        self.position = int(taken.chunk.end)
        return taken

    def _taken_opening(self) -> SharedChunk | None:
        """What the scan began with, unless it is empty or ends beyond a limit."""
        opening, self._opening = self._opening, None
        if opening is not None and not opening.chunk.first < opening.chunk.end <= self._seen:
            opening.release()
            return None
        return opening

    def passed(self, tid: int) -> None:
        """Tuples before `tid` are no longer needed: their place in the ring is free. Writers may have waited for that,
        so a pause counts from here."""
        if self._follower is not None and tid > self._follower.position:
            self._last_us = max(self._last_us, self.stream.now_us())
            self._follower.advance(tid)

    def close(self) -> None:
        if self._opening is not None:
            self._opening.release()
            self._opening = None
        if self._follower is not None:
            self._follower.close()

    # -- the end -------------------------------------------------------------------------------------------------

    def _is_over(self, now_us: int) -> bool:
        quiet, lasting = self._end.quiet_us, self._end.lasting_us
        return (quiet is not None and now_us - self._last_us >= quiet) or (
            lasting is not None and now_us - self.started_us >= lasting
        )

    def _examine(self, end: int, last_us: int) -> None:
        """Look through tuples that arrived since the last look for the one that is beyond the end."""
        limit = end if self._end.rows is None else min(end, self.first + self._end.rows)
        beyond = self._beyond(limit, last_us)
        if beyond is not None:
            self.final = beyond
        elif self._end.rows is not None and limit == self.first + self._end.rows:
            self.final = limit
        self._seen = limit if self.final is None else self.final
        self._last_us = max(self._last_us, last_us)

    def _beyond(self, end: int, last_us: int) -> int | None:
        """The first new tuple that came after the end, if one may have."""
        quiet, lasting, event = self._end.quiet_us, self._end.lasting_us, self._end.event
        paused = quiet is not None and last_us - self._last_us >= quiet
        late = lasting is not None and last_us - self.started_us >= lasting
        if not (paused or late or event is not None):
            return None
        with self.stream.hold(self._seen, end) as chunk:
            names = [ARRIVAL_TIMESTAMP.name] if event is None else list({ARRIVAL_TIMESTAMP.name, event.column})
            rows = chunk.read(names)
        outside = self._outside(_microseconds(rows[ARRIVAL_TIMESTAMP.name]))
        if event is not None:
            outside |= _at_or_after(rows[event.column], event.at)
        return self._seen + int(outside.argmax()) if outside.any() else None

    def _outside(self, arrivals: np.ndarray[Any, np.dtype[np.int64]]) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which tuples came after a pause, or too late. What was there before the scan began is never either."""
        quiet, lasting = self._end.quiet_us, self._end.lasting_us
        outside = np.zeros(len(arrivals), np.bool_)
        if quiet is not None:
            before = np.maximum(np.concatenate(([self._last_us], arrivals[:-1])), self._last_us)
            outside |= arrivals - before >= quiet
        if lasting is not None:
            outside |= arrivals - self.started_us >= lasting
        outside[: max(0, self._begin - self._seen)] = False
        return outside


def _microseconds(column: Column) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.asarray(column.cast(pa.int64()), np.int64)


def _at_or_after(column: Column, moment: datetime) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which of the values, dates or timestamps with or without a zone, are not before a moment in UTC."""
    stamps = column.cast(pa.timestamp("us"))
    at = pa.scalar(moment.astimezone(UTC).replace(tzinfo=None), pa.timestamp("us"))
    return np.asarray(pc.fill_null(pc.greater_equal(stamps, at), fill_value=False), np.bool_)

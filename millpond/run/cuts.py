"""Where a stream is cut into cycles: a tuple late enough that none of the cycle may come after it ends the cycle, and
so does one that says that the stream ends, which is of no cycle.

Of a cycle by time only that column of each tuple is looked at before the cut, as tuples arrive. Which tuples are of a
cycle follows from their order alone, however they were looked at; those that come after their cycle are counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from millpond.relation import ARRIVAL_TIMESTAMP, Relation
from millpond.run.axis import new_axis, places_of
from millpond.state.records import CycleRecord
from millpond.stream import StreamRelation
from millpond.stream_window import FOREVER, CycleWindow
from millpond.values.arrays import pc

LOOK_ROWS = 200_000
"""Tuples that are looked at before it is asked again whether a cycle is complete."""

Places = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
_NOWHERE = -FOREVER
"""The place of a tuple that has none, and before all others."""


@dataclass(frozen=True)
class Piece:
    """Tuples of a cycle: from where to where it is on the axis, and which of those from `first` on are of it; all are
    if there are no `members`."""

    low: int
    high: int
    first: int
    end: int
    members: Mask | None

    def read(self, stream: StreamRelation, columns: Sequence[str]) -> pa.Table:
        """The tuples, with some of their columns."""
        with stream.hold(self.first, self.end) as chunk:
            tuples = chunk.read(columns)
        return tuples if self.members is None else _picked(tuples, self.members)

    def since(self, tid: int) -> Piece:
        """Those from a tuple on."""
        first = min(max(tid, self.first), self.end)
        return Piece(
            self.low, self.high, first, self.end, None if self.members is None else self.members[first - self.first :]
        )


@dataclass(frozen=True)
class Cut(Piece):
    """A cycle that is complete. `following` is the first tuple that later cycles need, `record` where the query is
    then; `complete_us` is when the tuple arrived that ended it, None if the clock did."""

    following: int
    record: CycleRecord
    complete_us: int | None = None


def _picked(tuples: pa.Table, members: Mask) -> pa.Table:
    """The tuples that are members. Mostly they stand side by side, and nothing is copied."""
    places = np.flatnonzero(members)
    if len(places) and places[-1] - places[0] + 1 == len(places):
        return tuples.slice(int(places[0]), len(places))
    return tuples.filter(pa.array(members))


class Cutter:
    """Cuts a stream from the tuple `first` on, after the cycles of a record."""

    def __init__(
        self, stream: StreamRelation, relation: Relation, window: CycleWindow, first: int, record: CycleRecord
    ) -> None:
        self._stream, self._window = stream, window
        self._axis = new_axis(stream, relation, window.column, first)
        self._first, self._reached = first, record.reached
        self._places: Places = np.zeros(0, np.int64)
        self._before: Places = np.zeros(0, np.int64)
        self._arrived: Places = np.zeros(0, np.int64)
        self._found: tuple[tuple[int, int, int], Mask] | None = None
        self._looked_for_end = first
        self.stream_end: int | None = None
        """The tuple that ends the stream, once it was seen."""

    def next(self, first: int, record: CycleRecord) -> Cut | None:
        """The next cycle that is complete, after those of the record, which was committed."""
        if self._window.by_rows:
            self._look_for_end(int(self._stream.stats().end_tid))
            return self._next_rows(first, record)
        self._forget(first)
        while True:
            found = self._next_time(record)
            if found is not None or not self._look_on():
                return found

    def open(self, first: int, record: CycleRecord) -> Piece | None:
        """What has come of the cycle after those of the record, if none can come before it any more."""
        if self._window.by_rows:
            held = self._looked_for_end if self.stream_end is None else self.stream_end
            end = min(held, first + self._window.size)
            return Piece(first, first + self._window.size, first, end, None) if end > first else None
        waiting = self._waiting(record)
        if not waiting.any():
            return None
        low = self._low(waiting)
        if self._axis.is_of_events and self._reached - self._axis.delay_us < low:
            return None
        high = low + self._window.size
        return Piece(low, high, self._first, self._first + len(self._places), waiting & (self._places < high))

    @property
    def may_end_by_clock(self) -> bool:
        """Whether tuples wait for a cycle to end, which time alone may do."""
        return not self._window.by_rows and len(self._places) > 0

    def _next_rows(self, first: int, record: CycleRecord) -> Cut | None:
        """The last cycle of a stream that ends may have fewer rows; its bounds are those that it was to have."""
        high, held = first + self._window.size, self._looked_for_end
        end = high
        if self.stream_end is not None:
            held, end = self.stream_end, min(high, max(self.stream_end, first + 1))
        if held < end:
            return None
        with self._stream.hold(end - 1, end) as chunk:
            complete_us = int(places_of(chunk, ARRIVAL_TIMESTAMP.name)[0].as_py())
        done = record.after(done=end, seen=end, reached=end, late=0)
        return Cut(first, high, first, end, None, end, done, complete_us)

    def _look_for_end(self, until: int) -> int:
        """Look at the tuples up to there for one that ends the stream; where that is, if there is one."""
        signal, first = self._window.until, self._looked_for_end
        if signal is not None and self.stream_end is None and first < until:
            with self._stream.hold(first, until) as chunk:
                found = pc.index(chunk.read([signal]).column(0), pa.scalar(True)).as_py()
            self.stream_end = None if found < 0 else first + found
        self._looked_for_end = max(first, until)
        return until if self.stream_end is None else min(until, self.stream_end)

    # -- by time -----------------------------------------------------------------------------------------------------

    def _look_on(self) -> bool:
        """Look at some more tuples; whether there are any."""
        axis, end = self._axis, int(self._stream.stats().end_tid)
        if axis.end >= end or self.stream_end is not None:
            return False
        until = self._look_for_end(min(end, axis.end + LOOK_ROWS))
        if until == axis.end:
            return True
        with self._stream.hold(axis.end, until) as chunk:
            places = places_of(chunk, self._window.column).fill_null(_NOWHERE).to_numpy()
            self._arrived = np.r_[self._arrived, places_of(chunk, ARRIVAL_TIMESTAMP.name).to_numpy()]
        before = np.maximum.accumulate(np.r_[self._reached, places])
        self._reached = int(before[-1])
        self._places, self._before = np.r_[self._places, places], np.r_[self._before, before[:-1]]
        axis.advance(until)
        return True

    def _next_time(self, record: CycleRecord) -> Cut | None:
        """The cycle of the first place that waits. A tuple is in time while what came before it has not ended its
        cycle."""
        waiting = self._waiting(record)
        position = self._axis.position() if self.stream_end is None else FOREVER
        if position is None or not waiting.any():
            return None
        low = self._low(waiting)
        high = low + self._window.size
        if position < high:
            return None
        end, complete_us = self._end(high + self._axis.delay_us)
        members = waiting[:end] & (self._places[:end] < high)
        later = np.flatnonzero(waiting & (self._places >= high))
        following = int(later[0]) if len(later) else end
        reached = max(record.reached, int(self._places[:following].max(initial=_NOWHERE)))
        seen = slice(max(0, record.seen - self._first), end)
        late = ~waiting[seen] & (self._places[seen] > _NOWHERE)
        done = record.after(done=high, seen=self._first + end, reached=reached, late=int(late.sum()))
        return Cut(low, high, self._first, self._first + end, members, self._first + following, done, complete_us)

    def _waiting(self, record: CycleRecord) -> Mask:
        """Which tuples are of cycles to come; the same as long as no more were looked at."""
        looked = (self._first, len(self._places), record.done)
        if self._found is None or self._found[0] != looked:
            size = self._window.size
            in_time = (self._places // size + 1) * size > self._before - self._axis.delay_us
            self._found = (looked, in_time & (self._places >= record.done) & (self._places > _NOWHERE))
        return self._found[1]

    def _low(self, waiting: Mask) -> int:
        """Where the cycle begins that comes first."""
        return int(self._places[waiting].min()) // self._window.size * self._window.size

    def _end(self, place: int) -> tuple[int, int | None]:
        """How many tuples there are up to the first that ends a cycle, and when that arrived; or all if the clock
        did."""
        after = np.maximum(self._before, self._places) if self._axis.is_of_events else self._places
        ending = int(np.searchsorted(after, place))
        if ending == len(self._places):
            return ending, None
        return ending + 1, int(self._arrived[ending])

    def _forget(self, first: int) -> None:
        """Tuples before `first` are done with."""
        gone = first - self._first
        if gone > 0:
            self._places, self._before, self._first = self._places[gone:], self._before[gone:], first
            self._arrived = self._arrived[gone:]

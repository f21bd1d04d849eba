"""Where a stream is cut into cycles: a tuple late enough that none of the cycle may come after it ends the cycle.

Of a cycle by time only that column of each tuple is looked at before the cut, as tuples arrive. Which tuples are of a
cycle follows from their order alone, however they were looked at; those that come after their cycle are counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from millpond.relation import Relation
from millpond.run.axis import new_axis, places_of
from millpond.state.records import CycleRecord
from millpond.stream import StreamRelation
from millpond.stream_window import FOREVER, CycleWindow

LOOK_ROWS = 200_000
"""Tuples that are looked at before it is asked again whether a cycle is complete."""

Places = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
_NOWHERE = -FOREVER
"""The place of a tuple that has none, and before all others."""


@dataclass(frozen=True)
class Cut:
    """A cycle: from where to where it is on the axis, and which of the tuples from `first` on are of it; all are if
    there are no `members`. `following` is the first tuple that later cycles need, `record` where the query is then."""

    low: int
    high: int
    first: int
    end: int
    members: Mask | None
    following: int
    record: CycleRecord


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

    def next(self, first: int, record: CycleRecord) -> Cut | None:
        """The next cycle that is complete, after those of the record, which was committed."""
        if self._window.by_rows:
            return self._next_rows(first, record)
        self._forget(first)
        while True:
            found = self._next_time(record)
            if found is not None or not self._look_on():
                return found

    @property
    def may_end_by_clock(self) -> bool:
        """Whether tuples wait for a cycle to end, which time alone may do."""
        return not self._window.by_rows and len(self._places) > 0

    def _next_rows(self, first: int, record: CycleRecord) -> Cut | None:
        end = first + self._window.size
        if int(self._stream.stats().end_tid) < end:
            return None
        return Cut(first, end, first, end, None, end, record.after(done=end, seen=end, reached=end, late=0))

    # -- by time -----------------------------------------------------------------------------------------------------

    def _look_on(self) -> bool:
        """Look at some more tuples; whether there are any."""
        axis, end = self._axis, int(self._stream.stats().end_tid)
        if axis.end >= end:
            return False
        until = min(end, axis.end + LOOK_ROWS)
        with self._stream.hold(axis.end, until) as chunk:
            places = places_of(chunk, self._window.column).fill_null(_NOWHERE).to_numpy()
        before = np.maximum.accumulate(np.r_[self._reached, places])
        self._reached = int(before[-1])
        self._places, self._before = np.r_[self._places, places], np.r_[self._before, before[:-1]]
        axis.advance(until)
        return True

    def _next_time(self, record: CycleRecord) -> Cut | None:
        """The cycle of the first place that waits. A tuple is in time while what came before it has not ended its
        cycle."""
        size, delay = self._window.size, self._axis.delay_us
        in_time = (self._places // size + 1) * size > self._before - delay
        waiting = in_time & (self._places >= record.done) & (self._places > _NOWHERE)
        position = self._axis.position()
        if position is None or not waiting.any():
            return None
        low = int(self._places[waiting].min()) // size * size
        high = low + size
        if position < high:
            return None
        end = self._end(high + delay)
        members = waiting[:end] & (self._places[:end] < high)
        later = np.flatnonzero(waiting & (self._places >= high))
        following = int(later[0]) if len(later) else end
        reached = max(record.reached, int(self._places[:following].max(initial=_NOWHERE)))
        seen = slice(max(0, record.seen - self._first), end)
        late = ~waiting[seen] & (self._places[seen] > _NOWHERE)
        done = record.after(done=high, seen=self._first + end, reached=reached, late=int(late.sum()))
        return Cut(low, high, self._first, self._first + end, members, self._first + following, done)

    def _end(self, place: int) -> int:
        """How many tuples there are up to the first that ends a cycle, or all if the clock did."""
        after = np.maximum(self._before, self._places) if self._axis.is_of_events else self._places
        ending = int(np.searchsorted(after, place))
        return min(len(self._places), ending + 1)

    def _forget(self, first: int) -> None:
        """Tuples before `first` are done with."""
        gone = first - self._first
        if gone > 0:
            self._places, self._before, self._first = self._places[gone:], self._before[gone:], first

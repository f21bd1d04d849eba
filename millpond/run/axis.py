"""Where the rows of a stream are on the axis of its windows: how far it reaches, and what arrived where.

Nothing is read but one column of each tuple, once; a view asks which of its windows are complete, and which have
changed since it computed them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from millpond.plan.pipelines import StreamPipeline
from millpond.relation import ARRIVAL_TIMESTAMP, TID, Relation
from millpond.state.records import SavedAxis, StateRecord
from millpond.stream import Chunk, StreamRelation
from millpond.stream_window import FOREVER
from millpond.values.arrays import Column, pc

REMEMBERED = 256
"""Arrivals that are told apart. What is asked about older ones gets the answer that costs a computation too many."""


Places = npt.NDArray[np.int64]
OnEvents = Callable[[Places, Places], None]
"""Told of the places of events, and up to where the axis was complete before each."""


@dataclass(frozen=True)
class Span:
    """The lowest and the highest place of some rows on the axis."""

    low: int
    high: int

    def and_(self, other: Span | None) -> Span:
        return self if other is None else Span(min(self.low, other.low), max(self.high, other.high))


@dataclass(frozen=True)
class _Arrival:
    first: int
    end: int
    span: Span | None


@dataclass
class Axis:
    """The axis of one stream and column, known up to the tuple `end`; `delay_us` is how late an event may be. Rows
    without a value of a `nullable` column are nowhere. `taken` is how far the rows reach that its state has taken."""

    stream: StreamRelation
    column: str
    nullable: bool
    delay_us: int
    idle_us: int | None
    end: int
    span: Span | None = None
    reached: int | None = None
    taken: int | None = None
    on_events: dict[object, OnEvents] = field(default_factory=dict)
    _arrivals: deque[_Arrival] = field(default_factory=lambda: deque(maxlen=REMEMBERED))

    @property
    def saved(self) -> SavedAxis | None:
        """What has to survive a restart."""
        return None if self.span is None else SavedAxis(self.span.low, self.span.high, self.reached, self.taken)

    def advance(self, end: int) -> None:
        """Look at the tuples up to `end`."""
        if end <= self.end:
            return
        places = self._places(end)
        span = span_of(places)
        if self.on_events and self.is_of_events:
            self._tell(places)
        self._arrivals.append(_Arrival(self.end, end, span))
        self.end = end
        if span is not None:
            self.span = span.and_(self.span)

    def _places(self, end: int) -> Column:
        """The places of the tuples up to `end`, in order. Tids need not be read: the first and the last will do."""
        if self.column == TID.name:
            return pa.chunked_array([pa.array([self.end, end - 1], pa.int64())])
        with self.stream.hold(self.end, end) as chunk:
            return places_of(chunk, self.column)

    def _tell(self, places: Column) -> None:
        """Tell who wants to know of each event, and up to where the axis was complete when it came."""
        events = places.drop_null().to_numpy()
        complete = self.complete_before(events, None if self.span is None else self.span.high)
        for listener in self.on_events.values():
            listener(events, complete)

    def complete_before(self, events: Places, high: int | None) -> Places:
        """Up to where the axis was complete when each of some events came, after others up to `high`."""
        before = -FOREVER if high is None else high
        return np.maximum.accumulate(np.r_[before, events])[:-1] - self.delay_us

    @property
    def is_of_events(self) -> bool:
        """Whether rows may come in another order than that of the axis."""
        return self.column not in (TID.name, ARRIVAL_TIMESTAMP.name)

    def position(self) -> int | None:
        """Up to where the axis is complete: the tid to come, the time, or the newest event less what may be late. None
        before the first row."""
        if self.column == TID.name:
            return self.end
        if self.span is None:
            return None
        if self.column == ARRIVAL_TIMESTAMP.name:
            return self.stream.now_us()
        position = self._event_position(self.span)
        self.reached = position if self.reached is None else max(position, self.reached)
        return self.reached

    def newest(self) -> int | None:
        """The place that the stream has reached, complete or not."""
        if self.column == TID.name:
            return self.end - 1 if self.end else None
        if self.column == ARRIVAL_TIMESTAMP.name and self.span is not None:
            return self.stream.now_us()
        return None if self.span is None else self.span.high

    def _event_position(self, span: Span) -> int:
        """An idle stream does not hold windows open: time goes on by the clock."""
        quiet_us = self.stream.now_us() - self.stream.stats().last_arrival_us
        if self.idle_us is not None and quiet_us >= self.idle_us:
            return span.high + quiet_us
        return span.high - self.delay_us

    def is_within(self, end: int, low: int, high: int) -> bool:
        """Whether all tuples after `end` are known to be in [low, high). Tids are cut to it."""
        if self.column == TID.name:
            return True
        newer = [one for one in self._arrivals if one.end > end]
        if self.nullable or not newer or newer[0].first > end:
            return False
        return all(one.span is not None and low <= one.span.low <= one.span.high < high for one in newer)

    def changed_since(self, end: int, low: int, high: int) -> bool:
        """Whether tuples after `end` are in [low, high)."""
        newer = [one for one in self._arrivals if one.end > end]
        spans = [self.span] if newer and newer[0].first > end else [one.span for one in newer]
        return any(one is not None and one.low < high and one.high >= low for one in spans)


def open_axis(stream: StreamRelation, pipeline: StreamPipeline, record: StateRecord) -> Axis:
    """The axis of a pipeline's window, known as far as its state has taken the stream."""
    assert pipeline.window is not None
    oid = pipeline.stream.oid
    axis = new_axis(stream, pipeline.stream, pipeline.window.column, record.offsets[oid])
    saved = record.axes.get(oid)
    if saved is not None:
        axis.span, axis.reached, axis.taken = Span(saved.low, saved.high), saved.reached, saved.taken
    return axis


def new_axis(stream: StreamRelation, relation: Relation, column: str, first: int) -> Axis:
    """The axis of a column of a stream, whose tuples from `first` on are to be looked at."""
    options, declared = relation.options, relation.column(column)
    is_event = column == options.get("timestamp")
    delay_us = int(options.get("watermark", 0)) * 1000 if is_event else 0
    idle_us = int(options["idle"]) * 1000 if is_event and "idle" in options else None
    nullable = declared is None or not declared.not_null
    return Axis(stream, column, nullable, delay_us, idle_us, first)


def places_of(chunk: Chunk, column: str) -> Column:
    """The places of the rows of a chunk, in their order."""
    return as_places(chunk.read([column]).column(0))


def as_places(places: Column) -> Column:
    """Values of a column as places on its axis."""
    if pa.types.is_date(places.type):
        places = places.cast(pa.timestamp("us"))
    return places.cast(pa.int64())


def span_of(places: Column) -> Span | None:
    """Where rows are; None if none has a place."""
    extent = pc.min_max(places).as_py()
    return None if extent["min"] is None else Span(extent["min"], extent["max"])

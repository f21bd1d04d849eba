"""A window over a stream as plain data: which windows there are, and which rows each of them has.

Windows are counted along an axis: tuple ids, or microseconds since 1970 of a time column. Window `k` has the rows in
[k * slide, k * slide + size). The axis is cut into panes (basic windows) of the greatest step of which each window is a
whole number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Literal

from millpond.setting import Setting

WindowKind = Literal["tumble", "hop", "landmark", "last", "session", "age", "calendar", "cycle"]

FOREVER = 1 << 62
"""A place that no row reaches: the end of windows that have none."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class StreamWindow:
    """`TUMBLE(s, size) AS alias` and its kin, over the axis of a `column`. A landmark has the size of its reset. Panes
    may be shorter than they need be: as long as `pane`, if that is not 0."""

    kind: WindowKind
    alias: str
    column: str
    by_rows: bool
    slide: int
    size: int
    pane: int = field(default=0, kw_only=True)

    @property
    def measures(self) -> tuple[object, ...]:
        """What tells windows apart, whatever they are called, and of whichever stream."""
        return self.kind, self.by_rows, self.slide, self.size

    @property
    def step(self) -> int:
        """The length of a pane."""
        return self.pane or math.gcd(self.slide, self.size)

    def bounds(self, number: int) -> tuple[int, int]:
        """Where a window begins and ends.

        >>> StreamWindow("hop", "w", "tid", True, 10, 25).bounds(3)
        (30, 55)
        """
        return number * self.slide, number * self.slide + self.size

    def panes(self, number: int) -> tuple[int, int]:
        """The first and the last pane of a window.

        >>> StreamWindow("hop", "w", "tid", True, 10, 25).panes(3)
        (6, 10)
        """
        start, end = self.bounds(number)
        return start // self.step, end // self.step - 1

    def closed(self, number: int) -> int:
        """The first pane that may still get rows in due time when a window is the newest."""
        return self.panes(number)[1] + 1

    def newest_complete(self, position: int) -> int:
        """The last window that ends at a position of the axis, or before it.

        >>> window = StreamWindow("hop", "w", "tid", True, 10, 25)
        >>> window.newest_complete(55), window.newest_complete(54)
        (3, 2)
        """
        return (position - self.size) // self.slide

    def newest_open(self, position: int) -> int:
        """The last window that begins before a position, or at it."""
        return position // self.slide

    def value(self, position: int) -> int | datetime:
        """A position of the axis as SQL shows it."""
        return position if self.by_rows else moment(position)


@dataclass(frozen=True)
class AgeWindow(StreamWindow):
    """What is younger than `size`, by the clock: its oldest rows leave in steps of `slide`."""

    def bounds(self, number: int) -> tuple[int, int]:
        return number * self.slide - self.size, FOREVER

    def panes(self, number: int) -> tuple[int, int]:
        return self.bounds(number)[0] // self.step, FOREVER

    def closed(self, number: int) -> int:
        return number * self.slide // self.step

    def as_of(self, now: int) -> int:
        """The number of the window at a time."""
        return now // self.slide


@dataclass(frozen=True)
class CalendarWindow(StreamWindow):
    """What is of the current hour, day, week, month or year, or with `onward` also what is later than that.

    A pane is such a unit; its number is where it begins.
    """

    unit: str = "day"
    onward: bool = False

    @property
    def measures(self) -> tuple[object, ...]:
        return self.kind, self.unit, self.onward

    def bounds(self, number: int) -> tuple[int, int]:
        # One and a half times the longest such unit after its beginning, the next one is current.
        return number, FOREVER if self.onward else self.as_of(number + 3 * _LONGEST_US[self.unit] // 2)

    def panes(self, number: int) -> tuple[int, int]:
        return number, FOREVER if self.onward else number

    def closed(self, number: int) -> int:
        return number

    def as_of(self, now: int) -> int:
        """Where the unit begins that is current at a time.

        >>> CalendarWindow("calendar", "w", "at", False, 1, 1, "week").value(
        ...     CalendarWindow("calendar", "w", "at", False, 1, 1, "week").as_of(1709251200_000000)).isoformat()
        '2024-02-26T00:00:00+00:00'
        """
        day = moment(now).replace(hour=0, minute=0, second=0, microsecond=0)
        starts = {
            "hour": moment(now).replace(minute=0, second=0, microsecond=0),
            "day": day,
            "week": day - timedelta(days=day.weekday()),
            "month": day.replace(day=1),
            "quarter": day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1),
            "year": day.replace(month=1, day=1),
        }
        return micros(starts[self.unit])


@dataclass(frozen=True)
class LastWindow(StreamWindow):
    """The newest `size` rows of each key, as of the read."""

    keys: tuple[str, ...] = ()


@dataclass(frozen=True)
class SessionWindow(StreamWindow):
    """Rows of a key that follow each other within `size`, the gap. A pane is as long as the gap, so that rows of a key
    in one pane are of one session."""

    keys: tuple[str, ...] = ()

    @property
    def measures(self) -> tuple[object, ...]:
        return self.kind, self.column, self.size, self.keys

    def pane_of(self, place: int) -> int:
        """The pane of a place."""
        return place // self.size


@dataclass(frozen=True)
class CycleWindow(StreamWindow):
    """One cycle after the other of a continuous query, at most `cycles` of them. Cycles of rows are counted from where
    the query begins. `until` is a column that is true in the row that ends the stream."""

    cycles: int | None = None
    until: str | None = None


AsOfNow = AgeWindow | CalendarWindow
"""Windows that move with the clock, whatever arrives."""

_HOUR_US, _DAY_US = 3_600_000_000, 86_400_000_000
_LONGEST_US = {
    "hour": _HOUR_US,
    "day": _DAY_US,
    "week": 7 * _DAY_US,
    "month": 31 * _DAY_US,
    "quarter": 92 * _DAY_US,
    "year": 366 * _DAY_US,
}
CALENDAR_UNITS = tuple(_LONGEST_US)


def shown_length(length: int, *, by_rows: bool) -> str:
    """A size as settings are shown.

    >>> shown_length(20, by_rows=True), shown_length(3_600_000_000, by_rows=False), shown_length(5, by_rows=False)
    ('20 rows', '1h', '5us')
    """
    if by_rows:
        return f"{length} rows"
    return Setting("", 0, "ms", "").show(length // 1000) if length % 1000 == 0 else f"{length}us"


def moment(since_epoch_us: int) -> datetime:
    """Microseconds since 1970 as a time."""
    return _EPOCH + timedelta(microseconds=since_epoch_us)


def micros(time: datetime) -> int:
    """A time as microseconds since 1970.

    >>> micros(moment(1_700_000_000_123_456))
    1700000000123456
    """
    return (time - _EPOCH) // timedelta(microseconds=1)

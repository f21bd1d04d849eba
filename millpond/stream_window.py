"""A window over a stream as plain data: which windows there are, and which rows each of them has.

Windows are counted along an axis: tuple ids, or microseconds since 1970 of a time column. Window `k` has the rows in
[k * slide, k * slide + size). The axis is cut into panes (basic windows) of the greatest step of which each window is a
whole number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

WindowKind = Literal["tumble", "hop", "landmark"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class StreamWindow:
    """`TUMBLE(s, size) AS alias` and its kin, over the axis of a `column`. A landmark has the size of its reset."""

    kind: WindowKind
    alias: str
    column: str
    by_rows: bool
    slide: int
    size: int

    @property
    def measures(self) -> tuple[object, ...]:
        """What tells windows apart, whatever they are called, and of whichever stream."""
        return self.kind, self.by_rows, self.slide, self.size

    @property
    def step(self) -> int:
        """The length of a pane."""
        return math.gcd(self.slide, self.size)

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


def moment(micros: int) -> datetime:
    """Microseconds since 1970 as a time."""
    return _EPOCH + timedelta(microseconds=micros)

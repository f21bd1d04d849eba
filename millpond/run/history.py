"""The versions of an answer that are kept for a while, so that subscribers get each of them and may come back."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

import pyarrow as pa

from millpond.values.arrays import nulls

VERSION, CHANGE = "version", "change"
"""The columns before those of the answer."""


class VersionClock:
    """Gives out versions: microseconds of the wall clock, but never the same twice and never an earlier one."""

    def __init__(self, now_us: Callable[[], int] = lambda: time.time_ns() // 1000) -> None:
        self._now_us = now_us
        self._lock = threading.Lock()
        self._last = 0

    @property
    def last(self) -> int:
        """The last one that was given out."""
        return self._last

    def next(self) -> int:
        with self._lock:
            self._last = max(self._now_us(), self._last + 1)
            return self._last


@dataclass(frozen=True)
class Version:
    """One version. `ordinal` counts them from 0; `changes` is how it came of the one before, with all columns that
    subscribers see. Rows of a stream that nothing groups add up to no `answer`."""

    ordinal: int
    number: int
    answer: pa.Table | None
    changes: pa.Table

    @property
    def size_bytes(self) -> int:
        return self.changes.nbytes + (0 if self.answer is None else self.answer.nbytes)


class History:
    """The newest versions, at least one and no more than fit. Not safe for threads: its feed has a lock."""

    def __init__(self, versions_max: int, bytes_max: int) -> None:
        self._versions_max, self._bytes_max = versions_max, bytes_max
        self._versions: deque[Version] = deque()
        self._bytes = 0

    @property
    def newest(self) -> Version | None:
        return self._versions[-1] if self._versions else None

    def add(self, version: Version) -> None:
        self._versions.append(version)
        self._bytes += version.size_bytes
        while len(self._versions) > self._versions_max or (self._bytes > self._bytes_max and len(self._versions) > 1):
            self._bytes -= self._versions.popleft().size_bytes

    def newest_only(self) -> list[Version]:
        return [self._versions[-1]] if self._versions else []

    def after(self, ordinal: int) -> list[Version]:
        """The versions that follow another, as far as they are left."""
        if not self._versions or ordinal >= self._versions[-1].ordinal:
            return []
        return list(islice(self._versions, max(0, ordinal + 1 - self._versions[0].ordinal), None))

    def at(self, number: int) -> Version | None:
        """The version that was the newest when a number was given out, if it is left."""
        known = [version for version in self._versions if version.number <= number]
        return known[-1] if known else None


def plain(rows: pa.Table) -> pa.Table:
    """Rows in one shape, so that those of different answers can be compared: columns c0, c1, ... without notes."""
    return pa.table(rows.columns, names=[f"c{place}" for place in range(rows.num_columns)])


def stamped(number: int, changes: pa.Table) -> pa.Table:
    """Changes with their version before them."""
    return changes.add_column(0, VERSION, pa.repeat(pa.scalar(number, pa.int64()), changes.num_rows))


def mark(number: int, kind: str, like: pa.Table) -> pa.Table:
    """A row that is about a version and holds no row of the answer."""
    empty = [nulls(1, column.type) for column in like.columns[2:]]
    return pa.table([pa.array([number], pa.int64()), pa.array([kind]), *empty], names=like.column_names)

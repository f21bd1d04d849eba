"""Scratch files with just the rows that a reader asked for, of segments that are in memory or reach beyond them.

A reader needs to know nothing but files, and a chunk whose files hold nothing else needs no filter. A copy belongs to
one reader and goes with it: of at most a few segments' rows, it costs less than planning a query.
"""

from __future__ import annotations

import itertools

import pyarrow as pa

from millpond.stream import segment_file
from millpond.stream.disk import Disk
from millpond.stream.layout import Layout
from millpond.stream.memory_segment import Batches
from millpond.stream.options import SegmentLimits, Tid, TidRange
from millpond.stream.pins import FilePins, Hold
from millpond.stream.segment_file import StoredFile


class Copies:
    """Makes the copies of one stream; its limits tell which files are small enough."""

    def __init__(self, layout: Layout, disk: Disk, pins: FilePins, limits: SegmentLimits) -> None:
        self._layout, self._disk, self._pins, self._limits = layout, disk, pins, limits
        self._numbers = itertools.count()

    def of_memory(self, first_tid: Tid, batches: Batches, tids: TidRange, hold: Hold) -> StoredFile:
        """The rows of a range from batches whose first row is `first_tid`."""
        return self._within(pa.Table.from_batches(batches), first_tid, tids, hold)

    def of_file(self, file: StoredFile, tids: TidRange, hold: Hold) -> StoredFile:
        """A file without its rows outside of a range; a large one as it is, for the reader to filter."""
        inside = tids.first <= file.first_tid and file.end_tid <= tids.end
        if inside or file.rows > 2 * self._limits.rows_min or file.size_bytes > 2 * self._limits.bytes_min:
            return file
        return self._within(segment_file.read(file.path), file.first_tid, tids, hold)

    def _within(self, rows: pa.Table, first_tid: Tid, tids: TidRange, hold: Hold) -> StoredFile:
        skip = max(0, tids.first - first_tid)
        rows = rows.slice(skip, tids.end - first_tid - skip).combine_chunks()
        start = Tid(first_tid + skip)
        path = self._layout.copy(start, rows.num_rows, next(self._numbers))
        hold.pin(path)
        self._pins.remove_when_unused(path)
        return StoredFile(path, start, rows.num_rows, self._disk.write_scratch(path, rows), rows)

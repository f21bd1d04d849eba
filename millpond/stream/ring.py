"""The ring: the visible segments of a stream in tid order, and the choice of those that are overwritten."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import pyarrow as pa

from millpond.stream.memory_segment import MemorySegment
from millpond.stream.options import StreamOptions, Tid
from millpond.stream.segment_file import StoredFile

Segment = MemorySegment | StoredFile


class Ring:
    """Segments without a gap; the newest may be a memory segment that still grows.

    It has no lock of its own: the relation calls it under the lock of visible state.
    """

    def __init__(self, options: StreamOptions, first_tid: Tid) -> None:
        self._options = options
        self._segments: list[Segment] = []
        self._start = first_tid
        self.size_bytes = 0

    def __len__(self) -> int:
        return len(self._segments)

    @property
    def first_tid(self) -> Tid:
        return self._segments[0].first_tid if self._segments else self._start

    @property
    def end_tid(self) -> Tid:
        return self._segments[-1].end_tid if self._segments else self._start

    @property
    def segments(self) -> Sequence[Segment]:
        return self._segments

    def push(self, segment: Segment) -> None:
        """Make a segment visible; it must follow the newest."""
        assert segment.first_tid == self.end_tid, "a segment must start where the ring ends"
        self._segments.append(segment)
        self.size_bytes += segment.size_bytes

    def grow(self, segment: MemorySegment, batch: pa.RecordBatch, size_bytes: int) -> None:
        """Make more rows of the open segment visible."""
        if not segment.rows:
            self.push(segment)
        segment.append(batch, size_bytes)
        self.size_bytes += size_bytes

    def contains(self, segments: Sequence[Segment]) -> bool:
        """Whether these adjacent segments are all still in the ring."""
        start = self._index(segments[0].first_tid)
        return self._segments[start : start + len(segments)] == list(segments)

    def replace(self, old: Sequence[Segment], new: StoredFile) -> None:
        """Put one file in the place of adjacent segments with the same rows."""
        assert self.contains(old), "only segments of the ring can be replaced"
        assert new.first_tid == old[0].first_tid, "a replacement must start where the segments do"
        assert new.end_tid == old[-1].end_tid, "a replacement must end where the segments do"
        start = self._index(new.first_tid)
        self._segments[start : start + len(old)] = [new]
        self.size_bytes += new.size_bytes - sum(segment.size_bytes for segment in old)

    def between(self, first: Tid, end: Tid) -> Sequence[Segment]:
        """The segments with a row in [first, end)."""
        if first >= end:
            return ()
        return self._segments[self._index(first) : self._index(Tid(end - 1)) + 1]

    def surplus(self, floor: Tid | None = None) -> Sequence[Segment]:
        """The oldest segments, which are beyond the ring's capacity: the one place that decides what is overwritten.

        From `floor` on somebody has yet to read, so that stays.
        """
        count, size_bytes = 0, self.size_bytes
        while count < len(self._segments) - 1 and self._is_beyond_capacity(count + 1, size_bytes):
            if floor is not None and self._segments[count].end_tid > floor:
                break
            size_bytes -= self._segments[count].size_bytes
            count += 1
        return self._segments[:count]

    def _is_beyond_capacity(self, next_index: int, size_bytes: int) -> bool:
        rows_without = self.end_tid - self._segments[next_index].first_tid
        return rows_without >= self._options.capacity_rows or size_bytes > self._options.capacity_bytes

    def is_full_from(self, floor: Tid) -> bool:
        """Whether the rows from `floor` on fill the ring."""
        unread = self.between(floor, self.end_tid)
        size_bytes = sum(segment.size_bytes for segment in unread)
        return self.end_tid - floor >= self._options.capacity_rows or size_bytes > self._options.capacity_bytes

    def drop(self, count: int) -> None:
        """Forget the oldest segments."""
        self._start = self._segments[count - 1].end_tid
        self.size_bytes -= sum(segment.size_bytes for segment in self._segments[:count])
        del self._segments[:count]

    def _index(self, tid: Tid) -> int:
        """The position of the segment that has the tuple `tid`."""
        return max(0, bisect_right(self._segments, tid, key=lambda segment: segment.first_tid) - 1)

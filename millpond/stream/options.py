"""The plain data of a stream relation: tuple ids, its options with their reasons, and its statistics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NewType

Tid = NewType("Tid", int)
"""A tuple id: dense, from 0, in the order in which tuples became visible."""

Durability = Literal["log", "memory"]


@dataclass(frozen=True)
class TidRange:
    """The tuple ids from `first` up to, not including, `end`."""

    first: Tid
    end: Tid

    @property
    def rows(self) -> int:
        return self.end - self.first


@dataclass(frozen=True)
class StreamOptions:
    """How much a stream keeps and how safely.

    capacity_rows: the ring keeps at least these newest rows, and at most one segment more.
    capacity_bytes: the ring keeps no more bytes than this, be it fewer rows; 4 GiB hold 10,000,000 rows of 400 bytes,
        which is wide for an event, and still leave a laptop's disk (or half of its memory) alone.
    durability: "log" syncs an append to disk before it is acknowledged, "memory" loses everything with the process.
    segment_rows_max: small segments are merged up to this size: big enough for a scan to forget the cost of a file.
    segment_rows_min: smaller appends collect in the open segment, which is closed when it has this many rows.
    segment_bytes_max, segment_bytes_min: the same in bytes, so that wide rows do not need more memory.
    small_segments_max: more segments below half the full size than this are merged.
    """

    capacity_rows: int = 10_000_000
    capacity_bytes: int = 4 << 30
    durability: Durability = "log"
    segment_rows_max: int = 1 << 20
    segment_rows_min: int = 1 << 16
    segment_bytes_max: int = 128 << 20
    segment_bytes_min: int = 8 << 20
    small_segments_max: int = 16

    @property
    def limits(self) -> SegmentLimits:
        """The limits in force: overwriting a segment must not empty much more than an eighth of the ring."""
        rows_max = max(1, min(self.segment_rows_max, self.capacity_rows // 8))
        bytes_max = max(1, min(self.segment_bytes_max, self.capacity_bytes // 8))
        return SegmentLimits(
            rows_max=rows_max,
            bytes_max=bytes_max,
            rows_min=max(1, min(self.segment_rows_min, rows_max)),
            bytes_min=max(1, min(self.segment_bytes_min, bytes_max)),
            small_segments_max=self.small_segments_max,
        )


@dataclass(frozen=True)
class SegmentLimits:
    """When an append is small, when the open segment is full, and how large a segment may become."""

    rows_max: int
    bytes_max: int
    rows_min: int
    bytes_min: int
    small_segments_max: int

    def is_small(self, rows: int, size_bytes: int) -> bool:
        """Whether an append of this size goes to the open segment."""
        return rows < self.rows_min and size_bytes < self.bytes_min

    def is_full(self, rows: int, size_bytes: int) -> bool:
        """Whether a segment of this size is worth a file of its own."""
        return not self.is_small(rows, size_bytes)

    def is_mergeable(self, rows: int, size_bytes: int) -> bool:
        """Whether a segment of this size is one of those that should become fewer."""
        return rows <= self.rows_max // 2 and size_bytes <= self.bytes_max // 2

    def fits(self, rows: int, size_bytes: int) -> bool:
        """Whether rows of this size may share a segment."""
        return rows <= self.rows_max and size_bytes <= self.bytes_max


@dataclass(frozen=True)
class StreamStats:
    """What a stream can say about itself without reading a row; `rate` is in rows a second."""

    rows_in: int
    rate: float
    first_tid: Tid
    end_tid: Tid
    last_arrival_us: int
    rows_held: int
    bytes_held: int
    segments: int
    durability: Durability
    capacity_rows: int
    capacity_bytes: int

"""Which adjacent segments to merge, so that their number stays small and no row is rewritten often."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from millpond.errors import InternalError
from millpond.stream import segment_file
from millpond.stream.options import SegmentLimits
from millpond.stream.ring import Segment
from millpond.stream.segment_file import StoredFile

Run = Sequence[StoredFile]
"""Adjacent segments that become one."""


def is_crowded(segments: Sequence[Segment], limits: SegmentLimits) -> bool:
    """Whether there are more small segments than there should be."""
    small = sum(
        1
        for segment in segments
        if isinstance(segment, StoredFile) and limits.is_mergeable(segment.rows, segment.size_bytes)
    )
    return small > limits.small_segments_max


def runs_to_merge(segments: Sequence[Segment], limits: SegmentLimits) -> list[Run]:
    """The runs worth merging: as long as fits, and at least twice as large as the largest segment in it.

    So a row is rewritten only into a segment at least twice as large as the one it comes from.
    """
    runs: list[Run] = []
    start = 0
    while start < len(segments):
        run = _longest_run(segments[start:], limits)
        worthwhile = len(run) > 1 and sum(file.rows for file in run) >= 2 * max(file.rows for file in run)
        if worthwhile:
            runs.append(run)
        start += len(run) if worthwhile else 1
    return runs


def _longest_run(segments: Sequence[Segment], limits: SegmentLimits) -> list[StoredFile]:
    """The first segments, as many as are files and fit into one segment together."""
    run: list[StoredFile] = []
    rows = size_bytes = 0
    for segment in segments:
        rows += segment.rows
        size_bytes += segment.size_bytes
        if not isinstance(segment, StoredFile) or not limits.fits(rows, size_bytes):
            break
        run.append(segment)
    return run


def read_run(run: Run) -> pa.Table:
    """The rows of a run."""
    table = pa.concat_tables([segment_file.read(file.path) for file in run])
    if table.num_rows != sum(file.rows for file in run):
        raise InternalError(f"segments from {run[0].path.name} to {run[-1].path.name} have lost rows")
    return table

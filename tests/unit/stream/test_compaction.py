"""Which segments are merged: few are left, and no row is rewritten often."""

from __future__ import annotations

import math
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from millpond.stream import StreamOptions, Tid
from millpond.stream.compaction import is_crowded, runs_to_merge
from millpond.stream.segment_file import StoredFile
from tests.unit.stream.support import FaultyDisk, checked_numbers, numbered, numbers, open_stream, small_options

LIMITS = StreamOptions(capacity_rows=10**6, segment_rows_max=64, small_segments_max=8).limits


def segments_of(rows: list[int]) -> list[StoredFile]:
    result: list[StoredFile] = []
    for count in rows:
        first_tid = result[-1].end_tid if result else Tid(0)
        result.append(StoredFile(Path(f"{first_tid}-{count}"), first_tid, count, count))
    return result


def merged_sizes(rows: list[int]) -> list[list[int]]:
    return [[file.rows for file in run] for run in runs_to_merge(segments_of(rows), LIMITS)]


def test_adjacent_small_segments_are_merged_as_long_as_they_fit() -> None:
    assert merged_sizes([8] * 9) == [[8] * 8]
    assert merged_sizes([64, 8, 8, 64, 4, 4]) == [[8, 8], [4, 4]]


def test_a_large_segment_is_not_rewritten_for_a_few_rows() -> None:
    assert merged_sizes([40, 1, 1]) == [[1, 1]]
    assert merged_sizes([40, 2]) == []


@given(st.lists(st.integers(1, 64), max_size=40))
def test_runs_are_adjacent_fit_and_double(rows: list[int]) -> None:
    segments = segments_of(rows)
    for run in runs_to_merge(segments, LIMITS):
        start = segments.index(run[0])
        assert segments[start : start + len(run)] == list(run)
        total = sum(file.rows for file in run)
        assert 2 * max(file.rows for file in run) <= total <= LIMITS.rows_max


@given(st.lists(st.integers(1, 10), min_size=1, max_size=400))
def test_the_number_of_segments_stays_small_and_rows_are_rewritten_seldom(arriving: list[int]) -> None:
    rows: list[int] = []
    rewritten = 0
    for size in arriving:
        rows.append(size)
        if is_crowded(segments_of(rows), LIMITS):
            for run in runs_to_merge(segments_of(rows), LIMITS):
                start = segments_of(rows).index(run[0]) if run[0] in segments_of(rows) else None
                if start is not None:
                    total = sum(file.rows for file in run)
                    rows[start : start + len(run)] = [total]
                    rewritten += total
    assert sum(rows) == sum(arriving)
    assert len(rows) <= 3 * sum(arriving) / LIMITS.rows_max + LIMITS.small_segments_max + math.log2(LIMITS.rows_max)
    assert rewritten <= sum(arriving) * math.log2(2 * LIMITS.rows_max)


def test_a_reader_keeps_the_segments_that_were_merged(tmp_path: Path) -> None:
    stream = open_stream(tmp_path, small_options(small_segments_max=100))
    for first in range(0, 30, 10):
        stream.append(numbered(first, 10))
    with stream.hold() as chunk:
        stream.compact()
        assert stream.stats().segments == 1
        assert checked_numbers(chunk) == list(range(30))
        assert all(file.path.exists() for file in chunk.files)
    assert not any(file.path.exists() for file in chunk.files)
    assert numbers(stream) == list(range(30))


def test_a_failed_merge_changes_nothing(tmp_path: Path) -> None:
    disk = FaultyDisk(durable=True)
    stream = open_stream(tmp_path, disk=disk)
    for first in range(0, 40, 8):
        disk.fail_at = len(disk.steps) + 5 if first == 32 else 0
        stream.append(numbered(first, 8))
    assert disk.steps[disk.fail_at - 1] == "write_segment"
    assert numbers(stream) == list(range(40))
    assert stream.stats().segments == 5
    stream.compact()
    assert stream.stats().segments == 2
    assert numbers(stream) == list(range(40))

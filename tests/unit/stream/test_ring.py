"""The ring of segments: order, replacement, and the choice of what is overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millpond.stream import StreamOptions, Tid
from millpond.stream.ring import Ring
from millpond.stream.segment_file import StoredFile


def segment(first_tid: int, rows: int, size_bytes: int = 10) -> StoredFile:
    return StoredFile(Path(f"{first_tid}-{rows}"), Tid(first_tid), rows, size_bytes)


def ring_of(rows: list[int], first_tid: int = 0, options: StreamOptions | None = None) -> Ring:
    ring = Ring(options or StreamOptions(), Tid(first_tid))
    for count in rows:
        ring.push(segment(ring.end_tid, count))
    return ring


def test_an_empty_ring_has_no_rows_but_a_place() -> None:
    ring = ring_of([], first_tid=7)
    assert (ring.first_tid, ring.end_tid, len(ring), ring.size_bytes) == (7, 7, 0, 0)
    assert list(ring.between(Tid(7), Tid(7))) == []
    assert list(ring.surplus()) == []


def test_segments_must_follow_each_other() -> None:
    ring = ring_of([5])
    with pytest.raises(AssertionError, match="must start where the ring ends"):
        ring.push(segment(6, 1))


@given(st.lists(st.integers(1, 5), min_size=1, max_size=10), st.data())
def test_between_gives_the_segments_with_a_row_of_the_range(rows: list[int], data: st.DataObject) -> None:
    ring = ring_of(rows, first_tid=3)
    first = data.draw(st.integers(3, 3 + sum(rows)))
    end = data.draw(st.integers(first, 3 + sum(rows)))
    expected = [s for s in ring.segments if s.first_tid < end and first < s.end_tid] if first < end else []
    assert list(ring.between(Tid(first), Tid(end))) == expected


@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.integers(1, 40))
def test_overwriting_keeps_the_capacity_and_not_a_segment_more(rows: list[int], capacity_rows: int) -> None:
    ring = ring_of(rows, options=StreamOptions(capacity_rows=capacity_rows))
    surplus = ring.surplus()
    if surplus:
        ring.drop(len(surplus))
    assert ring.end_tid == sum(rows)
    assert ring.end_tid - ring.first_tid >= min(sum(rows), capacity_rows)
    assert len(ring) == 1 or ring.end_tid - ring.segments[1].first_tid < capacity_rows
    assert ring.size_bytes == 10 * len(ring)


def test_bytes_are_bounded_but_the_newest_segment_stays() -> None:
    ring = ring_of([1, 1, 1, 1], options=StreamOptions(capacity_bytes=25))
    assert [s.first_tid for s in ring.surplus()] == [0, 1]
    assert len(ring_of([1, 1, 1], options=StreamOptions(capacity_bytes=1)).surplus()) == 2


def test_replacing_keeps_rows_and_counts_bytes() -> None:
    ring = ring_of([2, 3, 4])
    old, new = list(ring.segments[:2]), segment(0, 5, size_bytes=7)
    ring.replace(old, new)
    assert list(ring.segments) == [new, segment(5, 4)]
    assert ring.size_bytes == 17
    assert not ring.contains(old)
    with pytest.raises(AssertionError, match="only segments of the ring"):
        ring.replace(old, new)


def test_a_dropped_segment_is_not_contained() -> None:
    ring = ring_of([2, 3])
    first = list(ring.segments[:1])
    ring.drop(1)
    assert not ring.contains(first)
    assert (ring.first_tid, ring.end_tid) == (2, 5)

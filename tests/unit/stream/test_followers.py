"""Followers: what they have not read stays, and writers wait for them."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from millpond.errors import MillpondError
from millpond.stream import StreamOptions, StreamRelation
from tests.unit.stream.support import SCHEMA, numbered

OPTIONS = StreamOptions(capacity_rows=80, durability="memory", segment_rows_min=10, segment_rows_max=10)


@pytest.fixture
def stream(tmp_path: Path) -> StreamRelation:
    return StreamRelation.open("s", tmp_path / "stream", tmp_path / "scratch", SCHEMA, OPTIONS)


def fill(stream: StreamRelation, appends: int) -> None:
    for _ in range(appends):
        stream.append(numbered(0, 10))


def test_what_a_follower_has_not_read_is_not_overwritten(stream: StreamRelation) -> None:
    follower = stream.follow()
    fill(stream, 8)
    assert stream.stats().first_tid == 0
    follower.advance(40)
    fill(stream, 4)
    assert stream.stats().first_tid <= 40
    with stream.hold(first=follower.position) as chunk:
        assert (chunk.first, chunk.end) == (40, 120)
    follower.close()
    fill(stream, 8)
    assert stream.stats().first_tid >= 100


def test_writers_wait_until_the_slowest_has_read(stream: StreamRelation) -> None:
    slow, fast = stream.follow(), stream.follow()
    fill(stream, 8)
    fast.advance(80)
    done = threading.Event()

    def write() -> None:
        fill(stream, 1)
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    assert not done.wait(0.2)
    assert stream.stats().end_tid == 80
    slow.advance(10)
    assert done.wait(5)
    writer.join()
    assert stream.stats().end_tid == 90
    assert stream.followers.waits == 1


def test_somebody_is_told_when_the_ring_is_full(stream: StreamRelation) -> None:
    follower = stream.follow()
    stream.followers.on_full = lambda: follower.advance(stream.stats().end_tid)
    fill(stream, 50)
    assert stream.stats().end_tid == 500
    assert stream.followers.waits > 0


def test_closing_ends_the_waiting(stream: StreamRelation) -> None:
    stream.follow()
    fill(stream, 8)
    errors: list[str] = []

    def write() -> None:
        try:
            fill(stream, 1)
        except MillpondError as error:
            errors.append(error.message)

    writer = threading.Thread(target=write)
    writer.start()
    stream.close()
    writer.join(5)
    assert errors == ['stream "s" is closed']


def test_following_from_what_is_overwritten_is_an_overrun(stream: StreamRelation) -> None:
    fill(stream, 20)
    with pytest.raises(MillpondError, match="have been overwritten"):
        stream.follow(0)

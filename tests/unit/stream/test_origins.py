"""Origins: whatever fails and whenever the process ends, a writer's note and its rows are both there or both not."""

from __future__ import annotations

from pathlib import Path

import pytest

from millpond.errors import MillpondError
from millpond.stream import Origin, StreamRelation
from tests.unit.stream.support import Crash, FaultyDisk, Kind, numbered, numbers, open_stream, small_options

WRITER = 7
SIZES = [3, 8, 80]
"""Rows that would go to the open segment, that are a segment, that are several."""


def append(stream: StreamRelation, first: int, size: int) -> None:
    with stream.stage() as staged:
        staged.write(numbered(first, size))
        staged.publish(Origin(WRITER, str(first + size)))


def progress(stream: StreamRelation) -> int:
    origin = stream.origin(WRITER)
    return 0 if origin is None else int(origin.progress)


@pytest.mark.parametrize("size", SIZES)
def test_an_origin_comes_back(tmp_path: Path, size: int) -> None:
    stream = open_stream(tmp_path)
    assert stream.origin(WRITER) is None
    append(stream, 0, size)
    append(stream, size, size)
    stream.append(numbered(2 * size, 2))
    assert progress(stream) == 2 * size
    stream.close()
    stream = open_stream(tmp_path)
    assert progress(stream) == 2 * size
    assert numbers(stream) == list(range(2 * size + 2))
    stream.forget_origin(WRITER)
    assert open_stream(tmp_path).origin(WRITER) is None


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", ["crash", "before", "after"])
def test_rows_and_origin_are_there_together(tmp_path: Path, size: int, kind: Kind) -> None:
    """A disk that fails at each step in turn; the writer goes on from where its note says that it is."""
    failed = succeeded = 0
    while not succeeded:
        disk = FaultyDisk(durable=True)
        stream = open_stream(tmp_path, disk=disk)
        before = progress(stream)
        disk.fail_at, disk.kind = len(disk.steps) + failed + 1, kind
        try:
            append(stream, before, size)
            succeeded += 1
        except (Crash, MillpondError):
            failed += 1
        if kind != "crash":
            disk.fail_at = 0
            stream.close()
        stream = open_stream(tmp_path)
        assert numbers(stream) == list(range(progress(stream)))[-len(numbers(stream)) :]
        assert stream.stats().end_tid == progress(stream)
        assert progress(stream) in (before, before + size)
        stream.close()
    assert failed > 5


def test_a_stream_in_memory_forgets_its_writers_with_its_rows(tmp_path: Path) -> None:
    stream = open_stream(tmp_path, small_options(durability="memory"))
    append(stream, 0, 3)
    assert progress(stream) == 3
    stream.close()
    assert open_stream(tmp_path, small_options(durability="memory")).origin(WRITER) is None

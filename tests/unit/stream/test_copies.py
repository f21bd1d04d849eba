"""Copies for readers: exactly the rows asked for, whatever they were read from, gone with their reader."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millpond.stream import StreamOptions, StreamRelation, segment_file
from tests.unit.stream.support import SCHEMA, numbered

APPEND_ROWS = 7
SMALL = StreamOptions(durability="memory", segment_rows_min=20, segment_rows_max=200)


def opened(directory: Path, options: StreamOptions = SMALL, rows: int = 0) -> StreamRelation:
    stream = StreamRelation.open("s", directory / "root", directory / "scratch", SCHEMA, options)
    for start in range(0, rows, APPEND_ROWS):
        stream.append(numbered(start, min(APPEND_ROWS, rows - start)))
    return stream


def copied(directory: Path) -> list[Path]:
    return sorted((directory / "scratch" / "copies").iterdir())


@given(rows=st.integers(1, 100), cuts=st.tuples(st.integers(0, 100), st.integers(0, 100)))
@settings(max_examples=40, deadline=None)
def test_files_hold_exactly_the_chunk(
    tmp_path_factory: pytest.TempPathFactory, rows: int, cuts: tuple[int, int]
) -> None:
    directory = tmp_path_factory.mktemp("copies")
    stream = opened(directory, rows=rows)
    first, end = sorted(min(cut, rows) for cut in cuts)
    with stream.hold(first, end) as chunk:
        assert not chunk.is_cut
        written = [number for file in chunk.files for number in segment_file.read(file.path, ["n"])["n"].to_pylist()]
        assert written == list(range(first, end))
        assert chunk.read(["n", "tid"]).to_pydict() == {"n": list(range(first, end)), "tid": list(range(first, end))}
    assert copied(directory) == []


def test_a_large_file_is_left_to_the_reader(tmp_path: Path) -> None:
    stream = opened(tmp_path)
    stream.append(numbered(0, 100))
    with stream.hold(10, 90) as chunk:
        assert chunk.is_cut
        assert copied(tmp_path) == []
        assert chunk.read(["n"])["n"].to_pylist() == list(range(10, 90))


def test_a_copy_stays_while_rows_arrive_and_segments_close(tmp_path: Path) -> None:
    stream = opened(tmp_path, rows=5)
    with stream.hold() as chunk:
        for start in range(5, 105, 10):
            stream.append(numbered(start, 10))
        assert chunk.read(["n"])["n"].to_pylist() == list(range(5))
        assert len(copied(tmp_path)) == 1
    assert copied(tmp_path) == []

"""Opening a stream: what a kill can leave is made whole, what a kill cannot leave is reported."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from millpond.errors import MillpondError
from millpond.stream import StreamRelation
from tests.unit.stream.support import FaultyDisk, numbered, numbers, open_stream, small_options

OPTIONS = small_options(capacity_rows=10_000, small_segments_max=100)


def leave(directory: Path, sizes: list[int]) -> Path:
    """A stream's folder as a killed process leaves it: open, with its last small appends in the log only."""
    stream, first = open_stream(directory, OPTIONS, disk=FaultyDisk(durable=True)), 0
    for size in sizes:
        stream.append(numbered(first, size))
        first += size
    return directory / "lasting"


def reopen(directory: Path) -> StreamRelation:
    return open_stream(directory, OPTIONS, disk=FaultyDisk(durable=True))


def segment_paths(folder: Path) -> list[Path]:
    return sorted((folder / "segments").iterdir())


def test_rows_of_the_log_come_back_as_a_segment(tmp_path: Path) -> None:
    folder = leave(tmp_path, [20, 1, 2, 3])
    assert len(segment_paths(folder)) == 1
    stream = reopen(tmp_path)
    assert numbers(stream) == list(range(26))
    assert len(segment_paths(folder)) == 2
    assert not list((folder / "wal").iterdir())
    assert stream.append(numbered(26, 1)).first == 26


def test_a_log_cut_anywhere_loses_only_what_was_being_written(tmp_path: Path) -> None:
    folder = leave(tmp_path / "whole", [20, 1, 2, 3])
    (log,) = (folder / "wal").iterdir()
    data = log.read_bytes()
    found: set[int] = set()
    for size in range(0, len(data), 31):
        directory = tmp_path / str(size)
        shutil.copytree(folder.parent, directory)
        (directory / "lasting" / "wal" / log.name).write_bytes(data[:size])
        rows = numbers(reopen(directory))
        assert rows in [list(range(count)) for count in (20, 21, 23)]
        found.add(len(rows))
        shutil.rmtree(directory)
    assert found == {20, 21, 23}


def test_staged_files_are_removed(tmp_path: Path) -> None:
    folder = leave(tmp_path, [20])
    shutil.copy(segment_paths(folder)[0], folder / "staged" / "7.parquet")
    (folder / "intent.json.tmp").write_text("[")
    assert numbers(reopen(tmp_path)) == list(range(20))
    assert not list((folder / "staged").iterdir())
    assert not (folder / "intent.json.tmp").exists()


def test_segments_that_were_merged_are_removed(tmp_path: Path) -> None:
    folder = leave(tmp_path / "before", [10, 10, 10])
    merged = tmp_path / "merged"
    shutil.copytree(folder.parent, merged)
    stream = reopen(merged)
    stream.compact()
    (large,) = segment_paths(merged / "lasting")
    shutil.copy(large, folder / "segments" / large.name)
    assert numbers(reopen(folder.parent)) == list(range(30))
    assert segment_paths(folder) == [folder / "segments" / large.name]


def test_a_log_whose_segment_is_there_is_removed(tmp_path: Path) -> None:
    folder = leave(tmp_path, [3, 2])
    (log,) = (folder / "wal").iterdir()
    data = log.read_bytes()
    reopen(tmp_path)
    log.write_bytes(data)
    assert numbers(reopen(tmp_path)) == list(range(5))
    assert not log.exists()


def test_what_is_below_the_mark_is_removed(tmp_path: Path) -> None:
    folder = leave(tmp_path, [10, 10, 10, 10])
    paths = segment_paths(folder)
    paths[1].unlink()  # overwritten; the one before it was, too, but had a reader when the process was killed
    (old_mark,) = folder.glob("first-*")
    new_mark = folder / f"first-{20:020d}"
    new_mark.touch()  # the old mark is still there: the process was killed before removing it
    stream = reopen(tmp_path)
    assert not old_mark.exists()
    assert numbers(stream) == list(range(20, 40))
    assert segment_paths(folder) == paths[2:]


def test_a_missing_segment_is_reported(tmp_path: Path) -> None:
    folder = leave(tmp_path, [10, 10, 10])
    segment_paths(folder)[1].unlink()
    with pytest.raises(MillpondError, match=r'file "0{18}20-10.parquet" of a stream is damaged') as caught:
        reopen(tmp_path)
    assert caught.value.detail == "It starts with tuple 20, but the one before ends with 9."


def test_a_missing_first_segment_is_reported(tmp_path: Path) -> None:
    folder = leave(tmp_path, [10, 10])
    segment_paths(folder)[0].unlink()
    with pytest.raises(MillpondError, match="is damaged"):
        reopen(tmp_path)


def test_a_missing_log_is_reported_if_rows_follow(tmp_path: Path) -> None:
    folder = leave(tmp_path, [3, 20, 3])
    data = {path.name: path.read_bytes() for path in (folder / "wal").iterdir()}
    assert len(data) == 1, "the first log has become a segment"
    segment_paths(folder)[0].unlink()
    with pytest.raises(MillpondError, match="is damaged"):
        reopen(tmp_path)


@pytest.mark.parametrize("size", [0, 3, 100])
def test_a_cut_segment_is_reported(tmp_path: Path, size: int) -> None:
    folder = leave(tmp_path, [10, 10])
    path = segment_paths(folder)[1]
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(MillpondError, match="is damaged") as caught:
        reopen(tmp_path)
    assert caught.value.detail is not None
    assert caught.value.detail.startswith("It is not a whole Parquet file")


def test_a_segment_with_other_rows_than_its_name_says_is_reported(tmp_path: Path) -> None:
    folder = leave(tmp_path, [10, 12])
    first, second = segment_paths(folder)
    second.write_bytes(first.read_bytes())
    with pytest.raises(MillpondError, match="is damaged") as caught:
        reopen(tmp_path)
    assert caught.value.detail == "It has 10 rows."


def test_files_that_are_not_ours_are_left_alone(tmp_path: Path) -> None:
    folder = leave(tmp_path, [10])
    (folder / "segments" / "notes.txt").write_text("hello")
    assert numbers(reopen(tmp_path)) == list(range(10))
    assert (folder / "segments" / "notes.txt").exists()

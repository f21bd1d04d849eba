"""Bulk appends: any number of writes, one step of publication, nothing left behind."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from millpond.errors import InternalError, MillpondError
from millpond.stream import StreamOptions, TidRange
from millpond.stream.options import Tid
from tests.unit.stream.support import FaultyDisk, numbered, numbers, open_stream, small_options


@pytest.fixture(params=["log", "memory"])
def options(request: pytest.FixtureRequest) -> StreamOptions:
    return small_options(durability=request.param)


def staged_files(directory: Path) -> list[Path]:
    return [path for path in directory.rglob("*.parquet") if path.parent.name == "staged"]


def test_rows_are_visible_only_when_published(tmp_path: Path, options: StreamOptions) -> None:
    stream = open_stream(tmp_path, options)
    staged = stream.stage()
    for first in range(0, 100, 10):
        staged.write(numbered(1000 + first, 10))
        stream.append(numbered(first // 10, 1))
        assert numbers(stream) == list(range(first // 10 + 1))
    assert staged.publish() == TidRange(Tid(10), Tid(110))
    assert numbers(stream) == [*range(10), *range(1000, 1100)]
    assert staged_files(tmp_path) == []


def test_segments_are_filled(tmp_path: Path, options: StreamOptions) -> None:
    stream = open_stream(tmp_path, options)
    with stream.stage() as staged:
        for first in range(0, 64, 4):
            staged.write(numbered(first, 4))
        staged.publish()
    with stream.hold() as chunk:
        assert [file.rows for file in chunk.files] == [32, 32]


def test_bytes_bound_what_is_in_memory(tmp_path: Path, options: StreamOptions) -> None:
    stream = open_stream(tmp_path, small_options(durability=options.durability, segment_bytes_max=200))
    with stream.stage() as staged:
        staged.write(numbered(0, 30))
        assert len(staged_files(tmp_path)) >= 2
        staged.publish()
    assert numbers(stream) == list(range(30))


def test_few_rows_need_no_file(tmp_path: Path, options: StreamOptions) -> None:
    stream = open_stream(tmp_path, options)
    with stream.stage() as staged:
        staged.write(numbered(0, 2))
        staged.write(numbered(2, 2).combine_chunks().to_batches()[0])
        assert staged.publish().rows == 4
    with stream.stage() as staged:
        assert staged.publish() == TidRange(Tid(4), Tid(4))
    assert not list(tmp_path.rglob("*.parquet"))
    assert numbers(stream) == list(range(4))


def test_discard_leaves_nothing(tmp_path: Path, options: StreamOptions) -> None:
    stream = open_stream(tmp_path, options)
    with stream.stage() as staged:
        staged.write(numbered(0, 100))
        assert staged_files(tmp_path)
    assert not staged_files(tmp_path)
    staged.discard()
    with pytest.raises(MillpondError, match='the staged append to stream "s" is already discarded'):
        staged.write(numbered(0, 1))
    assert stream.append(numbered(0, 1)).first == 0


def test_an_append_is_published_once(tmp_path: Path, options: StreamOptions) -> None:
    stream = open_stream(tmp_path, options)
    staged = stream.stage()
    staged.write(numbered(0, 100))
    staged.publish()
    with pytest.raises(MillpondError, match="already published"):
        staged.publish()
    staged.discard()
    assert numbers(stream) == list(range(100))


def test_a_failed_write_discards_everything(tmp_path: Path, options: StreamOptions) -> None:
    disk = FaultyDisk(durable=options.durability == "log")
    stream = open_stream(tmp_path, options, disk=disk)
    staged = stream.stage()
    staged.write(numbered(0, 64))
    disk.fail_at = len(disk.steps) + 1
    with pytest.raises(MillpondError, match="No space left on device"):
        staged.write(numbered(64, 64))
    assert staged_files(tmp_path) == []
    with pytest.raises(MillpondError, match="already discarded"):
        staged.publish()
    assert stream.stats().end_tid == 0


def test_rows_of_another_schema_are_refused(tmp_path: Path, options: StreamOptions) -> None:
    stream = open_stream(tmp_path, options)
    with stream.stage() as staged, pytest.raises(InternalError, match="do not have its schema"):
        staged.write(pa.table({"other": [1]}))


def test_a_drop_waits_for_staged_appends(tmp_path: Path, options: StreamOptions) -> None:
    stream = open_stream(tmp_path, options)
    staged = stream.stage()
    staged.write(numbered(0, 100))
    stream.drop()
    assert staged_files(tmp_path)
    staged.discard()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []

"""Pieces: rows in memory as files for readers, few of them, written seldom, never changed."""

from __future__ import annotations

import math
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millpond.stream import Tid, segment_file
from millpond.stream.disk import Disk
from millpond.stream.pieces import Pieces
from millpond.stream.pins import FilePins
from millpond.stream.segment_file import StoredFile, stored_schema, with_arrival
from tests.unit.stream.support import SCHEMA, numbered

FIRST_TID = Tid(100)


class Reader:
    """Appends batches to what a memory segment would hold, and pins them."""

    def __init__(self, directory: Path) -> None:
        self.pins = FilePins(Disk(durable=False))
        self.pieces = Pieces(directory, Disk(durable=False), self.pins, FIRST_TID)
        self.batches: list[pa.RecordBatch] = []
        self.rows = 0

    def arrive(self, size: int) -> None:
        rows = numbered(self.rows, size).combine_chunks().to_batches()[0]
        self.batches.append(with_arrival(rows, 1000, stored_schema(SCHEMA)))
        self.rows += size

    def read(self) -> list[StoredFile]:
        hold = self.pins.hold()
        files = self.pieces.pin(self.batches, hold)
        assert files is not None
        self.check(files)
        hold.release()
        return files

    def check(self, files: list[StoredFile]) -> None:
        assert [file.first_tid for file in files[1:]] == [file.end_tid for file in files[:-1]]
        assert (files[0].first_tid, files[-1].end_tid) == (FIRST_TID, FIRST_TID + self.rows)
        found = [n for file in files for n in segment_file.read(file.path, ["n"])["n"].to_pylist()]
        assert found == list(range(self.rows))


@given(sizes=st.lists(st.integers(1, 20), min_size=1, max_size=40))
@settings(max_examples=20, deadline=None)
def test_reading_after_each_append(tmp_path_factory: pytest.TempPathFactory, sizes: list[int]) -> None:
    directory = tmp_path_factory.mktemp("pieces")
    reader, written_rows, seen = Reader(directory), 0, set()
    for size in sizes:
        reader.arrive(size)
        files = reader.read()
        assert len(files) <= math.log2(reader.rows) + 1, "pieces shrink by half from one to the next"
        written_rows += sum(file.rows for file in files if file not in seen)
        seen.update(files)
        assert {path.name for path in directory.iterdir()} == {file.path.name for file in files}
    assert written_rows <= reader.rows * (math.log2(reader.rows) + 1), (
        "a row is written again only when its piece doubles"
    )


def test_nothing_new_needs_no_file(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    reader.arrive(5)
    assert reader.read() == reader.read()


def test_an_absorbed_piece_stays_for_its_reader(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    reader.arrive(2)
    hold = reader.pins.hold()
    (first,) = reader.pieces.pin(reader.batches, hold) or []
    reader.arrive(5)
    (absorbing,) = reader.read()
    assert segment_file.count_rows(first.path) == 2
    hold.release()
    assert not first.path.exists()
    assert absorbing.path.exists()


def test_retired_pieces_go_with_their_last_reader(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    reader.arrive(2)
    hold = reader.pins.hold()
    reader.pieces.pin(reader.batches, hold)
    reader.pieces.retire()
    assert len(list(tmp_path.iterdir())) == 1
    assert reader.pieces.pin(reader.batches, hold) is None
    hold.release()
    assert not list(tmp_path.iterdir())


def test_a_slower_reader_gets_what_a_faster_one_wrote(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    reader.arrive(3)
    earlier = list(reader.batches)
    reader.arrive(3)
    files = reader.read()
    assert reader.pieces.pin(earlier, reader.pins.hold()) == files

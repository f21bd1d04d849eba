"""Scratch files of the rows that a memory segment holds, so that readers need to know nothing but files.

The files are like the digits of a binary counter: new rows become a piece, which absorbs the pieces before it that
are not larger. Each time a row is written again its piece has at least doubled, so repeated reads cost in proportion
to the new rows (times a logarithm), and there are few pieces.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from millpond.stream.disk import Disk
from millpond.stream.layout import segment_name
from millpond.stream.options import Tid
from millpond.stream.pins import FilePins, Hold
from millpond.stream.segment_file import StoredFile


class Pieces:
    """The pieces of one memory segment; its own lock, so that writing one stops no writer of the stream."""

    def __init__(self, directory: Path, disk: Disk, pins: FilePins, first_tid: Tid) -> None:
        self._directory = directory
        self._disk = disk
        self._pins = pins
        self._first_tid = first_tid
        self._lock = threading.Lock()
        self._files: list[StoredFile] = []
        self._retired = False

    def pin(self, batches: Sequence[pa.RecordBatch], hold: Hold) -> list[StoredFile] | None:
        """Pin files that have the rows of `batches`, which start with the segment's first, or more rows.

        None if the pieces were retired: the ring then knows a better file, or the rows are overwritten.
        """
        rows = sum(batch.num_rows for batch in batches)
        with self._lock:
            if self._retired:
                return None
            if rows > self._rows():
                self._extend(batches, rows)
            for file in self._files:
                hold.pin(file.path)
            return list(self._files)

    def retire(self) -> None:
        """The segment has a file of its own now, or left the ring: remove the pieces when their readers are done."""
        with self._lock:
            self._retired = True
            for file in self._files:
                self._pins.remove_when_unused(file.path)
            self._files.clear()

    def _rows(self) -> int:
        return self._files[-1].end_tid - self._first_tid if self._files else 0

    def _extend(self, batches: Sequence[pa.RecordBatch], rows: int) -> None:
        start, kept = self._rows(), len(self._files)
        while kept and self._files[kept - 1].rows <= rows - start:
            kept -= 1
            start -= self._files[kept].rows
        piece = self._write(pa.Table.from_batches(batches).slice(start), Tid(self._first_tid + start))
        absorbed = self._files[kept:]
        self._files[kept:] = [piece]
        for file in absorbed:
            self._pins.remove_when_unused(file.path)

    def _write(self, table: pa.Table, first_tid: Tid) -> StoredFile:
        path = self._directory / segment_name(first_tid, table.num_rows)
        size_bytes = self._disk.write_scratch(path, table.combine_chunks())
        return StoredFile(path, first_tid, table.num_rows, size_bytes)

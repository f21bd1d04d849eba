"""Rows that come in pieces and are asked for by number: what a cursor goes back and forth on."""

from __future__ import annotations

import uuid
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa


class RowBuffer:
    """Rows numbered from 0, read from `pieces` as far as somebody asked. Whoever goes only forward lets go of the rest.

    What is kept beyond `memory_bytes_max` lies in files of a directory, made when it is needed, and is mapped.
    """

    def __init__(self, pieces: Iterator[pa.Table], directory: Path, memory_bytes_max: int) -> None:
        self._pieces, self._directory, self._memory_bytes_max = pieces, directory, memory_bytes_max
        self._kept: list[pa.Table] = []
        self._firsts: list[int] = []
        self._read = 0
        self._bytes = 0
        self._ended = False

    @property
    def count(self) -> int | None:
        """How many rows there are, if that is known yet."""
        return self._read if self._ended else None

    def starting_at(self, row: int, count: int | None) -> pa.Table | None:
        """Rows from a number on, at most so many of those that lie in one piece; None behind the last one."""
        while row >= self._read and self._read_piece():
            pass
        if row >= self._read:
            return None
        place = bisect_right(self._firsts, row) - 1
        return self._kept[place].slice(row - self._firsts[place], count)

    def ending_before(self, row: int, count: int) -> pa.Table:
        """The rows before a number that was read, in reverse, at most so many of those that lie in one piece."""
        place = bisect_right(self._firsts, row - 1) - 1
        first = self._firsts[place]
        start = max(first, row - count)
        indices = pa.array(range(row - first - 1, start - first - 1, -1), pa.int64())
        return self._kept[place].take(indices)

    def read_all(self) -> int:
        """Read to the end; gives back how many rows there are."""
        while self._read_piece():
            pass
        return self._read

    def forget_before(self, row: int) -> None:
        """Let go of pieces whose rows all come before a number."""
        while self._kept and self._firsts[0] + self._kept[0].num_rows <= row:
            self._bytes -= self._kept[0].nbytes
            del self._kept[0], self._firsts[0]

    def _read_piece(self) -> bool:
        piece = None if self._ended else next(self._pieces, None)
        if piece is None:
            self._ended = True
            return False
        if piece.num_rows:
            self._firsts.append(self._read)
            self._kept.append(self._within_memory(piece))
            self._read += piece.num_rows
        return True

    def _within_memory(self, piece: pa.Table) -> pa.Table:
        """The piece, or the same by way of a file if there are too many already."""
        self._bytes += piece.nbytes
        if self._bytes <= self._memory_bytes_max:
            return piece
        self._directory.mkdir(parents=True, exist_ok=True)
        path = str(self._directory / f"{uuid.uuid4().hex}.arrow")
        with pa.OSFile(path, "wb") as file, pa.ipc.new_file(file, piece.schema) as writer:
            writer.write_table(piece)
        return pa.ipc.open_file(pa.memory_map(path)).read_all()

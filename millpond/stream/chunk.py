"""A chunk: the tuples of a range of tids, as files that stay in place until the chunk is released."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

import pyarrow as pa
import pyarrow.compute as pc

from millpond.errors import InternalError
from millpond.relation import TID
from millpond.stream import segment_file
from millpond.stream.options import Tid, TidRange
from millpond.stream.pins import Hold
from millpond.stream.segment_file import ARRIVAL_FIELD, StoredFile

TID_FIELD = pa.field(TID.name, pa.int64(), nullable=False)


@dataclass(frozen=True)
class SegmentFile:
    """A file of a chunk: of its `rows`, which start with `first_tid`, skip `skip` and take the next `take`."""

    path: Path
    first_tid: Tid
    rows: int
    skip: int
    take: int
    in_memory: pa.Table | None = field(default=None, compare=False, repr=False)

    def read(self, columns: Sequence[str]) -> pa.Table:
        """The rows that are of the chunk."""
        known = self.in_memory
        rows = segment_file.read(self.path, columns) if known is None else known.select(list(columns))
        return rows.slice(self.skip, self.take)

    @property
    def is_cut(self) -> bool:
        """Whether the file has rows that are not of the chunk."""
        return self.take < self.rows


class Chunk:
    """Tuples [first, end) of a stream, pinned until `release`, the end of a `with` block or garbage collection.

    A file's rows may reach beyond the chunk at either end: a reader that computes tids keeps [first, end) and has
    exactly the chunk; if `is_cut` is false there is nothing to remove.
    """

    def __init__(self, schema: pa.Schema, tids: TidRange, files: Sequence[StoredFile], hold: Hold) -> None:
        self.first = tids.first
        self.end = tids.end
        self.files = tuple(_cut(file, tids) for file in files)
        self._schema = schema
        self._hold = hold
        self._finalizer = weakref.finalize(self, hold.abandon)
        self._finalizer.atexit = False

    @property
    def rows(self) -> int:
        return self.end - self.first

    @property
    def is_cut(self) -> bool:
        """Whether some file has rows that are not of the chunk."""
        return any(file.is_cut for file in self.files)

    def read(self, columns: Sequence[str] | None = None) -> pa.Table:
        """The rows, with `tid` and `arrival_timestamp` after the stream's own columns, or the columns asked for."""
        wanted = self._wanted(columns)
        return pa.concat_tables([wanted.empty_table(), *self.pieces(columns)])

    def pieces(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """The same, file by file."""
        wanted = self._wanted(columns)
        for file in self.files:
            if not self._finalizer.alive:
                raise InternalError("a chunk was read after its release")
            yield _read(file, wanted)

    def _wanted(self, columns: Sequence[str] | None) -> pa.Schema:
        fields = pa.schema([*self._schema, TID_FIELD, ARRIVAL_FIELD])
        return pa.schema([fields.field(name) for name in (fields.names if columns is None else columns)])

    def release(self) -> None:
        """Let the files go; again does nothing."""
        if self._finalizer.detach():
            self._hold.release()

    def __enter__(self) -> Chunk:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def _cut(file: StoredFile, tids: TidRange) -> SegmentFile:
    skip = max(0, tids.first - file.first_tid)
    take = min(tids.end, file.end_tid) - file.first_tid - skip
    return SegmentFile(file.path, file.first_tid, file.rows, skip, take, file.in_memory)


def _read(file: SegmentFile, wanted: pa.Schema) -> pa.Table:
    stored = [name for name in wanted.names if name != TID.name]
    rows = file.read(stored)
    if TID.name in wanted.names:
        rows = rows.append_column(TID_FIELD, _tids(file))
    return rows.select(wanted.names).cast(wanted)


def _tids(file: SegmentFile) -> pa.Int64Array:
    before = pa.scalar(file.first_tid + file.skip - 1, pa.int64())
    return pc.cumulative_sum(pa.repeat(pa.scalar(1, pa.int64()), file.take), start=before)

"""A segment that is still in memory: small appends collect here until they are worth a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import pyarrow as pa

from millpond.stream.options import Tid
from millpond.stream.wal import Wal

Batches: TypeAlias = Sequence[pa.RecordBatch]

_FOLD_BATCHES = 64
"""This many batches become one: a batch of a row costs kilobytes, and a table of 65,536 batches takes long to build."""


class MemorySegment:
    """Rows [first_tid, end_tid) as Arrow record batches, which the log repeats if the stream has one.

    `rows`, `size_bytes` and the batches change under the relation's lock of visible state only.
    """

    def __init__(self, first_tid: Tid, wal: Wal | None) -> None:
        self.first_tid = first_tid
        self.rows = 0
        self.size_bytes = 0
        self.wal = wal
        self._batches: list[pa.RecordBatch] = []
        self._unfolded = 0

    @property
    def end_tid(self) -> Tid:
        return Tid(self.first_tid + self.rows)

    def append(self, batch: pa.RecordBatch, size_bytes: int) -> None:
        self._batches.append(batch)
        self.rows += batch.num_rows
        self.size_bytes += size_bytes
        self._unfolded += 1
        if self._unfolded == _FOLD_BATCHES:
            folded = pa.Table.from_batches(self._batches[-_FOLD_BATCHES:]).combine_chunks()
            self._batches[-_FOLD_BATCHES:] = folded.to_batches()
            self._unfolded = 0

    def snapshot(self) -> Batches:
        """The batches of now; they are never changed."""
        return tuple(self._batches)

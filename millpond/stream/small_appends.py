"""Small appends on their way in: they queue up here, and whoever commits first commits for all (group commit)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import pyarrow as pa

from millpond.errors import MillpondError
from millpond.stream.options import SegmentLimits, Tid, TidRange


class PendingAppend:
    """One small append: its rows in memory of their own, and what became of them."""

    def __init__(self, rows: pa.RecordBatch, size_bytes: int, schema: pa.Schema) -> None:
        # The message is what the log stores. Reading the rows back from it frees them from the caller's memory, which
        # may be a slice of something large, or be changed after the append.
        self.message = rows.serialize()
        self.rows = pa.ipc.read_record_batch(self.message, schema)
        self.size_bytes = size_bytes
        self._tids: TidRange | None = None
        self._error: MillpondError | None = None

    @property
    def is_settled(self) -> bool:
        return self._tids is not None or self._error is not None

    def succeed(self, first_tid: Tid) -> Tid:
        """Settle with the tids from `first_tid`; returns their end."""
        self._tids = TidRange(first_tid, Tid(first_tid + self.rows.num_rows))
        return self._tids.end

    def fail(self, error: MillpondError) -> None:
        self._error = error

    def result(self) -> TidRange:
        if self._error is not None:
            raise self._error
        assert self._tids is not None, "the append was not committed"
        return self._tids


class AppendQueue:
    """Pending appends in the order in which they came; it never has more than there are writing threads."""

    def __init__(self, limits: SegmentLimits) -> None:
        self._limits = limits
        self._queue: deque[PendingAppend] = deque()

    def __len__(self) -> int:
        return len(self._queue)

    def put(self, pending: PendingAppend) -> None:
        self._queue.append(pending)

    def take_group(self) -> Sequence[PendingAppend]:
        """The next appends, as many as the open segment should get at once; only one thread may take."""
        group: list[PendingAppend] = []
        rows = size_bytes = 0
        while self._queue and self._limits.is_small(rows, size_bytes):
            group.append(self._queue.popleft())
            rows += group[-1].rows.num_rows
            size_bytes += group[-1].size_bytes
        return group

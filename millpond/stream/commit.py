"""The commit: appends get their arrival and tids here, one group or bulk at a time, and become visible.

The order in which the commit lock is taken is the order of arrivals, of tids and of visibility, so nothing has to be
sorted, waited for or skipped afterwards.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

import pyarrow as pa

from millpond.errors import InternalError, MillpondError, SqlState
from millpond.stream.core import StreamCore
from millpond.stream.disk import write_failure
from millpond.stream.maintenance import Maintenance
from millpond.stream.memory_segment import MemorySegment
from millpond.stream.options import Tid, TidRange
from millpond.stream.origins import Origin
from millpond.stream.publication import InDoubtError, publish
from millpond.stream.segment_file import with_arrival
from millpond.stream.small_appends import AppendQueue, PendingAppend
from millpond.stream.staging import StagedFile
from millpond.stream.wal import Frame, Wal

logger = logging.getLogger(__name__)

Clock = Callable[[], int]
"""Tells the time in microseconds."""


class Committer:
    """Commits the appends to one stream."""

    def __init__(self, core: StreamCore, maintenance: Maintenance, clock: Clock) -> None:
        self._core = core
        self._maintenance = maintenance
        self._clock = clock
        self._lock = threading.Lock()
        self._queue = AppendQueue(core.limits)
        self._open: MemorySegment | None = None
        self._broken = False

    def append_small(self, rows: pa.RecordBatch, size_bytes: int) -> TidRange:
        """Append to the open segment, together with all other small appends that wait."""
        self._admit()
        pending = PendingAppend(rows, size_bytes, self._core.schema)
        self._queue.put(pending)
        with self._lock:
            while not pending.is_settled:
                self._commit_group(self._queue.take_group())
        self._maintenance.run()
        return pending.result()

    def publish(self, staged: Sequence[StagedFile], origin: Origin | None = None) -> TidRange:
        """Append staged files, all rows at once."""
        self._admit()
        with self._lock:
            self._check()
            tids = self._publish(staged, origin)
            self._overwrite()
        self._maintenance.run()
        return tids

    def close(self) -> None:
        """Refuse further appends, and hand the open segment on; again does nothing."""
        with self._lock, self._core.visible:
            self._core.closed = True
            self._seal()

    def _admit(self) -> None:
        """Let an append begin: it waits for readers that must not be overrun, and is refused while memory cannot be
        emptied to disk.
        """
        self._check()
        self._core.followers.wait_for_room(self._core.is_full_from, self._check)
        self._core.pins.release_abandoned()
        try:
            self._maintenance.retry()
        except OSError as error:
            raise write_failure(self._core.name, error) from error

    def _check(self) -> None:
        self._core.check_open()
        if self._broken:
            raise self._refusal()

    def _refusal(self) -> MillpondError:
        return MillpondError(
            SqlState.IO_ERROR,
            f'stream "{self._core.name}" takes no more appends',
            detail="A failed write could not be taken back, so what is on disk is not known.",
            hint="Mend the disk and reopen the pond; acknowledged rows are safe.",
        )

    # -- small appends ---------------------------------------------------------------------------------------

    def _commit_group(self, group: Sequence[PendingAppend]) -> None:
        """Commit a group; whatever goes wrong, everyone in it is told."""
        try:
            tid = self._commit_rows(group)
        except BaseException as error:
            for pending in group:
                pending.fail(self._failure(error))
            if not isinstance(error, OSError | MillpondError):
                raise
            return
        for pending in group:
            tid = pending.succeed(tid)
        self._overwrite()

    def _commit_rows(self, group: Sequence[PendingAppend]) -> Tid:
        """Log the rows and make them visible; returns the first tid."""
        self._check()
        arrival_us = self._arrival_us()
        segment = self._open = self._open or self._new_segment()
        first_tid = segment.end_tid
        batches = [(with_arrival(p.rows, arrival_us, self._core.stored_schema), p.size_bytes) for p in group]
        if segment.wal:
            self._log(segment.wal, group, first_tid, arrival_us)
        with self._core.visible:
            for batch, size_bytes in batches:
                self._core.ring.grow(segment, batch, size_bytes)
            self._arrived(segment.end_tid - first_tid, arrival_us)
            if self._core.limits.is_full(segment.rows, segment.size_bytes):
                self._seal()
        return first_tid

    def _log(self, wal: Wal, group: Sequence[PendingAppend], first_tid: Tid, arrival_us: int) -> None:
        rows = sum(pending.rows.num_rows for pending in group)
        payload = b"".join(pending.message for pending in group)
        try:
            wal.append(Frame(first_tid, rows, arrival_us, payload))
        finally:
            self._broken = wal.torn

    def _new_segment(self) -> MemorySegment:
        core, first_tid = self._core, self._core.ring.end_tid
        wal = Wal(core.disk, core.layout.log(first_tid), first_tid) if core.disk.durable else None
        return MemorySegment(first_tid, wal)

    def _seal(self) -> None:
        """Close the open segment: the next small append starts another."""
        if self._open:
            self._maintenance.seal(self._open)
            self._open = None

    # -- bulk appends ----------------------------------------------------------------------------------------

    def _publish(self, staged: Sequence[StagedFile], origin: Origin | None) -> TidRange:
        core, arrival_us, first_tid = self._core, self._arrival_us(), self._core.ring.end_tid
        try:
            segments = publish(core.disk, core.layout, staged, first_tid, arrival_us, origin)
        except InDoubtError as error:
            self._broken = True
            raise self._refusal() from error
        with core.visible:
            self._seal()
            for segment in segments:
                core.ring.push(segment)
            self._arrived(core.ring.end_tid - first_tid, arrival_us)
            self._maintenance.note_new_files()
        if origin is not None:
            core.origins.note(origin)
        return TidRange(first_tid, core.ring.end_tid)

    # -- both ------------------------------------------------------------------------------------------------

    def _arrival_us(self) -> int:
        """Now, but never before the last arrival, whatever the clock does."""
        return max(self._clock(), self._core.arrivals.last_us)

    def _arrived(self, rows: int, arrival_us: int) -> None:
        self._core.arrivals.note(arrival_us)
        self._core.rate.add(rows, arrival_us)

    def _overwrite(self) -> None:
        """Take what is beyond the capacity out of the ring."""
        core = self._core
        with core.visible:
            surplus = list(core.ring.surplus(core.followers.floor))
            if not surplus or not self._move_mark(core.ring.first_tid, surplus[-1].end_tid):
                return
            core.ring.drop(len(surplus))
        for segment in surplus:
            core.retire(segment)

    def _move_mark(self, old: Tid, new: Tid) -> bool:
        """Note on disk where the ring starts, before anything below is removed.

        Readers may keep a file below the mark while those around it are gone already; after a crash the mark tells
        that this is no damage. It needs no sync: file systems journal it before the removals that follow.
        """
        core = self._core
        if not core.disk.durable:
            return True
        try:
            core.disk.create_mark(core.layout.mark(new))
        except OSError:
            # The append is safe; the ring is a segment too large until the next one tries again.
            logger.warning('could not move the mark of stream "%s"', core.name, exc_info=True)
            return False
        core.disk.remove_or_warn(core.layout.mark(old))
        return True

    def _failure(self, error: BaseException) -> MillpondError:
        if isinstance(error, MillpondError):
            return error
        if isinstance(error, OSError):
            failure: MillpondError = write_failure(self._core.name, error)
        else:
            failure = InternalError(f'an append to stream "{self._core.name}" failed', detail=repr(error))
        failure.__cause__ = error
        return failure

"""The stream relation: an append-only log of tuples with dense ids, of which a ring keeps the newest.

How a row travels: a small append goes to the open segment in memory and, if the stream is durable, to that segment's
write-ahead log, one sync for all that wait (`small_appends`, `memory_segment`, `wal`). A large one is written to
files first (`staged_append`) and then published (`publication`). Either way it gets its arrival and its tids under
the commit lock, in one order for all, and becomes visible at once (`commit`), so a tuple is visible only when all
before it are. A failed append never had tids, so there are no holes. Full open segments become files, and small
files are merged (`maintenance`); the oldest are overwritten (`ring`). A reader holds a chunk, whose files nobody
removes while it does (`pins`); rows that are still in memory are files to it as well (`copies`).
"""

from __future__ import annotations

import threading
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pyarrow as pa

from millpond.errors import MillpondError, SqlState
from millpond.stream.arrivals import Arrivals
from millpond.stream.chunk import Chunk
from millpond.stream.commit import Clock, Committer
from millpond.stream.core import StreamCore
from millpond.stream.disk import Disk, write_failure
from millpond.stream.followers import Follower, Followers
from millpond.stream.layout import Layout
from millpond.stream.maintenance import Maintenance
from millpond.stream.memory_segment import Batches
from millpond.stream.options import StreamOptions, StreamStats, Tid, TidRange
from millpond.stream.origins import Origin
from millpond.stream.pins import Hold
from millpond.stream.recovery import Recovered, clear_scratch, recover
from millpond.stream.ring import Segment
from millpond.stream.segment_file import StoredFile, stored_schema
from millpond.stream.shared_chunks import SharedChunks
from millpond.stream.staged_append import StagedAppend


def now_us() -> int:
    """The wall clock in microseconds."""
    return time.time_ns() // 1000


class StreamRelation:
    """One stream; every method may be called from any thread."""

    def __init__(self, core: StreamCore, clock: Clock) -> None:
        self._core = core
        self._clock = clock
        self._maintenance = Maintenance(core)
        self._committer = Committer(core, self._maintenance, clock)
        self._shared_chunks = SharedChunks(self.hold)
        # Writers of a log share a sync, so they go in together. In memory there is nothing to share, and fighting for
        # the interpreter's lock makes all of them slower.
        self._small_append_turn: AbstractContextManager[object] = (
            nullcontext() if core.disk.durable else threading.Lock()
        )

    @classmethod
    def open(
        cls,
        name: str,
        directory: Path,
        scratch: Path,
        schema: pa.Schema,
        options: StreamOptions,
        clock: Clock = now_us,
        disk: Disk | None = None,
    ) -> StreamRelation:
        """Open a stream, or create it in a new `directory`; both folders are for this stream alone.

        `schema` has neither `tid` nor `arrival_timestamp`. A stream of durability "memory" lives in `scratch`.
        """
        stored_schema(schema)
        durable = options.durability == "log"
        disk = disk or Disk(durable=durable)
        layout = Layout(directory if durable else scratch, scratch)
        try:
            recovered = cls._prepare(disk, layout, schema)
        except OSError as error:
            raise write_failure(name, error) from error
        return cls(StreamCore(name, schema, options, layout, disk, recovered), clock)

    @staticmethod
    def _prepare(disk: Disk, layout: Layout, schema: pa.Schema) -> Recovered:
        clear_scratch(disk, [layout.copies])
        if disk.durable:
            return recover(disk, layout, schema)
        clear_scratch(disk, [layout.segments, layout.staged])
        return Recovered(Tid(0), [], 0)

    def append(self, rows: pa.Table | pa.RecordBatch) -> TidRange:
        """Append rows of the stream's schema; they are visible, and safe if the stream is durable, on return."""
        self._core.check_schema(rows.schema)
        if rows.num_rows == 0:
            return self._empty_range()
        size_bytes = rows.nbytes
        if self._core.limits.is_small(rows.num_rows, size_bytes):
            return self._append_small(rows, size_bytes)
        with self.stage() as staged:
            staged.write(rows)
            return staged.publish()

    def stage(self) -> StagedAppend:
        """Begin a bulk append, whose rows become visible all at once or never."""
        with self._core.visible:
            self._core.check_open()
            return StagedAppend(self._core, self._append_small, self._committer.publish)

    def hold(self, first: int | None = None, end: int | None = None) -> Chunk:
        """Pin the tuples [first, end): by default all that the ring holds, every acknowledged one included."""
        self._core.pins.release_abandoned()
        hold = self._core.pins.hold()
        try:
            return self._pin(first, end, hold)
        except OSError as error:
            hold.release()
            raise write_failure(self._core.name, error) from error
        except BaseException:
            hold.release()
            raise

    def follow(self, first: int | None = None, *, earliest: bool = False) -> Follower:
        """Follow the stream from `first`, by default from its end, or from the first tuple that it holds: what is not
        read yet is not overwritten."""
        core = self._core
        with core.visible:
            core.check_open()
            default = core.ring.first_tid if earliest else core.ring.end_tid
            return core.followers.add(self._resolve(default if first is None else first, None).first)

    def origin(self, writer: int) -> Origin | None:
        """How far a writer was at its last append that told."""
        return self._core.origins.of(writer)

    def forget_origin(self, writer: int) -> None:
        """A writer is gone."""
        self._core.origins.forget(writer)
        self._core.disk.remove_or_warn(self._core.layout.origin(writer))

    @property
    def is_open(self) -> bool:
        """Whether it was neither closed nor dropped."""
        return not self._core.closed

    @property
    def followers(self) -> Followers:
        return self._core.followers

    @property
    def arrivals(self) -> Arrivals:
        return self._core.arrivals

    @property
    def shared_chunks(self) -> SharedChunks:
        return self._shared_chunks

    def now_us(self) -> int:
        """The time, by the clock that arrivals are stamped with."""
        return self._clock()

    def compact(self) -> None:
        """Merge adjacent small segments; writers do it on their own when there are many."""
        self._core.check_open()
        try:
            self._maintenance.compact()
        except OSError as error:
            raise write_failure(self._core.name, error) from error

    def stats(self) -> StreamStats:
        core = self._core
        with core.visible:
            core.check_open()
            return StreamStats(
                rows_in=core.ring.end_tid,
                rate=core.rate.rows_per_second(self._clock()),
                first_tid=core.ring.first_tid,
                end_tid=core.ring.end_tid,
                last_arrival_us=core.arrivals.last_us,
                rows_held=core.ring.end_tid - core.ring.first_tid,
                bytes_held=core.ring.size_bytes,
                segments=len(core.ring),
                durability=core.options.durability,
                capacity_rows=core.options.capacity_rows,
                capacity_bytes=core.options.capacity_bytes,
            )

    def close(self) -> None:
        """Write what is in memory and refuse everything but releases; a stream of durability "memory" is gone."""
        self._committer.close()
        if not self._core.disk.durable:
            self.drop()
            return
        try:
            self._maintenance.flush()
        except OSError as error:
            raise write_failure(self._core.name, error) from error

    def drop(self) -> None:
        """Close, and remove everything as soon as nobody reads it."""
        self._committer.close()
        core = self._core
        core.pins.release_abandoned()
        self._maintenance.stop()
        for folder in {core.layout.root, core.layout.scratch}:
            core.pins.remove_tree_when_unused(folder)

    def _append_small(self, rows: pa.Table | pa.RecordBatch, size_bytes: int) -> TidRange:
        if rows.num_rows == 0:
            return self._empty_range()
        with self._small_append_turn:
            batch = rows if isinstance(rows, pa.RecordBatch) else rows.combine_chunks().to_batches()[0]
            return self._committer.append_small(batch, size_bytes)

    def _empty_range(self) -> TidRange:
        with self._core.visible:
            self._core.check_open()
            return TidRange(self._core.ring.end_tid, self._core.ring.end_tid)

    # -- holding ---------------------------------------------------------------------------------------------

    def _pin(self, first: int | None, end: int | None, hold: Hold) -> Chunk:
        core = self._core
        with core.visible:
            core.check_open()
            tids = self._resolve(first, end)
            hold.pin(core.layout.root)
            hold.pin(core.layout.scratch)
            segments = [self._pinned(segment, hold) for segment in core.ring.between(tids.first, tids.end)]
        return Chunk(core.schema, tids, [self._file(segment, tids, hold) for segment in segments], hold)

    @staticmethod
    def _pinned(segment: Segment, hold: Hold) -> StoredFile | tuple[Tid, Batches]:
        """A segment as it is now, whatever becomes of it."""
        if isinstance(segment, StoredFile):
            hold.pin(segment.path)
            return segment
        return segment.first_tid, segment.snapshot()

    def _file(self, segment: StoredFile | tuple[Tid, Batches], tids: TidRange, hold: Hold) -> StoredFile:
        if isinstance(segment, StoredFile):
            return self._core.copies.of_file(segment, tids, hold)
        return self._core.copies.of_memory(*segment, tids, hold)

    def _resolve(self, first: int | None, end: int | None) -> TidRange:
        """The tids asked for, after checking that the ring has them."""
        ring = self._core.ring
        tids = TidRange(Tid(ring.first_tid if first is None else first), Tid(ring.end_tid if end is None else end))
        if tids.first < ring.first_tid:
            raise self._overrun(tids.first)
        if not tids.first <= tids.end <= ring.end_tid:
            raise MillpondError(
                SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                f'stream "{self._core.name}" has no tuples {tids.first} to {tids.end - 1}',
                detail=f"Its next tuple will be {ring.end_tid}.",
            )
        return tids

    def _overrun(self, first: Tid) -> MillpondError:
        ring = self._core.ring
        return MillpondError(
            SqlState.STREAM_OVERRUN,
            f'tuples {first} to {ring.first_tid - 1} of stream "{self._core.name}" have been overwritten',
            detail=f"The stream holds tuples {ring.first_tid} to {ring.end_tid - 1}.",
            hint="Give the stream a larger capacity, or let writers wait for this reader: SET on_overrun = 'block'.",
        )

"""What writers do for the stream after their append: write full memory segments as files, merge small files.

One thread at a time does it, while the others go on appending; only when too much waits do they wait as well.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence

import pyarrow as pa

from millpond.errors import MillpondError
from millpond.stream.compaction import Run, is_crowded, read_run, runs_to_merge
from millpond.stream.core import StreamCore
from millpond.stream.memory_segment import MemorySegment
from millpond.stream.ring import Segment
from millpond.stream.segment_file import StoredFile
from millpond.stream.staging import StagedFile

logger = logging.getLogger(__name__)

_SEALED_MAX = 4
"""With more closed segments than this still in memory, writers wait until they are written."""


class Maintenance:
    """Closes and merges the segments of one stream."""

    def __init__(self, core: StreamCore) -> None:
        self._core = core
        self._turn = threading.Lock()
        self._sealed: list[MemorySegment] = []
        self._flush_failed = False
        self._files_changed = False

    def seal(self, segment: MemorySegment) -> None:
        """Take a memory segment that gets no more rows; called under the lock of visible state."""
        if segment.wal:
            segment.wal.close()
        self._sealed.append(segment)

    def note_new_files(self) -> None:
        """There are new segments, which may be small."""
        self._files_changed = True

    def run(self) -> None:
        """Do what is due, unless another thread is at it and it is not urgent."""
        if not self._sealed and not self._files_changed:
            return
        if not self._turn.acquire(blocking=len(self._sealed) > _SEALED_MAX):
            return
        try:
            self._flush_all()
            self._merge_if_crowded()
        except (OSError, pa.ArrowException, MillpondError):
            # The append that brought us here is safe, so it must not fail. If rows could not be moved from memory to
            # a file, `retry` makes the next append try again before it adds to them.
            logger.warning('could not write a segment of stream "%s"', self._core.name, exc_info=True)
        finally:
            self._turn.release()

    def retry(self) -> None:
        """Raise if memory segments cannot be written: the stream must not grow in memory until they are."""
        if self._flush_failed:
            self.flush()

    def flush(self) -> None:
        """Write all closed memory segments."""
        with self._turn:
            self._flush_all()

    def compact(self) -> None:
        """Merge adjacent small segments now."""
        with self._turn:
            self._flush_all()
            self._merge()

    def stop(self) -> None:
        """Forget what is due: the stream is being dropped."""
        with self._turn:
            self._sealed.clear()
            self._files_changed = False

    def _flush_all(self) -> None:
        while self._sealed:
            try:
                self._flush(self._sealed[0])
            except OSError:
                self._flush_failed = True
                raise
            self._flush_failed = False

    def _flush(self, segment: MemorySegment) -> None:
        with self._core.visible:
            batches = segment.snapshot() if self._core.ring.contains([segment]) else ()
        if batches:
            self._swap([segment], self._core.staging.write(pa.Table.from_batches(batches).combine_chunks()))
            self._files_changed = True
        # Before the log goes, also when this is another try and the file is in its place already.
        self._core.disk.sync_directory(self._core.layout.segments)
        self._sealed.remove(segment)
        self._core.retire(segment)

    def _merge_if_crowded(self) -> None:
        if self._files_changed:
            self._files_changed = False
            with self._core.visible:
                crowded = is_crowded(self._core.ring.segments, self._core.limits)
            if crowded:
                self._merge()

    def _merge(self) -> None:
        with self._core.visible:
            runs = runs_to_merge(self._core.ring.segments, self._core.limits)
        for run in runs:
            self._merge_run(run)

    def _merge_run(self, run: Run) -> None:
        hold = self._core.pins.hold()
        try:
            with self._core.visible:
                if not self._core.ring.contains(run):
                    return  # overwritten in the meantime
                for file in run:
                    hold.pin(file.path)
            if self._swap(run, self._core.staging.write(read_run(run).combine_chunks())):
                self._core.disk.sync_directory(self._core.layout.segments)
                for file in run:
                    self._core.retire(file)
        finally:
            hold.release()

    def _swap(self, old: Sequence[Segment], staged: StagedFile) -> bool:
        """Put a staged file in the place of segments with the same rows, unless they have been overwritten."""
        path = self._core.layout.segment(old[0].first_tid, staged.rows)
        new = StoredFile(path, old[0].first_tid, staged.rows, staged.size_bytes)
        try:
            with self._core.visible:  # the ring and the folder change together
                if not self._core.ring.contains(old):
                    return False
                self._core.disk.rename(staged.path, new.path)
                self._core.ring.replace(old, new)
        finally:
            self._core.staging.discard(staged)
        return True

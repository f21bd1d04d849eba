"""Every change that a stream makes to its files, in one class: where syncing is decided and tests inject faults."""

from __future__ import annotations

import errno
import logging
import os
import shutil
from pathlib import Path

import pyarrow as pa

from millpond.errors import MillpondError, SqlState
from millpond.files import fsync_path
from millpond.stream import segment_file

logger = logging.getLogger(__name__)

_sync_data = getattr(os, "fdatasync", os.fsync)  # macOS has no fdatasync


class Disk:
    """File operations that return once their effect survives a crash if `durable`, at once otherwise.

    Names are the exception: after creating, renaming or removing files the caller says `sync_directory` when they
    must last, because one sync serves many names.
    """

    def __init__(self, *, durable: bool) -> None:
        self.durable = durable

    def make_directory(self, path: Path) -> None:
        if not path.is_dir():
            path.mkdir(parents=True)
            self.sync_directory(path.parent)

    def write_segment(self, path: Path, table: pa.Table) -> int:
        """Write rows, `arrival_timestamp` included, as a segment file and return its size in bytes.

        A failure leaves no file.
        """
        try:
            segment_file.write(path, table)
            self._sync_file(path)
            return path.stat().st_size
        except BaseException:
            path.unlink(missing_ok=True)
            raise

    def write_scratch(self, path: Path, table: pa.Table) -> int:
        """The same for a file that only this process will read."""
        segment_file.write(path, table)
        return path.stat().st_size

    def stamp_segment(self, path: Path, arrival_us: int) -> None:
        """Give the rows of a segment file that was written without an arrival theirs."""
        segment_file.stamp(path, arrival_us)
        self._sync_file(path)

    def write_file(self, path: Path, data: bytes) -> None:
        """Write a small file so that `path` holds either all of it or what it held before."""
        temporary = path.with_name(path.name + ".tmp")
        temporary.write_bytes(data)
        self._sync_file(temporary)
        temporary.rename(path)
        self.sync_directory(path.parent)

    def create_mark(self, path: Path) -> None:
        """Create an empty file, which says what it says by its name."""
        path.touch()

    def rename(self, source: Path, target: Path) -> None:
        source.rename(target)

    def remove(self, path: Path) -> None:
        """Remove a file; one that is gone already is no error."""
        path.unlink(missing_ok=True)

    def remove_tree(self, path: Path) -> None:
        """Remove a folder with all that is in it; one that is gone already is no error."""
        if path.exists():
            shutil.rmtree(path)

    def remove_or_warn(self, path: Path) -> None:
        """Remove a file that nobody needs any more; if that fails, the next open of the stream does it."""
        try:
            self.remove(path)
        except OSError:
            logger.warning("could not remove %s", path, exc_info=True)

    def sync_directory(self, path: Path) -> None:
        """Make the names in a directory last."""
        if self.durable:
            fsync_path(path)

    def create_log(self, path: Path, header: bytes) -> int:
        """Create an append-only file, in place of one that may be left from a failed try, and return its descriptor."""
        descriptor = os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_CLOEXEC, 0o644)
        try:
            self.append_log(descriptor, 0, header)
            self.sync_directory(path.parent)
        except BaseException:
            os.close(descriptor)
            path.unlink(missing_ok=True)
            raise
        return descriptor

    def append_log(self, descriptor: int, offset_bytes: int, data: bytes) -> None:
        """Write at the end of a log, which is at `offset_bytes`."""
        view = memoryview(data)
        while view:
            written_bytes = os.pwrite(descriptor, view, offset_bytes)
            offset_bytes += written_bytes
            view = view[written_bytes:]
        self._sync(descriptor)

    def truncate_log(self, descriptor: int, size_bytes: int) -> None:
        os.ftruncate(descriptor, size_bytes)
        self._sync(descriptor)

    def _sync_file(self, path: Path) -> None:
        if self.durable:
            fsync_path(path)

    def _sync(self, descriptor: int) -> None:
        if self.durable:
            _sync_data(descriptor)


def write_failure(stream: str, error: OSError) -> MillpondError:
    """What the user is told when a stream's files cannot be written."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    reason = os.strerror(error.errno) if error.errno else str(error)
    return MillpondError(
        SqlState.DISK_FULL if full else SqlState.IO_ERROR,
        f'could not write to stream "{stream}": {reason}',
        hint="Free space on the disk, or give the stream a smaller capacity." if full else None,
    )

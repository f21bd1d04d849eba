"""One process at a time: the lock that an open pond holds.

The operating system gives the lock back when the process ends, however it ends.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from millpond.errors import MillpondError, SqlState


class PondLock:
    """An exclusive lock on a pond's directory."""

    def __init__(self, directory: Path) -> None:
        self._descriptor = os.open(directory / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(self._descriptor, 32).decode(errors="replace").strip()
            os.close(self._descriptor)
            raise MillpondError(
                SqlState.OBJECT_IN_USE,
                f'pond "{directory}" is already open',
                detail=f"Process {holder} holds it." if holder else None,
                hint="Close it there, or connect to the server that serves it.",
            ) from None
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, str(os.getpid()).encode(), 0)

    def release(self) -> None:
        os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)

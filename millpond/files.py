"""Small file-system helpers that more than one store needs: durable writes, and files that readers pin."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Hashable
from pathlib import Path


def fsync_path(path: Path) -> None:
    """Force a file's bytes, or a directory's names, to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class Pins:
    """Counts who uses a thing, and runs what was deferred once nobody does.

    >>> pins, log = Pins(), []
    >>> release = pins.pin("t")
    >>> pins.when_unused("t", lambda: log.append("gone")); log
    []
    >>> release(); release(); log
    ['gone']
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[Hashable, int] = {}
        self._deferred: dict[Hashable, list[Callable[[], None]]] = {}

    def pin(self, key: Hashable) -> Callable[[], None]:
        """Use `key` until the returned function is called; calling it again does nothing."""
        with self._lock:
            self._counts[key] = self._counts.get(key, 0) + 1
        held = [key]

        def release() -> None:
            with self._lock:
                mine = bool(held)
                held.clear()
            if mine:
                self._release(key)

        return release

    def when_unused(self, key: Hashable, action: Callable[[], None]) -> None:
        """Run `action` as soon as nobody uses `key`: now, or at the last release."""
        with self._lock:
            if self._counts.get(key):
                self._deferred.setdefault(key, []).append(action)
                return
        action()

    def _release(self, key: Hashable) -> None:
        with self._lock:
            self._counts[key] -= 1
            if self._counts[key]:
                return
            del self._counts[key]
            actions = self._deferred.pop(key, [])
        for action in actions:
            action()

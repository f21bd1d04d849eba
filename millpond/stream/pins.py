"""Which readers use which files of a stream: a file that left the ring is removed when the last of them is done."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from millpond.files import Pins
from millpond.stream.disk import Disk


class FilePins:
    """The pins on the files and folders of one stream."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._pins = Pins()
        self._abandoned: deque[Hold] = deque()

    def hold(self) -> Hold:
        """What a new reader pins with."""
        return Hold(self._pins, self._abandoned)

    def remove_when_unused(self, path: Path) -> None:
        """Remove a file now, or when its last reader is done."""
        self._pins.when_unused(path, lambda: self._disk.remove_or_warn(path))

    def remove_tree_when_unused(self, path: Path) -> None:
        """Remove a folder now, or when its last reader is done."""
        self._pins.when_unused(path, lambda: self._disk.remove_tree(path))

    def release_abandoned(self) -> None:
        """Release what garbage-collected readers had pinned."""
        while self._abandoned:
            with suppress(IndexError):  # another thread was faster
                self._abandoned.popleft().release()


class Hold:
    """All that one reader has pinned."""

    def __init__(self, pins: Pins, abandoned: deque[Hold]) -> None:
        self._pins = pins
        self._abandoned = abandoned
        self._releases: list[Callable[[], None]] = []

    def pin(self, path: Path) -> None:
        self._releases.append(self._pins.pin(path))

    def release(self) -> None:
        while self._releases:
            self._releases.pop()()

    def abandon(self) -> None:
        """Note that the reader was garbage-collected; `FilePins.release_abandoned` does the rest.

        The collector may call this at any moment, even while this very thread holds a lock: so take none.
        """
        self._abandoned.append(self)

"""When tuples last arrived in a stream, and who waits for the next."""

from __future__ import annotations

import threading


class Arrivals:
    """The last arrival of one stream, which changes with what readers see, and whoever is to be woken by the next."""

    def __init__(self, last_us: int) -> None:
        self.last_us = last_us
        self._waiting: frozenset[threading.Event] = frozenset()
        self._lock = threading.Lock()

    def note(self, arrival_us: int) -> None:
        """Tuples have arrived; called under the lock of visible state."""
        self.last_us = arrival_us
        for event in self._waiting:
            event.set()

    @property
    def waiting(self) -> int:
        """How many are to be woken."""
        return len(self._waiting)

    def wake(self, event: threading.Event) -> None:
        """Set the event whenever tuples arrive."""
        with self._lock:
            self._waiting |= {event}

    def forget(self, event: threading.Event) -> None:
        with self._lock:
            self._waiting -= {event}

"""A bell: whoever waits for something to happen is told, in the thread in which it does."""

from __future__ import annotations

import threading
from collections.abc import Callable

Listener = Callable[[], None]
"""Called when the bell rings, perhaps inside a lock of the one who rings: it only takes a note."""


class Bell:
    """Rings for all who listen; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: tuple[Listener, ...] = ()

    @property
    def waiting(self) -> int:
        """How many listen."""
        return len(self._listeners)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` whenever the bell rings, until what is given back is called."""
        with self._lock:
            self._listeners = (*self._listeners, listener)

        def stop() -> None:
            with self._lock:
                self._listeners = tuple(one for one in self._listeners if one is not listener)

        return stop

    def ring(self) -> None:
        for listener in self._listeners:
            listener()

"""Those who wait for something to happen are told, in the thread in which it does: a bell just rings."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, ParamSpec

Told = ParamSpec("Told")


class Listeners(Generic[Told]):
    """Whoever listens, and is told something; safe to use from several threads. They may be called inside a lock of the
    one who tells: a listener only takes a note."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: tuple[Callable[Told, None], ...] = ()

    @property
    def waiting(self) -> int:
        """How many listen."""
        return len(self._listeners)

    def listen(self, listener: Callable[Told, None]) -> Callable[[], None]:
        """Call `listener` whenever something is told, until what is given back is called."""
        with self._lock:
            self._listeners = (*self._listeners, listener)

        def stop() -> None:
            with self._lock:
                self._listeners = tuple(one for one in self._listeners if one is not listener)

        return stop

    def ring(self, *told: Told.args, **named: Told.kwargs) -> None:
        for listener in self._listeners:
            listener(*told, **named)


class Bell(Listeners[[]]):
    """Rings for all who listen, and tells nothing."""

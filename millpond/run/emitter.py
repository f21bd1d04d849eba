"""Emits rows of an open cycle while its tuples arrive, in a thread beside that of the query, which cuts and commits.

    offer     what has come of the cycle: the thread emits what it has not yet, and forgets an older offer
    finish    all of the cycle was offered: returns when it is emitted, so that the next one begins after the commit

Which rows are emitted, and in which order, does not depend on how often there are offers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from millpond import interrupt
from millpond.run.cuts import Piece

Emit = Callable[[Piece], None]
"""Emits what tuples of a cycle make."""


class Emitter:
    """Use it from one thread, that of the query; its own begins with the first offer."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._changed = threading.Condition()
        self._offer: tuple[Piece, Emit] | None = None
        self._cycle: int | None = None
        self._emitted = self._offered = 0
        self._working = self._stopping = False
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None

    def offer(self, cycle: int, piece: Piece, emit: Emit) -> None:
        """Emit what is new of a cycle, by its number. Raises what went wrong with an offer before."""
        with self._changed:
            self._raise_error()
            if cycle != self._cycle:
                assert not self._busy, "a cycle is finished before the next begins"
                self._cycle, self._emitted, self._offered = cycle, piece.first, piece.first
            if piece.end > self._offered:
                self._offer, self._offered = (piece, emit), piece.end
                self._start()
                self._changed.notify_all()

    def finish(self) -> None:
        """Return when all that was offered is emitted."""
        with self._changed:
            while self._busy and self._error is None:
                interrupt.wait(self._changed)
            self._raise_error()

    def stop(self) -> None:
        """End the thread; what it has not emitted yet is emitted with the next offer."""
        thread = self._thread
        with self._changed:
            self._stopping, self._offer = True, None
            self._changed.notify_all()
        if thread is not None:
            thread.join()
        self._thread, self._stopping, self._error, self._offered = None, False, None, self._emitted

    @property
    def needs_a_look(self) -> bool:
        """Whether it works, or has failed: the next offer raises what went wrong."""
        return self._busy or self._error is not None

    @property
    def _busy(self) -> bool:
        return self._working or self._offer is not None

    def _raise_error(self) -> None:
        error, self._error = self._error, None
        if error is not None:
            raise error

    # -- the thread ----------------------------------------------------------------------------------------------

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while (taken := self._take()) is not None:
            piece, emit = taken
            error: BaseException | None = None
            try:
                emit(piece.since(self._emitted))
            except BaseException as raised:
                error = raised
            with self._changed:
                self._working = False
                if error is None:
                    self._emitted = piece.end
                else:
                    self._error, self._offer, self._offered = error, None, self._emitted
                self._changed.notify_all()

    def _take(self) -> tuple[Piece, Emit] | None:
        with self._changed:
            while self._offer is None and not self._stopping:
                self._changed.wait()
            if self._stopping:
                return None
            taken, self._offer, self._working = self._offer, None, True
            return taken

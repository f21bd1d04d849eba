"""Readers of views that change all the time: one at a time computes an answer, in its thread; the others wait for it in
the event loop, which gives it to all of them at once.

A round of a view:

1. a reader comes and nobody computes: it does
2. others come meanwhile; they may have seen rows that the answer lacks, so they wait for the next one
3. the answer is there: whoever came before it was begun gets it
4. for a moment those who got it may ask again; then, or when all are back, the first of those who wait computes

Without the moment of step 4 the first to come back would compute for itself, and all others would wait for two answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Protocol

PAUSE_SHARE = 0.25
PAUSE_S_MAX = 0.05
"""How long those who got an answer have to come back: a share of the time that computing it took, and a limit."""


class Reader(Hashable, Protocol):
    """One who reads a view; called in the event loop."""

    def compute(self) -> None:
        """Run the read in a thread, and leave when it has its answer, or failed."""

    def resume(self) -> None:
        """Take the view's answer if it is new enough, or else wait again."""


@dataclass
class _Round:
    """`computing` makes an answer; or nobody does, until the `pause` is over or all of the `crowd` are back."""

    computing: Reader | None = None
    began_at: float = 0.0
    waiting: dict[Reader, None] = field(default_factory=dict)
    pause: asyncio.TimerHandle | None = None
    crowd: int = 1


class WaitingReads:
    """The rounds of all views, by oid; used in the event loop only. A view that nobody asks for has none."""

    def __init__(self) -> None:
        self._rounds: dict[int, _Round] = {}
        self._views: dict[Reader, int] = {}

    def wait(self, view: int, reader: Reader) -> None:
        """Have a reader wait for the next answer of a view, or compute it."""
        round = self._rounds.setdefault(view, _Round())
        round.waiting[reader] = None
        self._views[reader] = view
        if round.computing is None and len(round.waiting) >= round.crowd:
            self._begin(view)

    def has(self, reader: Reader) -> bool:
        """Whether a reader waits or computes."""
        return reader in self._views

    def is_waiting(self, reader: Reader) -> bool:
        """Whether a reader waits for somebody else's answer."""
        return self.has(reader) and reader in self._rounds[self._views[reader]].waiting

    def leave(self, reader: Reader) -> None:
        """Wait no longer, or compute no longer: then the others look for its answer, and go on."""
        view = self._views.pop(reader, None)
        if view is None:
            return
        if self._rounds[view].computing is reader:
            self._end(view)
        else:
            del self._rounds[view].waiting[reader]

    def _end(self, view: int) -> None:
        """The one who computed has its answer, or failed."""
        round, loop = self._rounds[view], asyncio.get_running_loop()
        waiting = list(round.waiting)
        for reader in waiting:
            del self._views[reader]
        round.computing, round.waiting, round.crowd = None, {}, 1 + len(waiting)
        pause_s = min(PAUSE_S_MAX, PAUSE_SHARE * (loop.time() - round.began_at))
        round.pause = loop.call_later(pause_s, self._begin, view)
        for reader in waiting:
            reader.resume()

    def _begin(self, view: int) -> None:
        """Have the first of those who wait compute, if there are any."""
        round = self._rounds[view]
        if round.pause is not None:
            round.pause.cancel()
        if not round.waiting:
            del self._rounds[view]
            return
        round.computing = next(iter(round.waiting))
        round.began_at = asyncio.get_running_loop().time()
        del round.waiting[round.computing]
        round.computing.compute()

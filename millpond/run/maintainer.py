"""Keeps the views of one stream up: a tick takes all new segments as one chunk, for all views at once.

Steps of a tick; a crash between two of them repeats the tick from the committed offsets:

1. hold the tuples from the views' offset to the stream's end
2. each view turns them into new parts, which nobody sees yet
3. one catalog transaction records the new parts and offsets of all views
4. the views show their new state, their followers advance, and the old parts are removed
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

from millpond.errors import MillpondError
from millpond.relation import Relation
from millpond.run.view import ContinuousView
from millpond.spark.runner import Runner
from millpond.state.view_state import ViewState
from millpond.stream import Chunk, Follower, StreamRelation

Commit = Callable[[dict[int, ViewState]], None]
"""Records the states of views, by oid, in one catalog transaction."""


@dataclass(frozen=True)
class Followed:
    """A view on this stream, and what keeps its unread tuples."""

    view: ContinuousView
    follower: Follower


class Maintainer:
    """The views of one stream."""

    def __init__(self, relation: Relation, stream: StreamRelation, runner: Runner, commit: Commit) -> None:
        self.relation, self.stream = relation, stream
        self._runner, self._commit = runner, commit
        self._lock = threading.Lock()
        self._followed: list[Followed] = []

    def add(self, view: ContinuousView, follower: Follower) -> None:
        with self._lock:
            self._followed.append(Followed(view, follower))

    def remove(self, view: ContinuousView) -> None:
        with self._lock:
            for followed in [one for one in self._followed if one.view is view]:
                self._followed.remove(followed)
                followed.follower.close()

    def pending(self) -> int:
        """Tuples that some view has yet to read."""
        floor = self.stream.followers.floor
        return 0 if floor is None else self.stream.stats().end_tid - floor

    def catch_up(self) -> None:
        """Bring all views to the stream's end as it is now. Whoever waits for the same tick shares it."""
        end = self.stream.stats().end_tid
        with self._lock:
            if any(one.follower.position < end for one in self._followed):
                self._tick()

    def _tick(self) -> None:
        offsets = {one.follower.position for one in self._followed}
        for offset in sorted(offsets):
            at_offset = [one for one in self._followed if one.follower.position == offset]
            with self.stream.hold(offset) as chunk, ExitStack() as locked:
                if not chunk.rows:
                    continue
                for one in sorted(at_offset, key=lambda one: one.view.relation.oid):
                    locked.enter_context(one.view.tick_lock)
                states = {one.view.relation.oid: self._absorbed(one, chunk) for one in at_offset}
                done = {oid: state for oid, state in states.items() if state is not None}
                self._commit(done)
                for one in at_offset:
                    if one.view.relation.oid in done:
                        self._show(one, done[one.view.relation.oid], chunk.end)

    def _absorbed(self, followed: Followed, chunk: Chunk) -> ViewState | None:
        """A view's state after the chunk; a view that fails is set aside with its error, and holds nobody up."""
        try:
            return followed.view.absorb(self._runner, self.relation, chunk)
        except MillpondError as error:
            followed.view.error = error
            self._followed.remove(followed)
            followed.follower.close()
            return None

    @staticmethod
    def _show(followed: Followed, state: ViewState, end: int) -> None:
        view = followed.view
        with view.lock:
            gone = view.state.names() - state.names()
            view.state = state
            view.costs.ticks += 1
            view.costs.last_tick_at = time.time()
        followed.follower.advance(end)
        view.parts.remove(gone)

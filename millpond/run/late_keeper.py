"""Keeps late rows: knows which views have some, sees that ticks take them soon, and publishes what ticks found.

It publishes in a thread of its own, which may wait for room in a stream while ticks go on.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from millpond.errors import MillpondError, SqlState
from millpond.interrupt import Interrupt
from millpond.relation import Relation
from millpond.run.axis import Places
from millpond.run.kept import KeptState
from millpond.run.late_rows import IsLate, LateRows, unpublished
from millpond.run.pane_state import PaneState
from millpond.run.view import ContinuousView
from millpond.run.windowed_view import WindowedView
from millpond.state.parts import PartStore
from millpond.state.records import LatePart
from millpond.streams import StreamStore

logger = logging.getLogger(__name__)

RETRY_S = 1.0
"""How long to wait after a failure, such as a full disk."""

TICK_INTERVAL_S = 0.5
"""How often late rows alone are worth a tick."""


class LateKeeper:
    """The late rows of all views of a pond; safe to use from several threads."""

    def __init__(self, streams: StreamStore, directory: Path, on_published: Callable[[int], None]) -> None:
        self._streams, self._directory, self._on_published = streams, directory, on_published
        self._kept: dict[int, list[tuple[PaneState, LateRows]]] = {}
        self._left: dict[int, _Left] = {}
        self._asked_at = 0.0
        self._turn = threading.Lock()
        self._wake = threading.Event()
        self._closing = threading.Event()
        self._interrupt = Interrupt()
        self._thread: threading.Thread | None = None

    # -- views -------------------------------------------------------------------------------------------------------

    def keep(self, view: ContinuousView, late: Mapping[int, Relation]) -> None:
        """Keep the late rows of a view in the given streams, by the oid of the stream that they are of."""
        kept: list[tuple[PaneState, LateRows]] = []
        for source, relation in late.items():
            name, state = _longest(view, source)
            is_late: IsLate = partial(view.is_late, name) if isinstance(view, WindowedView) else _is_behind
            rows = LateRows(view, source, relation, self._streams.get(relation), is_late)
            state.keep_late(view.member_id(name), rows)
            kept.append((state, rows))
        if kept:
            self._kept[view.relation.oid] = kept
            self.wake()

    def forget(self, view: int) -> None:
        """A view, by its oid, is gone. What was published of its late rows stays."""
        left = self._left.pop(view, None)
        for rows in [*(rows for _, rows in self._kept.pop(view, [])), *(left.rows if left is not None else ())]:
            if rows.stream.is_open:
                rows.stream.forget_origin(view)
        if left is not None:
            left.remove()

    # -- views that are set aside --------------------------------------------------------------------------------------

    def saved(self, view: ContinuousView) -> tuple[LatePart, ...]:
        """What is left to publish of a view whose states may go: copies, which are its own."""
        kept = self._kept.get(view.relation.oid, [])
        waiting = [(part, state) for state, rows in kept for part in unpublished(state.record.late, [rows])]
        store = self._store(view) if waiting else None
        return tuple(replace(part, part=store.copy(part.part, state.parts)) for part, state in waiting if store)

    def keep_left(self, view: ContinuousView, late: Mapping[int, Relation]) -> None:
        """Publish what is left of a view that was set aside: where its late rows went, or into the given streams."""
        if view.record.late:
            rows = [rows for _, rows in self._kept.get(view.relation.oid, [])]
            rows += [LateRows(view, *one, self._streams.get(one[1]), _is_behind) for one in late.items()]
            self._left[view.relation.oid] = _Left(rows, self._store(view), view.record.late)
            self.wake()

    @property
    def left(self) -> set[int]:
        """The views, by oid, of which there is something left."""
        return set(self._left)

    def _store(self, view: ContinuousView) -> PartStore:
        return PartStore(self._directory / str(view.relation.oid))

    def _publish_left(self) -> None:
        for view, left in list(self._left.items()):
            left.publish()
            if self._left.pop(view, None) is not None:
                self._on_published(view)
                left.remove()

    def writers_of(self, stream: int) -> set[int]:
        """The views, by oid, whose late rows go to a stream, by its oid."""
        return {view for view, kept in list(self._kept.items()) if any(rows.relation.oid == stream for _, rows in kept)}

    # -- finding late rows -------------------------------------------------------------------------------------------

    def to_tick(self) -> list[tuple[int, int]]:
        """Streams with late rows that no tick has taken yet, and from which tuple on."""
        if time.monotonic() - self._asked_at < TICK_INTERVAL_S:
            return []
        self._asked_at = time.monotonic()
        kept = [one for own in list(self._kept.values()) for one in own]
        return [(rows.source, state.record.offsets[rows.source]) for state, rows in kept if _has_late(state, rows)]

    # -- publishing --------------------------------------------------------------------------------------------------

    def wake(self) -> None:
        """There may be something to publish."""
        if self._thread is None and (self._kept or self._left):
            self._thread = threading.Thread(target=self._run, name="millpond-late", daemon=True)
            self._thread.start()
        self._wake.set()

    def publish(self) -> None:
        """Publish all late rows that ticks have found."""
        with self._turn:
            for kept in list(self._kept.values()):
                for state, rows in kept:
                    if rows.stream.is_open and not state.closed:
                        state.publish_late()
            self._publish_left()

    def close(self) -> None:
        """Stop; what is not published yet is published after the next opening."""
        self._closing.set()
        self._interrupt.ask(MillpondError(SqlState.QUERY_CANCELED, "the pond is closing"))
        self._wake.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        with self._interrupt.running(lock_timeout_ms=0):
            while not self._closing.is_set():
                self._attempt()
                self._wake.wait()
                self._wake.clear()

    def _attempt(self) -> None:
        try:
            self.publish()
        except Exception:
            if not self._closing.is_set():
                logger.exception("publishing late rows failed")
                self._closing.wait(RETRY_S)
                self._wake.set()


@dataclass(frozen=True)
class _Left:
    """Late rows of a view that was set aside, which are in parts of its own."""

    rows: Sequence[LateRows]
    store: PartStore
    parts: Sequence[LatePart]

    def publish(self) -> None:
        for part in self.parts:
            for rows in self.rows:
                if rows.stream.is_open:
                    rows.publish(part, self.store)

    def remove(self) -> None:
        self.store.remove_all({part.part.name for part in self.parts})


def _has_late(state: PaneState, rows: LateRows) -> bool:
    """Whether something late has arrived that the state has yet to take."""
    axis = state.axes[rows.source]
    if state.closed or not axis.stream.is_open:
        return False
    with state.lock:
        axis.advance(int(axis.stream.stats().end_tid))
        return state.has_late


def _longest(view: ContinuousView, source: int) -> tuple[str, PaneState]:
    """The grouping of a stream that waits for its rows longest: what is late for it is late for all."""
    found: dict[str, tuple[int, KeptState]] = {
        one.name: (one.window.size, view.states[one.name])
        for one in view.plan.groupings
        if one.window is not None and any(line.stream.oid == source for line in one.pipelines)
    }
    name = max(found, key=lambda one: found[one][0])
    state = found[name][1]
    assert isinstance(state, PaneState)
    return name, state


def _is_behind(events: Places, complete: Places) -> npt.NDArray[np.bool_]:
    """Which events may be late for sessions."""
    return events < complete

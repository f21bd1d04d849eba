"""A view over sessions: the query evaluated once for each session that it shows, as if the session's rows were all.

The driver knows the sessions, by places and keys alone (`run/sessions.py`). Of those whose rows have changed since they
were evaluated, one Spark job merges the partials, and one more runs the upper pipeline for all of them; if Spark cannot
do that for all at once, there is one job for each.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pyarrow as pa

from millpond import interrupt
from millpond.run.session_list import SESSION
from millpond.run.session_query import Numbered, SessionQuery
from millpond.run.session_state import SessionState
from millpond.run.sessions import Key, Session, Sessions
from millpond.run.view import Answer, ContinuousView, Seen
from millpond.run.window_costs import WindowCosts
from millpond.spark.runner import Input, Runner
from millpond.state.pane_tree import together
from millpond.stream_window import SessionWindow
from millpond.values.arrays import pc

Shown = tuple[Key, Session]
"""A session of a key. It is equal to no other that has other rows."""


@dataclass(frozen=True)
class _ShownAt:
    """The sessions that are shown when the stream is complete up to a position."""

    sessions: list[Shown]
    position: int | None = field(compare=False)


@dataclass(frozen=True)
class _Look:
    """What a read found: up to where the stream is, the sessions to show, and those of them to evaluate."""

    ends: Mapping[int, int]
    seen: Seen
    shown: _ShownAt
    stale: list[Shown]
    kept: Mapping[str, pa.Table | None]


@dataclass
class _Results:
    """Rows of sessions as they were evaluated, with tables as `token` says; each row has its session's number."""

    token: object
    numbers: dict[Shown, int] = field(default_factory=dict)
    rows: pa.Table | None = None

    def of(self, sessions: Collection[Shown]) -> list[pa.Table]:
        """The rows of some sessions, as one table if there are any."""
        numbers = pa.array([self.numbers[one] for one in sessions], pa.int64())
        return [] if self.rows is None else [self.rows.filter(pc.is_in(self.rows.column(SESSION), numbers))]


@dataclass
class SessionView(ContinuousView):
    """A view over sessions of one stream; with `early`, it shows those that are open, too."""

    early: bool = False
    scratch: Path = field(default_factory=Path)
    _results: _Results = field(default_factory=lambda: _Results(None))
    _evaluated: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        name = f"view_{self.relation.oid}"
        self._query = SessionQuery(self.plan, self.statics, self.members, name, self.scratch)

    @property
    def window(self) -> SessionWindow:
        window = next(iter(self.plan.windows.values()))
        assert isinstance(window, SessionWindow)
        return window

    # -- which sessions ----------------------------------------------------------------------------------------------

    def shown(self) -> list[Shown]:
        """The sessions that the view shows, by what it knows of its stream."""
        state = self._any_state()
        axis = next(iter(state.axes.values()))
        with state.lock:
            end = int(axis.stream.stats().end_tid)
            axis.advance(end)
            return self.shown_of(state.seen(end), axis.position())

    def shown_of(self, sessions: Sessions, position: int | None) -> list[Shown]:
        """Those of some sessions that the view shows when the stream is complete up to a position."""
        return [] if position is None else list(sessions.shown(position, early=self.early))

    @staticmethod
    def position_of(answer: Answer) -> int | None:
        """Up to where the stream was complete for an answer."""
        _, shown, _ = cast("tuple[object, _ShownAt, object]", answer.token)
        return shown.position

    def _any_state(self) -> SessionState:
        """All states of the view know the same sessions."""
        return next(iter(self._session_states().values()))

    def _session_states(self) -> dict[str, SessionState]:
        return {name: state for name, state in self.states.items() if isinstance(state, SessionState)}

    def described(self) -> Iterator[WindowCosts]:
        """What is kept of its sessions, and how long answers take."""
        for name, state in self._session_states().items():
            with state.lock:
                (axis,) = state.axes.values()
                runs = self.costs.runs
                yield WindowCosts(
                    self.members[name].grouping.pipelines[0].stream.name,
                    self.window,
                    state.sessions.count,
                    state.tree.rows,
                    state.tree.bytes + state.sessions.bytes,
                    axis.position(),
                    state.late_rows,
                    runs,
                    self.costs.seconds / runs * 1000 if runs else None,
                    1,
                    "incremental",
                )

    # -- reading -----------------------------------------------------------------------------------------------------

    def answer(self, runner: Runner, tag: str, live: Mapping[str, Input], token: object) -> Answer:
        """The results of all sessions that the view shows now."""
        with interrupt.holding(self.lock):
            if self.error is not None:
                raise self.error
            with ExitStack() as held:
                look = self._look(held, token)
                last = self._answer
                if last is not None and last.token == (look.ends, look.shown, token) and not look.stale:
                    return last
                self._evaluate(runner, tag, live, look, token)
                for oid, offset in look.seen.much_read_along():
                    self.ask_for_tick(oid, offset)
            tables = self._results.of(look.shown.sessions)
            rows = tables[0].drop_columns([SESSION]) if tables else self._no_rows()
            self._answer = Answer((look.ends, look.shown, token), rows, time.time(), look.ends)
            return self._answer

    def _look(self, held: ExitStack, token: object) -> _Look:
        """All states at one moment, which sessions to show then, and what has to be computed of them."""
        with ExitStack() as locked:
            for state in sorted(self.states.values(), key=lambda one: one.oid):
                locked.enter_context(state.lock)
            ends, seen = self._hold(held)
            ((oid, axis),) = self._any_state().axes.items()
            axis.advance(ends[oid])
            position = axis.position()
            shown = self.shown_of(self._any_state().seen(ends[oid]), position)
            if token != self._results.token or self.plan.reads_clock:
                self._results = _Results(token)
            stale = [one for one in shown if one not in self._results.numbers]
            return _Look(ends, seen, _ShownAt(shown, position), stale, self._kept(stale))

    def _kept(self, stale: Sequence[Shown]) -> dict[str, pa.Table | None]:
        """What the states have of the time in which sessions are, and perhaps of others."""
        if not stale:
            return {}
        first = min(self.window.pane_of(one.first) for _, one in stale)
        last = max(self.window.pane_of(one.last) for _, one in stale)
        covers = {name: state.tree.cover(first, last) for name, state in self._session_states().items()}
        return {name: together(tables) if tables else None for name, tables in covers.items()}

    def _evaluate(self, runner: Runner, tag: str, live: Mapping[str, Input], look: _Look, token: object) -> None:
        """Compute what is stale, and forget the results of what is not shown any more."""
        if not look.stale:
            return
        started = time.perf_counter()
        numbered = Numbered(look.stale, self._evaluated, look.kept, look.seen.chunks)
        rows = self._query.run(runner, tag, live, self._constant, numbered)
        known = {one: self._results.numbers[one] for one in look.shown.sessions if one in self._results.numbers}
        new = {one: self._evaluated + place for place, one in enumerate(look.stale)}
        tables = [*self._results.of(known), rows]
        self._results = _Results(token, {**known, **new}, pa.concat_tables(tables))
        self._evaluated += len(look.stale)
        self.costs.add(started)

"""A view over windows: the query evaluated once for each window that it shows, as if the window's rows were all.

Each evaluation merges the panes of its windows, those that no tick has taken yet included, and runs the upper pipeline:
one Spark job. What was computed of a window is kept until rows arrive that belong to it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from millpond import interrupt
from millpond.errors import MillpondError
from millpond.plan.pipelines import Grouping
from millpond.run.adaptive_chunks import AdaptiveChunks
from millpond.run.axis import Places
from millpond.run.frame_results import FrameResults
from millpond.run.frames import Frame, Reach, Shows, driver_of, frames, go_by_number, reach_of
from millpond.run.frames_query import FRAMES_MAX, FramesQuery
from millpond.run.lifetimes import Lifetime
from millpond.run.measured_mode import MeasuredMode
from millpond.run.merge import KeptParts, Merge
from millpond.run.paired_rows import PairedRows
from millpond.run.pane_state import Need, PaneState
from millpond.run.repeated_query import RepeatedQuery
from millpond.run.view import Answer, ContinuousView, Seen
from millpond.run.window_costs import WindowCosts
from millpond.run.window_look import Look, Panes, Wanted
from millpond.run.window_pairs import WindowPairs
from millpond.spark.runner import Input, QueryInput, Runner
from millpond.sql.constants import bound_key
from millpond.sql.stream_windows import BOUNDS
from millpond.state.pane_tree import together
from millpond.state.parts import PartStore
from millpond.state.records import ViewRecord
from millpond.stream import Chunk
from millpond.stream_window import AsOfNow, CalendarWindow, StreamWindow

SLIDES_KEPT = 256
"""Slides that whoever follows a view may be behind; it gets the newest then."""

_OF_DATA = ("21", "22")
"""Classes of errors that lie in the rows of a window."""


@dataclass
class WindowedView(ContinuousView):
    """A view over windows; `shows` says which of them are its rows."""

    shows: Shows = field(default_factory=Shows)
    scratch: Path = field(default_factory=Path)
    chunks: AdaptiveChunks = field(default_factory=AdaptiveChunks)
    mode: MeasuredMode = field(default_factory=MeasuredMode)
    on_chosen: Callable[[ViewRecord], None] = lambda _record: None
    followers: int = 0
    late_rows: dict[str, int] = field(default_factory=dict)
    _slid: tuple[int, int] | None = None
    _bounds: dict[str, datetime | int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        sliding = {name: one for name, one in self.windows.items() if not isinstance(one, AsOfNow)}
        self._driver = driver_of(sliding) if sliding else None
        self._store = PartStore(self.scratch / f"windows-{self.relation.oid}", durable=False)
        self._results = FrameResults(self.states, self.windows)
        self.pairs = self._open_pairs()
        self._frames_query = FramesQuery.of(self.plan, self.statics, self.members, self.texts.name(), self.scratch)
        for name, state in self._pane_states().items():
            state.needs[self.member_id(name)] = partial(self._need, name)
            state.wishes[self.member_id(name)] = lambda: self.chunks.rows_per_chunk
            if not isinstance(self.windows[name], AsOfNow):
                for axis in state.axes.values():
                    axis.on_events[self.member_id(name)] = partial(self._count_late, name)

    def _open_pairs(self) -> WindowPairs | None:
        """The pairs of its windows, if it keeps any; all rows that its states have are pending."""
        pairs, states = self.plan.pairs, self._pane_states()
        if pairs is None or not states:
            return None
        by_number = go_by_number(self.streams, self.windows)
        driver = None if by_number or self._driver is None else self.windows[self._driver]
        left, right = (
            PairedRows(side, self.members[side.grouping.name], Lifetime(self.windows[side.grouping.name], driver))
            for side in pairs.sides
        )
        opened = WindowPairs(pairs, (left, right), f"millpond-pairs-{self.relation.oid}", RepeatedQuery(self.scratch))
        for name, state in states.items():
            with state.lock:
                kept = state.tree.all()
                if kept is not None:
                    opened.take(name, kept)
                state.on_taken[self.member_id(name)] = partial(opened.take, name)
        return opened

    @property
    def windows(self) -> Mapping[str, StreamWindow]:
        return self.plan.windows

    @property
    def slides(self) -> bool:
        """Whether it shows one complete window after the other, and nothing that changes in between."""
        return self._driver is not None and not self.shows.early

    @property
    def slides_kept(self) -> int:
        """How many slides before those that are shown can still be computed, for those who follow each of them."""
        return SLIDES_KEPT if self.followers else 0

    # -- which windows -----------------------------------------------------------------------------------------------

    def shown(self, up_to: int | None = None) -> list[Frame]:
        """The frames that the view shows, or did when a window was the newest, by what it knows of its streams."""
        return self._frames(self.shows, up_to)

    def _frames(self, shows: Shows, up_to: int | None = None) -> list[Frame]:
        reaches = {name: self._reach(name) for name in self.windows}
        now = max(stream.now_us() for stream in self.streams.values())
        return frames(self.windows, reaches, now, shows, up_to)

    def ranges_of(self, answer: Answer) -> list[dict[str, tuple[int, int]]]:
        """From where to where the windows go that an answer shows, by their aliases."""
        _, shown, _ = cast("tuple[object, list[Frame], object]", answer.token)
        aliases = {
            one.name: [line.window.alias for line in one.pipelines if line.window is not None]
            for one in self.plan.groupings
        }
        return [
            {alias: self.windows[name].bounds(number) for name, number in frame.items() for alias in aliases[name]}
            for frame in shown
        ]

    def slide_after(self, slide: int | None) -> int | None:
        """The slide that comes after one, or is the first of all; None if there is none. Those that are forgotten are
        left out."""
        self._advance()
        kept = self._frames(Shows(self.slides_kept or 1)) if self.slides else []
        if self._driver is None or not kept:
            return None
        oldest, newest = kept[0][self._driver], kept[-1][self._driver]
        following = oldest if slide is None else max(oldest, slide + 1)
        return following if following <= newest else None

    def _advance(self, ends: Mapping[int, int] | None = None) -> None:
        """Look at what arrived, up to the ends of the streams."""
        for state in self._pane_states().values():
            with state.lock:
                for oid, axis in state.axes.items():
                    axis.advance(int(self.streams[oid].stats().end_tid) if ends is None else ends[oid])

    def _reach(self, name: str) -> Reach | None:
        """How far all streams of a grouping are."""
        state = self._pane_states()[name]
        found = [reach_of(oid, axis, self.record.starts[oid] or 0) for oid, axis in state.axes.items()]
        known = [one for one in found if one is not None]
        if len(known) < len(found):
            return None
        low, newest = min(one.low for one in known), max(one.newest for one in known)
        return Reach(known[0].stream, min(one.position for one in known), newest, low)

    def _count_late(self, name: str, events: Places, complete: Places) -> None:
        """Count the rows that no window takes."""
        self.late_rows[name] = self.late_rows.get(name, 0) + int(self.is_late(name, events, complete).sum())

    def is_late(self, name: str, events: Places, complete: Places) -> npt.NDArray[np.bool_]:
        """Which events came when none of their windows was shown any more, nor would be."""
        window = self.windows[name]
        oldest = (complete - window.size) // window.slide - self.shows.retain + 1
        return events // window.slide < oldest

    def _pane_states(self) -> dict[str, PaneState]:
        return {name: state for name, state in self.states.items() if isinstance(state, PaneState)}

    def _need(self, name: str) -> Need | None:
        """What the oldest window that is shown, and all that come, need of a state."""
        window, shown = self.windows[name], self.shown()
        if not shown:
            return None
        first, _ = window.panes(shown[0][name] - (0 if isinstance(window, AsOfNow) else self.slides_kept))
        # Rows of pairs are read one by one, never as blocks of panes.
        panes = 0 if self.pairs is not None else window.size // window.step
        return Need(first, window.closed(shown[-1][name]), panes)

    def pair_up(self, runner: Runner) -> None:
        """Join the rows of its windows that ticks took with all others, so that readers need not."""
        if self.pairs is None or self._driver is None or self.error is not None or not self.pairs.are_pending:
            return
        shown = self.shown()
        if shown:
            needs = {name: self._need(name) for name in self.windows}
            firsts = {name: need.first for name, need in needs.items() if need is not None}
            self.pairs.pair_up(runner, shown[0][self._driver] - self.slides_kept, firsts)

    def described(self) -> Iterator[WindowCosts]:
        """What is kept of each of its windows, and how long answers take."""
        for name, state in self._pane_states().items():
            with state.lock:
                positions = [axis.position() for axis in state.axes.values()]
                known = [one for one in positions if one is not None]
                yield WindowCosts(
                    ", ".join(line.stream.name for line in self.members[name].grouping.pipelines),
                    self.windows[name],
                    state.tree.count,
                    state.tree.rows,
                    state.tree.bytes,
                    min(known, default=None),
                    self.late_rows.get(name, 0),
                    self.costs.runs,
                    self.costs.seconds / self.costs.runs * 1000 if self.costs.runs else None,
                    self.chunks.chunks,
                    self.mode.mode if self.pairs is None else "pairs",
                )

    # -- reading -----------------------------------------------------------------------------------------------------

    def answer(
        self,
        runner: Runner,
        tag: str,
        live: Mapping[str, Input],
        token: object,
        up_to: int | None = None,
        asked_at: float | None = None,
    ) -> Answer:
        """The results of all windows that the view shows now, or did when one was the newest. What a reader waited for
        before, since it asked, counts as the answer's time."""
        with interrupt.holding(self.lock):
            if self.error is not None:
                raise self.error
            began = time.perf_counter() if asked_at is None else asked_at
            try:
                look = self._evaluated_look(runner, tag, live, token, up_to, ahead=up_to is not None)
            except MillpondError as error:
                if up_to is None or not error.sqlstate.startswith(_OF_DATA):
                    raise
                # It may be of a slide that comes later, which is not asked for yet.
                look = self._evaluated_look(runner, tag, live, token, up_to, ahead=False)
            last = self._answer
            if last is not None and last.token == (look.ends, look.shown, token) and not look.is_stale:
                return last
            slid = self._note_slide(look, time.perf_counter() - began)
            self._results.forget(look.shown)
            made = self._made(look, token)
            if up_to is None:
                self._answer = made
            # What belongs to a slide that is over is taken once and for all, before the next one is.
            taken_once = slid and self.mode.mode == "incremental"
            for oid, offset in look.seen.read_along() if taken_once else look.seen.much_read_along():
                self.ask_for_tick(oid, offset)
            return made

    def _evaluated_look(
        self, runner: Runner, tag: str, live: Mapping[str, Input], token: object, up_to: int | None, *, ahead: bool
    ) -> Look:
        """What a read finds, after all that it has to compute is among the results."""
        with ExitStack() as held:
            look = self._look(held, token, up_to, ahead=ahead)
            if look.is_stale and self.pairs is not None and self.pairs.let_pair_up():
                held.close()
                look = self._look(held, token, up_to, ahead=ahead)
            for frame, rows in self._evaluate(runner, tag, live, look, held):
                self._results.keep(frame, rows, look.ends, token)
        return look

    def _made(self, look: Look, token: object) -> Answer:
        tables = self._results.of(look.shown)
        rows = pa.concat_tables(tables) if tables else self._no_rows()
        slide = look.shown[-1][self._driver] if look.shown and self._driver and self.slides else None
        return Answer((look.ends, look.shown, token), rows, time.time(), look.ends, slide)

    def _note_slide(self, look: Look, response_s: float) -> bool:
        """Whether there is a new slide; the chunks of one adapt to how long its answer took."""
        if self._driver is None or not look.shown or not look.is_stale:
            return False
        slide, ends = look.shown[-1][self._driver], sum(look.ends.values())
        if self._slid is not None and slide <= self._slid[0]:
            return False
        if self._slid is not None and not look.several:
            self.chunks.slid((ends - self._slid[1]) // (slide - self._slid[0]), response_s)
            if self.mode.slid(response_s):
                self.record = replace(self.record, window_mode=self.mode.mode)
                self.on_chosen(self.record)
        self._slid = (slide, ends)
        return True

    def _look(self, held: ExitStack, token: object, up_to: int | None, *, ahead: bool) -> Look:
        """All states at one moment, which windows to show then, and what has to be computed of them."""
        with ExitStack() as locked:
            for state in sorted(self.states.values(), key=lambda one: one.oid):
                locked.enter_context(state.lock)
            ends, seen = self._hold(held)
            self._advance(ends)
            shown = self.shown(up_to)
            stale = [frame for frame in shown if not self._is_current(frame, ends, token)]
            if stale and ahead and up_to is not None:
                stale += [frame for frame in self._ahead(up_to) if not self._is_current(frame, ends, token)]
            query, trees = self._frames_query, {name: state.tree for name, state in self._pane_states().items()}
            groups = [[one] for one in stale] if query is None else query.groups(stale, trees, seen.chunks, self.pairs)
            # Frames that are not asked for yet come along only where that is for nothing.
            groups = [one for one in groups if one[0] in shown]
            wanted = [self._wanted(one[0], seen, held) for one in groups if len(one) == 1]
            several = [
                (one, query.several(one, trees, seen.chunks, self.pairs)) for one in groups if query and len(one) > 1
            ]
        return Look(ends, seen, shown, wanted, several)

    def _ahead(self, slide: int) -> list[Frame]:
        """Frames after a slide: whoever follows each of them asks for these soon."""
        following = self._frames(Shows(FRAMES_MAX), slide + FRAMES_MAX) if self._frames_query and self._driver else []
        return [frame for frame in following if self._driver and frame[self._driver] > slide]

    def _evaluate(
        self, runner: Runner, tag: str, live: Mapping[str, Input], look: Look, held: ExitStack
    ) -> Iterator[tuple[Frame, pa.Table]]:
        """The results of all frames that a read wants."""
        for one in look.wanted:
            started = time.perf_counter()
            yield one.frame, self._evaluated(runner, tag, live, look.seen, one, held)
            self.costs.add(started)
        for group, several in look.several:
            assert self._frames_query is not None
            started = time.perf_counter()
            found = dict(self._frames_query.run(runner, tag, live, self._constant, several, self.pairs))
            yield from ((frame, found[next(iter(frame.values()))]) for frame in group)
            self.costs.add(started)

    def _wanted(self, frame: Frame, seen: Seen, held: ExitStack) -> Wanted:
        panes = {name: self._panes(name, frame, seen, held) for name in self.windows}
        if self.pairs is None or self._driver is None:
            return Wanted(frame, panes, None)
        spans = {name: window.panes(frame[name]) for name, window in self.windows.items()}
        number = frame[self._driver]
        return Wanted(frame, panes, self.pairs.look(range(number, number + 1), spans))

    def _is_current(self, frame: Frame, ends: Mapping[int, int], token: object) -> bool:
        return not self.plan.reads_clock and self._results.is_current(frame, ends, token)

    def _panes(self, name: str, frame: Frame, seen: Seen, held: ExitStack) -> Panes:
        window, state = self.windows[name], self._pane_states()[name]
        (start, end), (first, last) = window.bounds(frame[name]), window.panes(frame[name])
        held_rows = self._held_rows(state, start, end, held) if self.mode.mode == "reevaluate" else None
        if held_rows is not None:
            return Panes(None, held_rows, None)
        tables = [] if self.pairs is not None else state.tree.cover(first, last)
        clipped, chunks = isinstance(window, CalendarWindow), {}
        for oid, chunk in seen.chunks[name].items():
            axis = state.axes[oid]
            if axis.changed_since(chunk.first, start, end):
                if window.by_rows and not start <= chunk.first <= chunk.end <= end:
                    chunk = held.enter_context(self.streams[oid].hold(max(chunk.first, start), min(chunk.end, end)))
                clipped = clipped or not axis.is_within(chunk.first, start, end)
                chunks[oid] = chunk
        return Panes(together(tables) if tables else None, chunks, (first, last) if clipped else None)

    def _held_rows(self, state: PaneState, start: int, end: int, held: ExitStack) -> Mapping[int, Chunk] | None:
        """The tuples of a window that the view sees, if the streams still hold all of them."""
        found: dict[int, Chunk] = {}
        for oid, axis in state.axes.items():
            first, last = max(start, self.record.starts[oid] or 0), min(end, axis.end)
            if first >= last:
                continue
            try:
                found[oid] = held.enter_context(self.streams[oid].hold(first, last))
            except MillpondError:
                return None  # They were overwritten; partials of them are kept.
        return found

    def _evaluated(
        self, runner: Runner, tag: str, live: Mapping[str, Input], seen: Seen, wanted: Wanted, held: ExitStack
    ) -> pa.Table:
        self._set_bounds(wanted.frame)
        if self.pairs is not None and wanted.pairs is not None:
            chunks = {name: panes.chunks for name, panes in wanted.panes.items()}
            merged = self.pairs.query(wanted.pairs, chunks, self.texts, self.repeated)
            return self._run_upper(runner, tag, live, {self.pairs.state_key: merged})
        panes = wanted.panes
        states = {
            one.key: self._merged_panes(runner, one, panes[one.name], held)
            if one.name in panes
            else self._merged(runner, one.name, seen)
            for one in self.plan.groupings
        }
        return self._run_upper(runner, tag, live, states)

    def _set_bounds(self, frame: Frame) -> None:
        """Have `window_start` and `window_end` mean those of a frame."""
        for name, number in frame.items():
            window = self.windows[name]
            if not isinstance(window, AsOfNow):
                for bound, place in zip(BOUNDS, window.bounds(number), strict=True):
                    self._bounds[bound_key(bound, window.alias)] = window.value(place)

    def _merged_panes(self, runner: Runner, grouping: Grouping, panes: Panes, held: ExitStack) -> QueryInput:
        """The panes of a window as the state that the upper pipeline reads: groups of all of them, each once."""
        member = self.members[grouping.name]
        columns = ", ".join(column.name for column in grouping.columns) or "1"
        parts = [] if panes.rows is None else [self._store.write(panes.rows)]
        held.callback(self._store.remove, [part.name for part in parts])

        def select(source: str) -> str:
            return f"SELECT {columns} FROM ({member.select(source)})"

        def clip(text: str) -> str:
            if panes.clip is None:
                return text
            pane, (first, last) = grouping.kept.keys[-1].name, panes.clip
            return f"SELECT {columns} FROM ({text}) WHERE {pane} BETWEEN {first} AND {last}"

        kept = KeptParts(self._store, parts, member.schema, member.keys, select)
        read = grouping if panes.clip is None else replace(grouping, pipelines=grouping.kept.pipelines)
        given = (read, kept, panes.chunks, self.statics, clip)
        return Merge(runner.buckets, self.texts, self.repeated, *given, apart=True).query()

    def _constant(self, name: str) -> datetime | date | str | int | None:
        return self._bounds[name] if name in self._bounds else super()._constant(name)

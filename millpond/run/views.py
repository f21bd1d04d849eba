"""The continuous views of a pond: opened with it, kept up by one thread in the background and by their readers."""

from __future__ import annotations

import logging
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from millpond.bell import Bell
from millpond.catalog import Catalog
from millpond.config import Settings
from millpond.errors import InternalError, MillpondError
from millpond.plan.pipelines import Grouping
from millpond.plan.shared import Member, MemberId, SharedGrouping
from millpond.relation import Relation
from millpond.run.axis import open_axis
from millpond.run.frames import Shows
from millpond.run.kept import KeptState
from millpond.run.late_keeper import LateKeeper
from millpond.run.maintainer import Maintainer
from millpond.run.measured_mode import MeasuredMode, can_measure
from millpond.run.merge import SMALL_ROWS_MAX
from millpond.run.pane_state import PaneState
from millpond.run.repeated_query import RepeatedQuery
from millpond.run.session_state import SessionState
from millpond.run.session_view import SessionView
from millpond.run.sessions import Keeps
from millpond.run.shared_panes import shared_panes, with_panes
from millpond.run.view import Answer, ContinuousView
from millpond.run.view_plan import ViewPlan, since
from millpond.run.waited_ticks import WaitedTicks
from millpond.run.windowed_view import WindowedView
from millpond.spark.runner import Input, Runner
from millpond.state.pane_tree import PaneTree
from millpond.state.parts import PartStore
from millpond.state.records import Failure, Link, StateRecord, ViewRecord
from millpond.stream_window import SessionWindow
from millpond.streams import StreamStore

logger = logging.getLogger(__name__)

READ_ALONG_ROWS_MAX = 100_000
"""Up to so many new tuples a reader takes along in its own job; each reader does so again, until a tick takes them."""

LOOK_INTERVAL_S = 0.05
"""How often the background looks whether a chunk is worth a tick."""


class ViewStore:
    """All views and the states that they keep; safe to use from several threads."""

    def __init__(
        self,
        directory: Path,
        scratch: Path,
        catalog: Catalog,
        streams: StreamStore,
        runner: Runner,
        settings: Settings,
    ) -> None:
        self._directory, self._scratch = directory, scratch
        self._catalog, self._streams, self._runner = catalog, streams, runner
        self._chunk_rows = settings.integer("view_chunk_rows")
        self._lock = threading.Lock()
        self._waited_ticks = WaitedTicks()
        self._views: dict[int, ContinuousView] = {}
        self._states: dict[int, KeptState] = {}
        self._maintainers: dict[int, Maintainer] = {}
        self._asked: dict[int, int] = {}
        self.moments = Bell()
        self.late = LateKeeper(streams, directory, self._late_published)
        self._shown: dict[int, Sequence[object]] = {}
        self._wake = threading.Event()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    # -- creating and opening ------------------------------------------------------------------------------

    def create(self, made: ViewPlan, starts: Mapping[int, int]) -> ContinuousView:
        """Keep a new view: from the given tuples on, or from the end of a stream that has none."""
        with ExitStack() as locked:
            for stream in sorted(made.streams.values(), key=lambda one: one.oid):
                locked.enter_context(self._maintainer(stream).lock)
            made, panes = self._with_shared_panes(made)
            begins = {oid: self._begin(made, stream, starts.get(oid)) for oid, stream in made.streams.items()}
            states: dict[str, KeptState] = {}
            members: dict[str, Member] = {}
            for grouping in made.groupings:
                state = states[grouping.name] = self._state_for(made, grouping, begins)
                members[grouping.name] = state.join(made.member_id(grouping), grouping, since(grouping, begins))
            links = {name: Link(states[name].oid, dict(one.names), one.presence) for name, one in members.items()}
            before = {oid: count for state in states.values() for oid, count in state.record.taken.items()}
            view = self._add(made, ViewRecord(dict(begins), links, before, panes=panes), states, members)
            self._catalog.commit_kept(
                {state.oid: state.record for state in states.values()}, {made.relation.oid: view.record}
            )
        self._start()
        return view

    def reopen(self, views: Iterable[tuple[ViewPlan, ViewRecord]]) -> None:
        """Go on with views where their states end, before anything ticks; what no view links to is removed."""
        records = self._catalog.states()
        for made, record in views:
            self._rejoin(made, record, records)
        unused = set(records) - set(self._states)
        self._catalog.commit_kept(dict.fromkeys(unused))
        for path in self._directory.iterdir() if self._directory.exists() else ():
            if not path.name.isdigit() or int(path.name) not in self._states.keys() | self.late.left:
                # Late rows that were left are published meanwhile, and what held them goes with the last.
                shutil.rmtree(path, ignore_errors=True)
        if self._states:
            self._start()

    def _with_shared_panes(self, made: ViewPlan) -> tuple[ViewPlan, dict[str, int]]:
        """A view with panes of views that are there, where its windows can be cut into them, and how long these are."""
        with self._lock:
            panes = shared_panes(made.plan, self._states.values(), made.statics)
        return replace(made, plan=with_panes(made.plan, panes)), panes

    def _begin(self, made: ViewPlan, stream: Relation, start: int | None) -> int:
        """The first tuple that a view sees. Where it can join others, they are brought to the same tuple first."""
        if start is not None:
            return start
        joinable = [
            state
            for grouping in made.groupings
            for state in self._accepting(made, grouping)
            if stream.oid in state.record.offsets
        ]
        maintainer = self._maintainer(stream)
        if joinable:
            _attempt(maintainer.catch_up, f'bringing the views of stream "{stream.name}" to its end')
            return max(state.record.offsets[stream.oid] for state in joinable)
        return int(maintainer.stream.stats().end_tid)

    def _accepting(self, made: ViewPlan, grouping: Grouping) -> list[KeptState]:
        with self._lock:
            return [state for state in self._states.values() if state.accepts(grouping, made.statics)]

    def _state_for(self, made: ViewPlan, grouping: Grouping, begins: Mapping[int, int]) -> KeptState:
        """A state that stands just where the view begins, or a new one."""
        own = {line.stream.oid: line.stream for line in grouping.pipelines}
        offsets = {oid: begins[oid] for oid in own}
        for state in self._accepting(made, grouping):
            if state.record.offsets == offsets:
                return state
        return self._open_state(self._catalog.new_oid(), StateRecord(offsets), made, grouping)

    def _open_state(self, oid: int, record: StateRecord, made: ViewPlan, grouping: Grouping) -> KeptState:
        streams = {line.stream.oid: line.stream for line in grouping.pipelines}
        followers = {one: self._streams.get(streams[one]).follow(offset) for one, offset in record.offsets.items()}
        parts = PartStore(self._directory / str(oid))
        parts.remove_orphans(record.names())
        shared, repeated = SharedGrouping({}, record.columns_made), RepeatedQuery(self._scratch)
        given = (oid, shared, record, made.statics, parts, followers, repeated)
        if grouping.window is None:
            state = KeptState(*given)
        elif isinstance(grouping.window, SessionWindow):
            state = self._session_state(SessionState(*given), made, grouping)
        else:
            state = self._pane_state(PaneState(*given), grouping)
        with self._lock:
            self._states[oid] = state
        for stream in streams.values():
            self._maintainer(stream).add(state)
        return state

    def _session_state(self, state: SessionState, made: ViewPlan, grouping: Grouping) -> SessionState:
        self._pane_state(state, grouping)
        state.begin(grouping, Keeps.of(made.relation.options))
        return state

    def _pane_state(self, state: PaneState, grouping: Grouping) -> PaneState:
        """A new state of windows, with the panes that it has on disk."""
        state.axes = {
            line.stream.oid: open_axis(self._streams.get(line.stream), line, state.record)
            for line in grouping.pipelines
        }
        state.tree, state.merges = PaneTree(grouping.keys[-1].name), RepeatedQuery(self._scratch)
        state.load()
        return state

    def _rejoin(self, made: ViewPlan, record: ViewRecord, records: Mapping[int, StateRecord]) -> None:
        """Take up a view. One that was set aside stays aside, and so does one that was overrun."""
        made = replace(made, plan=with_panes(made.plan, record.panes))
        if record.failure is not None:
            view = self._add(made, record, {}, {}, record.failure.error)
            # What was late of a stream that is gone need not be told.
            self.late.keep_left(view, {} if any(map(self._forgets, made.streams.values())) else made.late)
            return
        try:
            states = {name: self._reopened(link.state, records, made, name) for name, link in record.links.items()}
        except MillpondError as overrun:
            self._add(made, replace(record, failure=Failure.of(overrun)), {}, {}, overrun)
            return
        starts = {oid: None if self._forgets(stream) else record.starts[oid] for oid, stream in made.streams.items()}
        begins = {oid: start or 0 for oid, start in record.starts.items()}
        members = {
            grouping.name: states[grouping.name].rejoin(
                made.member_id(grouping), grouping, since(grouping, begins), record.links[grouping.name]
            )
            for grouping in made.groupings
        }
        self._add(made, replace(record, starts=starts), states, members)

    def _reopened(self, oid: int, records: Mapping[int, StateRecord], made: ViewPlan, name: str) -> KeptState:
        if oid in self._states:
            return self._states[oid]
        (grouping,) = (one for one in made.groupings if one.name == name)
        streams = {line.stream.oid: line.stream for line in grouping.pipelines}
        offsets = {one: 0 if self._forgets(streams[one]) else offset for one, offset in records[oid].offsets.items()}
        record = replace(records[oid], offsets=offsets)
        if offsets != records[oid].offsets:
            # What was late of a stream that is gone need not be told.
            record = replace(record, late=())
        if grouping.window is not None and grouping.window.by_rows and any(map(self._forgets, streams.values())):
            # Its tuples are numbered anew, so that its windows are others.
            record = replace(record, parts=(), axes={}, sessions=None)
        return self._open_state(oid, record, made, grouping)

    @staticmethod
    def _forgets(stream: Relation) -> bool:
        """Whether the stream starts anew with each process, so that a view of it goes on with its first tuple."""
        return stream.options.get("durability") == "memory"

    def _add(
        self,
        made: ViewPlan,
        record: ViewRecord,
        states: Mapping[str, KeptState],
        members: Mapping[str, Member],
        error: MillpondError | None = None,
    ) -> ContinuousView:
        streams = {oid: self._streams.get(stream) for oid, stream in made.streams.items()}
        repeated = RepeatedQuery(self._scratch)
        kind: Callable[..., ContinuousView] = ContinuousView
        if any(isinstance(window, SessionWindow) for window in made.plan.windows.values()):
            kind = partial(SessionView, early=made.relation.options.get("early") == "True", scratch=self._scratch)
        elif made.plan.windows:
            kind = partial(
                WindowedView, shows=Shows.of(made.relation.options, made.plan.windows), scratch=self._scratch
            )
        view = kind(made.relation, made.plan, made.statics, record, states, members, streams, repeated, error)
        view.ask_for_tick = self._ask_for_tick
        if error is None:
            self.late.keep(view, made.late)
        if isinstance(view, WindowedView):
            self._let_measure(view)
        with self._lock:
            self._views[made.relation.oid] = view
        return view

    def _let_measure(self, view: WindowedView) -> None:
        """Have a view measure how its windows are computed fastest, or go on with what it measured before."""
        option, chosen = view.relation.options.get("window_mode", "auto"), view.record.window_mode
        if view.pairs is None and can_measure(option, view.windows.values()):
            view.mode = MeasuredMode("reevaluate" if chosen == "reevaluate" else "incremental", chosen is not None)
            view.on_chosen = lambda record: self._catalog.commit_kept({}, {view.relation.oid: record})

    def _maintainer(self, stream: Relation) -> Maintainer:
        with self._lock:
            if stream.oid not in self._maintainers:
                opened = self._streams.get(stream)
                self._maintainers[stream.oid] = Maintainer(
                    stream, opened, self._runner, self._catalog.commit_kept, self._set_aside
                )
                opened.followers.on_full = self._ask_for_ticks
            return self._maintainers[stream.oid]

    # -- using ---------------------------------------------------------------------------------------------

    def find(self, relation: Relation) -> ContinuousView | None:
        """A view, if it is open."""
        with self._lock:
            return self._views.get(relation.oid)

    def get(self, relation: Relation) -> ContinuousView:
        view = self.find(relation)
        if view is None:
            raise InternalError(f'view "{relation.name}" is not open')
        return view

    def all(self) -> list[ContinuousView]:
        with self._lock:
            return list(self._views.values())

    def sharing(self, view: ContinuousView) -> dict[str, list[str]]:
        """The other views that share the states of a view, by its groupings."""
        names = {one.relation.oid: one.relation.name for one in self.all()}
        return {
            grouping: sorted({names[oid] for oid, _ in state.shared.members if oid != view.relation.oid})
            for grouping, state in view.states.items()
        }

    def answer(
        self, view: ContinuousView, tag: str, live: Mapping[str, Input], token: object, slide: int | None = None
    ) -> Answer:
        """What a view holds, with all that was acknowledged before now, or held at a slide of its windows. A tick takes
        many new tuples, a reader few."""
        asked_at = time.perf_counter()
        # Rows of a slide are asked for once: while one task can merge them, a tick before would only be a second job.
        if view.lag > (SMALL_ROWS_MAX if isinstance(view, WindowedView) else READ_ALONG_ROWS_MAX):
            for oid in view.streams:
                self.catch_up(oid)
        if isinstance(view, WindowedView):
            return view.answer(self._runner, tag, live, token, slide, asked_at)
        return view.answer(self._runner, tag, live, token)

    def catch_up(self, stream: int) -> None:
        """Bring all views of a stream, by its oid, to its end; one that was dropped has none."""
        with self._lock:
            maintainer = self._maintainers.get(stream)
        if maintainer is not None:
            self._waited_ticks.catch_up(maintainer)
            self.late.wake()

    def pair_up(self) -> None:
        """Have views join the rows of their windows that ticks took."""
        for view in self.all():
            if isinstance(view, WindowedView):
                view.pair_up(self._runner)

    def drop(self, oid: int) -> None:
        with self._lock:
            view = self._views.pop(oid, None)
        if view is None:
            return
        self._leave(view)
        self.late.forget(oid)
        view.forget()

    def rename(self, oid: int, name: str) -> None:
        """A view has another name."""
        with self._lock:
            view = self._views.get(oid)
        if view is not None:
            view.relation = replace(view.relation, name=name)

    def _leave(self, view: ContinuousView, changed: Mapping[int, ViewRecord] | None = None) -> None:
        """Take a view out of its states; those that nobody else uses are removed, together with changes of views."""
        unused = [state for name, state in view.states.items() if state.leave(view.member_id(name))]
        self._catalog.commit_kept({state.oid: None for state in unused}, changed)
        for state in unused:
            state.close()
            with self._lock:
                self._states.pop(state.oid, None)

    def _set_aside(self, member_id: MemberId, error: MillpondError) -> None:
        """Keep a view that fails no longer. Its error is what its readers get, also after a restart."""
        with self._lock:
            view = self._views.get(member_id[0])
        if view is not None and view.error is None:
            view.error = error
            view.record = replace(view.record, failure=Failure.of(error), late=self.late.saved(view))
            self._leave(view, {view.relation.oid: view.record})
            self.late.keep_left(view, {})

    def _late_published(self, oid: int) -> None:
        """Nothing is left of the late rows of a view that was set aside."""
        with self._lock:
            view = self._views.get(oid)
        if view is not None:
            view.record = replace(view.record, late=())
            self._catalog.commit_kept({}, {oid: view.record})

    # -- the background ------------------------------------------------------------------------------------

    def close(self) -> None:
        """Stop the background; what was not read yet is read after the next opening."""
        self._closing.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join()
        self._waited_ticks.close()
        self.late.close()

    def _start(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="millpond-views", daemon=True)
                self._thread.start()

    def _ask_for_tick(self, stream: int, offset: int) -> None:
        """Have the background tick soon, unless it has done so since the states stood at that tuple."""
        with self._lock:
            self._asked[stream] = max(offset, self._asked.get(stream, 0))
        self._wake.set()

    def _ask_for_ticks(self) -> None:
        """Have the background tick soon for all streams: a writer waits for room."""
        with self._lock:
            maintainers = dict(self._maintainers)
        for stream, maintainer in maintainers.items():
            self._ask_for_tick(stream, maintainer.offset())

    def _run(self) -> None:
        while not self._closing.is_set():
            self._wake.wait(LOOK_INTERVAL_S)
            self._wake.clear()
            with self._lock:
                asked, self._asked = self._asked, {}
                self._maintainers = {oid: one for oid, one in self._maintainers.items() if one.stream.is_open}
                maintainers = dict(self._maintainers)
            _attempt(self._tell_of_moments, "telling of windows")
            _attempt(self._look_for_late_rows, "looking for late rows")
            for oid, maintainer in maintainers.items():
                if self._closing.is_set():
                    return
                what = f'maintaining the views of stream "{maintainer.relation.name}"'
                _attempt(partial(self._keep_up, maintainer, asked.get(oid)), what)
            _attempt(self.pair_up, "pairing rows of windows")

    def _tell_of_moments(self) -> None:
        """Ring when views show other windows than before although nothing may have arrived."""
        if not self.moments.waiting:
            return
        kept = [view for view in self.all() if view.is_open and view.error is None]
        views = [view for view in kept if isinstance(view, (WindowedView, SessionView))]
        shown: dict[int, Sequence[object]] = {view.relation.oid: view.shown() for view in views}
        if shown != self._shown:
            self._shown = shown
            self.moments.ring()

    def _look_for_late_rows(self) -> None:
        """Have ticks take late rows soon, and publish what they found."""
        for stream, offset in self.late.to_tick():
            self._ask_for_tick(stream, offset)

    def _keep_up(self, maintainer: Maintainer, asked: int | None) -> None:
        """A tick if there is enough to do, or somebody asked for one and there was none since; else what can wait."""
        pending, enough = maintainer.pending(), maintainer.chunk_rows(self._chunk_rows)
        if pending >= enough or (pending and asked is not None and asked >= maintainer.offset()):
            maintainer.catch_up()
            self.late.wake()
        else:
            maintainer.compact()


def _attempt(action: Callable[[], None], what: str) -> None:
    """Work whose failure does not end the background: the next round, or a reader, tries again."""
    try:
        action()
    except Exception:
        logger.exception("%s failed", what)

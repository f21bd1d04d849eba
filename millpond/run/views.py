"""The continuous views of a pond: opened with it, kept up by one thread in the background and by their readers."""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from millpond.catalog import Catalog
from millpond.config import Settings
from millpond.errors import InternalError, MillpondError
from millpond.plan.pipelines import SplitPlan
from millpond.relation import Relation
from millpond.run.maintainer import Maintainer
from millpond.run.view import Answer, ContinuousView
from millpond.spark.runner import FileInput, Input, Runner
from millpond.state.parts import PartStore
from millpond.state.view_state import ViewState
from millpond.stream import Follower
from millpond.streams import StreamStore

logger = logging.getLogger(__name__)

READ_ALONG_ROWS_MAX = 100_000
"""Up to so many new tuples a reader takes along in its own job; each reader does so again, until a tick takes them."""

LOOK_INTERVAL_S = 0.2
"""How often the background looks whether a chunk is worth a tick."""


class ViewStore:
    """All views; safe to use from several threads."""

    def __init__(
        self, directory: Path, catalog: Catalog, streams: StreamStore, runner: Runner, settings: Settings
    ) -> None:
        self._directory, self._catalog, self._streams, self._runner = directory, catalog, streams, runner
        self._chunk_rows = settings.integer("view_chunk_rows")
        self._lock = threading.Lock()
        self._views: dict[int, ContinuousView] = {}
        self._maintainers: dict[int, Maintainer] = {}
        self._wake = threading.Event()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def create(
        self, relation: Relation, plan: SplitPlan, statics: Mapping[str, FileInput], starts: Mapping[int, int]
    ) -> ContinuousView:
        """Keep a new view: from the given tuples on, or from the end of a stream that has none."""
        followers = {oid: self._streams.get(stream).follow(starts.get(oid)) for oid, stream in streams_of(plan).items()}
        offsets = {oid: int(follower.position) for oid, follower in followers.items()}
        view = self._open(relation, plan, statics, ViewState(offsets, offsets), followers)
        self._catalog.commit_states({relation.oid: view.state})
        return view

    def reopen(
        self, relation: Relation, plan: SplitPlan, statics: Mapping[str, FileInput], state: ViewState
    ) -> ContinuousView:
        """Go on with a view where its committed state ends. One that was set aside and overrun stays aside."""
        positions = {oid: self._position(stream, state) for oid, stream in streams_of(plan).items()}
        followers: dict[int, Follower] = {}
        error: MillpondError | None = None
        try:
            for oid, stream in streams_of(plan).items():
                followers[oid] = self._streams.get(stream).follow(positions[oid])
        except MillpondError as overrun:
            error = overrun
            for follower in followers.values():
                follower.close()
            followers = {}
        return self._open(relation, plan, statics, replace(state, offsets=positions), followers, error)

    def _open(
        self,
        relation: Relation,
        plan: SplitPlan,
        statics: Mapping[str, FileInput],
        state: ViewState,
        followers: Mapping[int, Follower],
        error: MillpondError | None = None,
    ) -> ContinuousView:
        parts = PartStore(self._directory / str(relation.oid))
        parts.remove_orphans(state.names())
        view = ContinuousView(relation, plan, statics, parts, state, error)
        with self._lock:
            self._views[relation.oid] = view
            for oid, stream in streams_of(plan).items():
                maintainer = self._maintainer(stream)
                if error is None:
                    maintainer.add(view, followers[oid])
            self._start()
        return view

    def get(self, relation: Relation) -> ContinuousView:
        with self._lock:
            view = self._views.get(relation.oid)
        if view is None:
            raise InternalError(f'view "{relation.name}" is not open')
        return view

    def all(self) -> list[ContinuousView]:
        with self._lock:
            return list(self._views.values())

    def lag(self, view: ContinuousView) -> int:
        """Tuples that have arrived and that the view has yet to read."""
        ends = {oid: self._maintainers[oid].stream.stats().end_tid for oid in view.state.offsets}
        return sum(ends[oid] - offset for oid, offset in view.state.offsets.items())

    def answer(self, view: ContinuousView, tag: str, live: Mapping[str, Input], token: object) -> Answer:
        """What a view holds, with all that was acknowledged before now. A tick takes many new tuples, a reader few."""
        if self.lag(view) > READ_ALONG_ROWS_MAX:
            for oid in view.state.offsets:
                self.catch_up(oid)
        streams = {oid: self._maintainers[oid].stream for oid in view.state.offsets}
        return view.answer(self._runner, tag, live, token, streams)

    def catch_up(self, stream: int) -> None:
        """Bring all views of a stream, by its oid, to its end."""
        self._maintainers[stream].catch_up()

    def drop(self, oid: int) -> None:
        with self._lock:
            view = self._views.pop(oid, None)
        if view is None:
            return
        for stream in view.state.offsets:
            self._maintainers[stream].remove(view)
        with view.lock:  # nobody computes an answer
            view.forget_file()
            shutil.rmtree(view.parts.directory, ignore_errors=True)

    def close(self) -> None:
        """Stop the background; what was not read yet is read after the next opening."""
        self._closing.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join()

    @staticmethod
    def _position(stream: Relation, state: ViewState) -> int:
        """Where to go on. A memory stream starts anew with each process, so a view of it reads all there is."""
        return 0 if stream.options.get("durability") == "memory" else state.offsets[stream.oid]

    def _maintainer(self, stream: Relation) -> Maintainer:
        if stream.oid not in self._maintainers:
            opened = self._streams.get(stream)
            self._maintainers[stream.oid] = Maintainer(stream, opened, self._runner, self._catalog.commit_states)
            opened.followers.on_full = self._wake.set
        return self._maintainers[stream.oid]

    # -- the background ------------------------------------------------------------------------------------

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="millpond-views", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while not self._closing.is_set():
            full = self._wake.wait(LOOK_INTERVAL_S)
            self._wake.clear()
            for maintainer in list(self._maintainers.values()):
                pending = maintainer.pending()
                if not self._closing.is_set() and (pending >= self._chunk_rows or (full and pending)):
                    self._tick(maintainer)

    @staticmethod
    def _tick(maintainer: Maintainer) -> None:
        """A tick whose failure does not end the background: the next one, or a reader, tries again."""
        try:
            maintainer.catch_up()
        except Exception:
            logger.exception('a tick of stream "%s" failed', maintainer.relation.name)


def streams_of(plan: SplitPlan) -> dict[int, Relation]:
    """The streams that a plan reads, by oid."""
    return {line.stream.oid: line.stream for grouping in plan.groupings for line in grouping.pipelines}

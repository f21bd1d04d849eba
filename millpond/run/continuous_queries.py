"""The continuous queries of a pond: opened with it, each at work in a thread of its own; none holds others up."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from millpond.catalog import Catalog
from millpond.errors import MillpondError, SqlState
from millpond.relation import Relation
from millpond.run.continuous_query import ContinuousQuery, Work
from millpond.run.query_rows import QueryRows
from millpond.spark.runner import Runner
from millpond.state.parts import PartStore
from millpond.state.records import Failure, QueryRecord
from millpond.stream_window import CycleWindow
from millpond.streams import StreamStore

PAUSED = "paused"
"""The option of a query that should rest."""


@dataclass(frozen=True)
class QueryPlan:
    """A continuous query, the streams that it reads, the tables or the one stream that it writes, the cycles in which
    it does, and whether it emits rows meanwhile."""

    relation: Relation
    sources: tuple[Relation, ...]
    targets: tuple[Relation, ...]
    window: CycleWindow | None = None
    emits: bool = False


def is_paused(query: Relation) -> bool:
    """Whether somebody said that a query should rest."""
    return PAUSED in query.options


def tag_of(oid: int) -> str:
    """What labels the Spark jobs of a query."""
    return f"millpond-query-{oid}"


class QueryStore:
    """All continuous queries; safe to use from several threads."""

    def __init__(self, catalog: Catalog, streams: StreamStore, runner: Runner, directory: Path) -> None:
        self._catalog, self._streams, self._runner, self._directory = catalog, streams, runner, directory
        # Held while a query is started, stopped or changed. Those that work do not need it.
        self._turn = threading.RLock()
        self._queries: dict[int, tuple[ContinuousQuery, QueryPlan]] = {}
        self._rows: dict[int, QueryRows] = {}
        self._work: Callable[[QueryPlan], Work] | None = None

    # -- creating and opening ------------------------------------------------------------------------------

    def open(self, work: Callable[[QueryPlan], Work], plans: Iterable[QueryPlan]) -> None:
        """Go on with the queries of a pond, each where it was; one that was never started begins now.

        `work` gives what a query does with its chunks.
        """
        self._work = work
        plans = list(plans)
        self._remove_orphans({plan.relation.oid for plan in plans})
        begun = set(self._catalog.queries())
        for plan in plans:
            if plan.relation.oid in begun:
                self._reopen(plan)
            else:
                self.create(plan, earliest=False)

    def create(self, plan: QueryPlan, *, earliest: bool) -> None:
        """Begin a query: with the first tuples that its streams hold, or with the next to come."""
        query = self._made(plan)
        query.commit(QueryRecord({one.oid: query.follow(one.oid, None, earliest=earliest) for one in plan.sources}))
        self._add(query, plan)

    def replace(self, plan: QueryPlan, *, earliest: bool) -> None:
        """Put another definition in the place of a query: it goes on where the old one was in the same streams."""
        with self._turn:
            old, old_plan = self._queries[plan.relation.oid]
            old.stop()
            record = self._look(old_plan)
            query = self._made(plan)
            places = {} if earliest else record.offsets
            offsets = {one.oid: query.follow(one.oid, places.get(one.oid), earliest=earliest) for one in plan.sources}
            cycle = None if record.cycle is None else replace(record.cycle, ended=False)
            query.commit(replace(record, offsets=offsets, failure=None, cycle=cycle))
            old.leave()
            self._add(query, plan)

    def _made(self, plan: QueryPlan) -> ContinuousQuery:
        assert self._work is not None, "a pond opens its queries before it makes new ones"
        oid, streams = plan.relation.oid, {one.oid: self._streams.get(one) for one in plan.sources}
        look, cancel = partial(self._look, plan), partial(self._runner.interrupt, tag_of(oid))
        cycles_max = None if plan.window is None else plan.window.cycles
        commit, tell = self._catalog.commit_query, self.rows(oid).tell
        return ContinuousQuery(oid, streams, self._work(plan), look, commit, cancel, cycles_max, tell)

    def _reopen(self, plan: QueryPlan) -> None:
        """Take up a query. A stream in memory starts anew with each process, and so does who reads it."""
        query = self._made(plan)
        record = self._look(plan)
        forgotten = {one.oid: 0 for one in plan.sources if one.options.get("durability") == "memory"}
        places = {**record.offsets, **forgotten}
        try:
            # One that was replaced right before the process ended may have streams that it has not seen yet.
            offsets = {one.oid: query.follow(one.oid, places.get(one.oid)) for one in plan.sources}
            record = replace(record, offsets=offsets)
        except MillpondError as overrun:
            record = replace(record, failure=Failure.of(overrun))
        query.commit(record)
        self._add(query, plan)

    def _look(self, plan: QueryPlan) -> QueryRecord:
        """How far a query is by the catalog, or by its target: what ended it may have come after the rows were
        published there and before the catalog knew."""
        record = self._catalog.queries().get(plan.relation.oid)
        if record is None:
            message = f'continuous query "{plan.relation.name}" was dropped'
            raise MillpondError(SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, message)
        streams = [self._streams.get(one) for one in plan.targets if one.kind == "stream"]
        origins = [origin for one in streams if (origin := one.origin(plan.relation.oid)) is not None]
        written = [QueryRecord.loads(origin.progress) for origin in origins]
        return max([record, *written], key=lambda one: one.chunks)

    def _add(self, query: ContinuousQuery, plan: QueryPlan) -> None:
        with self._turn:
            self._queries[query.oid] = (query, plan)
            if not is_paused(plan.relation):
                query.start()

    # -- using ---------------------------------------------------------------------------------------------

    def find(self, oid: int) -> ContinuousQuery | None:
        """A query, if it is open: a new one is visible a moment before it is."""
        found = self._queries.get(oid)
        return None if found is None else found[0]

    def function_parts(self, oid: int) -> PartStore:
        """Where a query keeps what its functions remember."""
        return PartStore(self._directory / str(oid))

    def _remove_orphans(self, known: set[int]) -> None:
        for path in self._directory.iterdir() if self._directory.exists() else ():
            if not path.name.isdigit() or int(path.name) not in known:
                shutil.rmtree(path)

    def rows(self, oid: int) -> QueryRows:
        """The rows that a query makes, by whatever definition it has."""
        return self._rows.setdefault(oid, QueryRows())

    def settle(self, oid: int, *, again: bool = False) -> None:
        """Work or rest, as the catalog says by now; `again` also if the query was set aside.

        One that rests keeps its place, so that writers wait when a stream is full of what it has not read.
        """
        with self._turn:
            relation = next((one for one in self._catalog.snapshot.relations.values() if one.oid == oid), None)
            if oid not in self._queries or relation is None:
                return
            query, plan = self._queries[oid]
            if is_paused(relation) or again:
                query.stop()
            if not is_paused(relation):
                if again:
                    query.commit(replace(self._look(plan), failure=None))
                query.start()

    def drop(self, oid: int) -> None:
        """End a query. What it made stays; the stream that it wrote forgets about it."""
        with self._turn:
            found = self._queries.pop(oid, None)
            self._rows.pop(oid, None)
            if found is None:
                return
            query, plan = found
            query.stop()
            query.leave()
            for one in plan.targets:
                target = self._streams.find(one.oid)
                if target is not None:
                    target.forget_origin(oid)
            shutil.rmtree(self._directory / str(oid), ignore_errors=True)

    def close(self) -> None:
        """Stop all queries; what they have not taken is taken after the next opening."""
        with self._turn:
            queries = [query for query, _ in self._queries.values()]
            for query in queries:
                query.ask_to_stop()
            for query in queries:
                query.stop()

"""The continuous queries of a pond: opened with it, each at work in a thread of its own; none holds others up."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

from millpond.catalog import Catalog
from millpond.errors import MillpondError, SqlState
from millpond.relation import Relation
from millpond.run.continuous_query import ContinuousQuery, Work, failure_of
from millpond.spark.runner import Runner
from millpond.state.records import QueryRecord
from millpond.stream_window import CycleWindow
from millpond.streams import StreamStore

PAUSED = "paused"
"""The option of a query that should rest."""


@dataclass(frozen=True)
class QueryPlan:
    """A continuous query, the streams that it reads, the table or stream that it writes, and the cycles in which it
    does."""

    relation: Relation
    sources: tuple[Relation, ...]
    target: Relation
    window: CycleWindow | None = None


def is_paused(query: Relation) -> bool:
    """Whether somebody said that a query should rest."""
    return PAUSED in query.options


def tag_of(oid: int) -> str:
    """What labels the Spark jobs of a query."""
    return f"millpond-query-{oid}"


class QueryStore:
    """All continuous queries; safe to use from several threads."""

    def __init__(self, catalog: Catalog, streams: StreamStore, runner: Runner) -> None:
        self._catalog, self._streams, self._runner = catalog, streams, runner
        # Held while a query is started, stopped or changed. Those that work do not need it.
        self._turn = threading.RLock()
        self._queries: dict[int, tuple[ContinuousQuery, QueryPlan]] = {}
        self._work: Callable[[QueryPlan], Work] | None = None

    # -- creating and opening ------------------------------------------------------------------------------

    def open(self, work: Callable[[QueryPlan], Work], plans: Iterable[QueryPlan]) -> None:
        """Go on with the queries of a pond, each where it was; one that was never started begins now.

        `work` gives what a query does with its chunks.
        """
        self._work = work
        begun = set(self._catalog.queries())
        for plan in plans:
            if plan.relation.oid in begun:
                self._reopen(plan)
            else:
                self.create(plan, earliest=False)

    def create(self, plan: QueryPlan, *, earliest: bool) -> None:
        """Begin a query: with the first tuples that its streams hold, or with the next to come."""
        query = self._made(plan)
        query.commit(QueryRecord({one.oid: self._begin(query, one, earliest=earliest) for one in plan.sources}))
        self._add(query, plan)

    def replace(self, plan: QueryPlan, *, earliest: bool) -> None:
        """Put another definition in the place of a query: it goes on where the old one was in the same streams."""
        with self._turn:
            old, old_plan = self._queries[plan.relation.oid]
            old.stop()
            record = self._look(old_plan)
            query = self._made(plan)
            places = {} if earliest else record.offsets
            offsets = {one.oid: self._begin(query, one, places.get(one.oid), earliest=earliest) for one in plan.sources}
            query.commit(replace(record, offsets=offsets, failure=None))
            old.leave()
            self._add(query, plan)

    def _begin(
        self, query: ContinuousQuery, source: Relation, place: int | None = None, *, earliest: bool = False
    ) -> int:
        """Follow a stream from a place, or else from its end or its first tuple, which others may overwrite now."""
        while earliest and place is None:
            try:
                return query.follow(source.oid, int(self._streams.get(source).stats().first_tid))
            except MillpondError as overrun:
                if overrun.sqlstate is not SqlState.STREAM_OVERRUN:
                    raise
        return query.follow(source.oid, place)

    def _made(self, plan: QueryPlan) -> ContinuousQuery:
        assert self._work is not None, "a pond opens its queries before it makes new ones"
        oid, streams = plan.relation.oid, {one.oid: self._streams.get(one) for one in plan.sources}
        look, cancel = partial(self._look, plan), partial(self._runner.interrupt, tag_of(oid))
        cycles_max = None if plan.window is None else plan.window.cycles
        commit = self._catalog.commit_query
        return ContinuousQuery(oid, streams, self._work(plan), look, commit, cancel, cycles_max)

    def _reopen(self, plan: QueryPlan) -> None:
        """Take up a query. A stream in memory starts anew with each process, and so does who reads it."""
        query = self._made(plan)
        record = self._look(plan)
        forgotten = {one.oid: 0 for one in plan.sources if one.options.get("durability") == "memory"}
        places = {**record.offsets, **forgotten}
        try:
            # One that was replaced right before the process ended may have streams that it has not seen yet.
            offsets = {one.oid: self._begin(query, one, places.get(one.oid)) for one in plan.sources}
            record = replace(record, offsets=offsets)
        except MillpondError as overrun:
            record = replace(record, failure=failure_of(overrun))
        query.commit(record)
        self._add(query, plan)

    def _look(self, plan: QueryPlan) -> QueryRecord:
        """How far a query is by the catalog, or by its target: what ended it may have come after the rows were
        published there and before the catalog knew."""
        record = self._catalog.queries().get(plan.relation.oid)
        if record is None:
            message = f'continuous query "{plan.relation.name}" was dropped'
            raise MillpondError(SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, message)
        origin = self._streams.get(plan.target).origin(plan.relation.oid) if plan.target.kind == "stream" else None
        written = record if origin is None else QueryRecord.loads(origin.progress)
        return written if written.chunks > record.chunks else record

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
            if found is None:
                return
            query, plan = found
            query.stop()
            query.leave()
            target = self._streams.find(plan.target.oid)
            if target is not None:
                target.forget_origin(oid)

    def close(self) -> None:
        """Stop all queries; what they have not taken is taken after the next opening."""
        with self._turn:
            queries = [query for query, _ in self._queries.values()]
            for query in queries:
                query.ask_to_stop()
            for query in queries:
                query.stop()

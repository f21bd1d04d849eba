"""What subscriptions follow: a continuous view, a query over views and tables, or the rows of a stream as they come.

Each looks with a transaction of its own, so that it sees the newest, and with the rights of the pond: whether a
subscriber may read it is asked for each of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager

import pyarrow as pa

from millpond.catalog import Snapshot
from millpond.errors import MillpondError, SqlState
from millpond.plan.output_key import output_key
from millpond.relation import Relation
from millpond.result import Result, ResultColumn
from millpond.run.difference import Key
from millpond.run.feed import Wake
from millpond.run.view import Answer, ContinuousView
from millpond.run.windowed_view import WindowedView
from millpond.services import Services
from millpond.session_state import SessionState
from millpond.spark.runner import FileInput
from millpond.sql.bind import BoundQuery
from millpond.sql.statements import QueryTree
from millpond.statements.execution import Execution, base_relations
from millpond.statements.request import Request
from millpond.stream import StreamRelation

CHUNK_ROWS = 100_000
"""Rows of a stream that become one version at most: they are held in memory."""

Stop = Callable[[], None]
_numbers = itertools.count(1)


class FollowedQuery:
    """What the sources share: the relations that they read, which have to stay the ones they are."""

    is_behind = False

    def __init__(self, services: Services, reads: Iterable[Relation]) -> None:
        self.services = services
        self._reads = {relation.oid: relation.name for relation in reads}
        self._state = SessionState.of_pond(services.settings)
        self._tag = f"millpond-feed-{next(_numbers)}"
        self._verified = -1

    def interrupt(self) -> None:
        self.services.runner.interrupt(self._tag)

    def close(self) -> None:
        """Nothing is kept unless a source says so."""

    def verify(self) -> None:
        self._verify(self.services.catalog.snapshot)

    def _verify(self, snapshot: Snapshot) -> None:
        """Raise if something that is read was dropped; asked once for each state of the catalog."""
        if snapshot.number == self._verified:
            return
        there = {relation.oid for relation in snapshot.relations.values()}
        for oid, name in self._reads.items():
            if oid not in there:
                message, hint = f'relation "{name}" was dropped or replaced', "Subscribe anew."
                raise MillpondError(SqlState.UNDEFINED_TABLE, message, hint=hint)
        self._verified = snapshot.number

    @contextmanager
    def looking(self) -> Iterator[Execution]:
        """The newest state, if all that is read is still there."""
        transaction = self.services.begin()
        try:
            self._verify(transaction.base)
            yield Execution(self.services, self._state, transaction, self._tag, True, Request(), strict=True)
        finally:
            transaction.rollback()

    def hear(self, wake: Callable[[], None], streams: Iterable[StreamRelation]) -> Stop:
        """Have `wake` called for each arrival in a stream, each commit, and each window that ends by the clock."""
        bells = [self.services.catalog.commits, self.services.views.moments, *(stream.arrivals for stream in streams)]
        stops = [bell.listen(wake) for bell in bells]

        def stop() -> None:
            for one in stops:
                one()

        return stop


class ViewSource(FollowedQuery):
    """All rows of a continuous view; with `on_close`, one that nobody else knows of."""

    is_state = True

    def __init__(
        self, services: Services, view: ContinuousView, reads: Iterable[Relation], on_close: Stop | None = None
    ) -> None:
        super().__init__(services, reads)
        self._view, self._on_close = view, on_close
        self._last: Answer | None = None
        self._wake: Callable[[], None] = lambda: None
        self.key: Key | None = view_key(services, view)
        if isinstance(view, WindowedView):
            view.followers += 1

    def look(self) -> pa.Table | None:
        last = self._last
        following = None if last is None else self._slide_after(last)
        if following is None and last is not None and self._slides:
            # That of the newest slide might leave out some that end meanwhile.
            following = last.slide
            if following is None:
                return None
        with self.looking() as execution:
            answer = execution.view_answer(self._view.relation, following)
        if answer is last:
            return None
        self._last, self.is_behind = answer, self._slide_after(answer) is not None
        if self.is_behind:
            self._wake()
        return answer.rows

    @property
    def _slides(self) -> bool:
        return isinstance(self._view, WindowedView) and self._view.slides

    def _slide_after(self, answer: Answer) -> int | None:
        """The slide to look at next, so that none is left out."""
        return self._view.slide_after(answer.slide) if isinstance(self._view, WindowedView) else None

    def listen(self, wake: Callable[[], None]) -> Stop:
        self._wake = wake
        return self.hear(wake, streams_below(self.services, self._view))

    def close(self) -> None:
        if isinstance(self._view, WindowedView):
            self._view.followers -= 1
        if self._on_close is not None:
            self._on_close()


class QuerySource(FollowedQuery):
    """All rows of a query over views and tables, computed anew when one of them has changed."""

    is_state = True

    def __init__(self, services: Services, query: QueryTree, bound: BoundQuery) -> None:
        relations = base_relations(bound).values()
        super().__init__(services, relations)
        self._query, self._columns = query, bound.columns
        self._views = [services.views.get(one) for one in relations if one.kind == "continuous"]
        self._last: object = None
        self.key: Key | None = output_key(bound.tree, lambda relation: key_of(services, relation))

    def look(self) -> pa.Table | None:
        with self.looking() as execution:
            bound = execution.bind(self._query)
            if bound.columns != self._columns:
                raise _changed()
            token = [_state_of(execution, relation) for relation in base_relations(bound).values()]
            if token == self._last:
                return None
            columns = tuple(ResultColumn(column.name, column.type) for column in bound.columns)
            result = Result("SELECT", columns, _frame=execution.frame(bound))
            result.materialise()
            self._last = token
            return result.table

    def listen(self, wake: Callable[[], None]) -> Stop:
        return self.hear(wake, [stream for view in self._views for stream in streams_below(self.services, view)])


class StreamSource(FollowedQuery):
    """The rows that a query without a grouping makes of each chunk of its streams, from their ends on."""

    is_state = False

    def __init__(self, services: Services, query: QueryTree, bound: BoundQuery) -> None:
        relations = list(base_relations(bound).values())
        super().__init__(services, relations)
        self.key: Key | None = None
        self._query = query
        self._streams = {one.oid: (one, services.streams.get(one)) for one in relations if one.kind == "stream"}
        self._positions = self._ends()
        self._started = False
        self._wake: Callable[[], None] = lambda: None

    def look(self) -> pa.Table | None:
        ends, positions = self._ends(), self._positions
        chunk_ends = {oid: min(end, positions[oid] + CHUNK_ROWS) for oid, end in ends.items()}
        if chunk_ends == positions and self._started:
            return None
        with self.looking() as execution, ExitStack() as held:
            own: dict[str, FileInput] = {}
            for oid, (relation, stream) in self._streams.items():
                chunk = held.enter_context(stream.hold(positions[oid], chunk_ends[oid]))
                paths = tuple(str(file.path) for file in chunk.files)
                tids = (chunk.first, chunk.end) if chunk.is_cut else None
                own[relation.name] = FileInput(paths, relation.columns, is_stream=True, tids=tids)
            bound = execution.bind(self._query)
            columns = tuple(ResultColumn(column.name, column.type) for column in bound.columns)
            result = Result("SELECT", columns, _frame=execution.frame(bound, own=own))
            result.materialise()
        self._positions, self._started = chunk_ends, True
        if chunk_ends != ends:
            self._wake()
        return result.table

    def listen(self, wake: Callable[[], None]) -> Stop:
        self._wake = wake
        return self.hear(wake, [stream for _, stream in self._streams.values()])

    def _ends(self) -> Mapping[int, int]:
        return {oid: int(stream.stats().end_tid) for oid, (_, stream) in self._streams.items()}


class QueryRowsSource(FollowedQuery):
    """The rows that a continuous query makes, from now on: what it emits, or those of each chunk once it is committed
    in its target. They come by themselves, so there is nothing to look at."""

    is_state = False
    key: Key | None = None

    def __init__(self, services: Services, query: Relation, columns: pa.Schema, target: Relation | None) -> None:
        super().__init__(services, [query] if target is None else [query, target])
        self._query, self._target, self._columns = query, target, columns
        self._started = False

    def look(self) -> pa.Table | None:
        if self._started:
            return None
        self._started = True
        return self._columns.empty_table()

    def listen(self, wake: Wake) -> Stop:
        def give(rows: pa.Table) -> None:
            # Rows of another definition are not told: `verify` ends the feed with an error.
            if rows.schema.types == self._columns.types:
                wake(rows)

        stops = [self.hear(wake, ()), self.services.queries.rows(self._query.oid).given.listen(give)]

        def stop() -> None:
            for one in stops:
                one()

        return stop

    def _verify(self, snapshot: Snapshot) -> None:
        super()._verify(snapshot)
        now = {one.oid: one for one in snapshot.relations.values()}
        is_other = now[self._query.oid].definition != self._query.definition
        if is_other or (self._target is not None and now[self._target.oid].arrow_schema != self._columns):
            raise _changed()


def view_key(services: Services, view: ContinuousView) -> Key | None:
    """The columns of a view that tell its rows apart."""
    return output_key(view.plan.upper.tree, lambda relation: key_of(services, relation))


def key_of(services: Services, relation: Relation) -> list[str] | None:
    """The columns of a relation that tell its rows apart: a table's PRIMARY KEY, or what a view groups by."""
    if relation.kind == "continuous":
        view = services.views.find(relation)
        places = None if view is None else view_key(services, view)
        return None if places is None else [relation.columns[place].name for place in places]
    return next((list(key.columns) for key in relation.keys if key.primary), None)


def streams_below(services: Services, view: ContinuousView) -> list[StreamRelation]:
    """The streams that a view reads, itself or by way of other views."""
    below = [services.views.find(relation) for relation in view.plan.live if relation.kind == "continuous"]
    nested = [stream for one in below if one is not None for stream in streams_below(services, one)]
    return [*view.streams.values(), *nested]


def _changed() -> MillpondError:
    message, hint = "the columns of what is subscribed to have changed", "Subscribe anew."
    return MillpondError(SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, message, hint=hint)


def _state_of(execution: Execution, relation: Relation) -> object:
    """What tells the state of a relation from others."""
    if relation.kind == "continuous":
        return relation.oid, execution.view_answer(relation).token
    return relation.oid, relation.version

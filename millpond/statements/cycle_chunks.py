"""What a query that runs in cycles does when one is complete: INSERTs of what its branches make of the tuples.

The rows, in tables or a stream, and where the query is then become visible together (`continuous_commit`), so that
whoever reads sees whole cycles. Between cycles nothing is parsed, bound or analysed again.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pyarrow as pa

from millpond.errors import MillpondError
from millpond.plan.cycle import CycleQuery
from millpond.plan.cycle_split import early_queries
from millpond.relation import Relation
from millpond.run.continuous_queries import QueryPlan
from millpond.run.continuous_query import CycleCosts, Sources
from millpond.run.cuts import Cut, Cutter, Piece
from millpond.run.function_state import FunctionState
from millpond.run.repeated_query import REHEARSALS, RepeatedQuery
from millpond.services import Services
from millpond.state.parts import PartStore
from millpond.state.records import CycleRecord, QueryRecord
from millpond.statements.continuous_chunks import execution_of, find_query
from millpond.statements.continuous_commit import commit
from millpond.statements.continuous_plan import Planned, check_rights, plan_again
from millpond.statements.current_tables import current
from millpond.statements.cycle_early import EarlyWork
from millpond.statements.cycle_run import CycleRun, stream_columns
from millpond.statements.emission import Emission
from millpond.statements.execution import Execution
from millpond.stream import StreamRelation
from millpond.transaction import Transaction

logger = logging.getLogger(__name__)

CYCLES_SHOWN = 1000
"""The newest cycles of a query that `millpond_cycles` shows."""

_LOOK_AGAIN_S = 0.05


class CycleInserter:
    """Does the work of one query."""

    def __init__(self, services: Services, plan: QueryPlan) -> None:
        assert plan.window is not None
        self._services, self._oid, self._window = services, plan.relation.oid, plan.window
        (self._stream,) = plan.sources
        self._repeated: dict[str, RepeatedQuery] = {}
        self._functions = FunctionState(self._function_parts)
        self._early = EarlyWork(services, self._oid, self._window)
        self._emission = Emission(services, self._oid, self._plan) if plan.emits else None
        self._cutter: Cutter | None = None
        self._free_since_us: int | None = None
        self._planned: tuple[object, Planned] | None = None
        self.is_ready = False
        self.cycles: deque[CycleCosts] = deque(maxlen=CYCLES_SHOWN)

    def step(self, record: QueryRecord, sources: Sources) -> QueryRecord | None:
        """Insert what the next cycle makes, if it is complete."""
        stream, first = sources[self._stream.oid], record.offsets[self._stream.oid]
        cycle = record.cycle or CycleRecord(seen=first)
        if self._cutter is None:
            self._cutter = Cutter(stream, self._stream, self._window, first, cycle)
            self._free_since_us = stream.now_us()
        cut = self._cutter.next(first, cycle)
        ready = (cut or self._cutter.open(first, cycle)) if self._emission is not None else None
        if ready is not None and self._emission is not None:
            self._emission.offer(replace(record, cycle=cycle), ready, stream)
        if cut is not None:
            self.is_ready = True
            return self._taken(record, cut, stream)
        if not self.is_ready:
            self._rehearse(record)
            self.is_ready = True
            return None
        if self._cutter.stream_end is not None:
            return self._ended(record, self._cutter.stream_end)
        piece = self._early.due(self._cutter, first, cycle)
        if piece is not None:
            self._take_early(piece, stream)
        return None

    @property
    def look_again_s(self) -> float | None:
        by_clock = self._cutter is not None and self._cutter.may_end_by_clock
        emitting = self._emission is not None and self._emission.needs_a_look
        return _LOOK_AGAIN_S if by_clock or emitting else None

    def rest(self) -> None:
        if self._emission is not None:
            self._emission.rest()

    def _rehearse(self, record: QueryRecord) -> None:
        """Do everything over no tuples while the first cycle is open: what is planned then need not be after its cut.
        What fails does so again when it counts."""
        transaction = self._services.begin()
        try:
            query, execution = self._begun(transaction)
            plan = self._plan(execution, query)
            self._functions.begin(record.functions, query.definition)
            sources, schemas = plan.cycle_sources, [target.arrow_schema for target in plan.targets]
            given = (Piece(0, 0, 0, 0, None), _no_tuples(sources), self._repeated, self._functions)
            for _ in range(REHEARSALS):
                CycleRun(execution, self._name, sources, schemas, *given).rows()
        except MillpondError as error:
            logger.info("continuous query %s was not rehearsed: %s", self._oid, error.message)
        finally:
            transaction.rollback()

    @property
    def _name(self) -> str:
        """What Spark calls what it reads."""
        return f"cycle_{self._oid}"

    def _taken(self, record: QueryRecord, cut: Cut, stream: StreamRelation) -> QueryRecord:
        began, waited_s = time.perf_counter(), self._waited_s(cut, stream)
        transaction = self._services.begin()
        try:
            query, execution = self._begun(transaction)
            plan = self._plan(execution, query)
            check_rights(transaction, execution.authority, plan)
            self._functions.begin(record.functions, query.definition)
            rows, rows_in, early_s = self._rows_of(execution, plan, cut, stream)
            made = sum(one.num_rows for one in rows)
            done = record.advanced({self._stream.oid: cut.following}, made, cut.record)
            emitted = {} if self._emission is None else self._emission.finish()
            done = replace(done, functions={**self._functions.saved, **emitted})
            self._commit(execution, query, plan, rows, done)
        finally:
            transaction.rollback()
        spent = waited_s + time.perf_counter() - began
        self._free_since_us = stream.now_us()
        starts, ends = (str(self._window.value(place)) for place in (cut.low, cut.high))
        self.cycles.append(CycleCosts(cut.record.cycles, starts, ends, rows_in, made, spent, early_s))
        return done

    def _waited_s(self, cut: Cut, stream: StreamRelation) -> float:
        """How long a cycle has been complete, and could have been worked on: since the tuple arrived that ended it, or
        the cycle before was committed."""
        if cut.complete_us is None or self._free_since_us is None:
            return 0.0
        return max(0, stream.now_us() - max(cut.complete_us, self._free_since_us)) / 1e6

    def _begun(self, transaction: Transaction) -> tuple[Relation, Execution]:
        """The query, and a statement of its owner's."""
        query = find_query(transaction, self._oid)
        return query, execution_of(self._services, transaction, query)

    def _function_parts(self) -> PartStore:
        """Where what functions remember is kept."""
        return self._services.queries.function_parts(self._oid)

    def _plan_again(self, execution: Execution, query: Relation) -> Planned:
        return plan_again(execution, query)

    def _commit(
        self, execution: Execution, query: Relation, plan: Planned, rows: list[pa.Table], done: QueryRecord
    ) -> None:
        commit(execution, query, plan, rows, done)

    def _ended(self, record: QueryRecord, end: int) -> QueryRecord:
        """The stream has ended, after the last cycle."""
        done = record.at_end(self._stream.oid, end)
        self._services.catalog.commit_query(self._oid, done)
        return done

    def _rows_of(
        self, execution: Execution, plan: Planned, cut: Cut, stream: StreamRelation
    ) -> tuple[list[pa.Table], int, float]:
        """What a cycle makes in each branch, of how many tuples, and how long that took before the cut."""
        sources, schemas = plan.cycle_sources, [target.arrow_schema for target in plan.targets]
        read, columns = partial(self._tuples, plan, cut, stream), stream_columns(sources)
        fed, early_s = dict[str, pa.Table](), 0.0
        if not any(source.cuts for source in sources):
            early = self._early.rows(execution, early_queries(sources), columns, schemas, cut, read)
            if early is not None:
                return early.branches, early.rows_in, early.seconds
        elif self._early.has_pieces:
            feeds = _feeds(sources)
            early = self._early.rows(execution, early_queries(sources), columns, list(feeds.values()), cut, read)
            if early is not None:
                fed, early_s = dict(zip(feeds, early.branches, strict=True)), early.seconds
        tuples = read(cut.first)
        own = (self._repeated, self._functions, fed)
        run = CycleRun(execution, self._name, sources, schemas, cut, tuples, *own)
        return run.rows(), tuples.num_rows, early_s

    def _take_early(self, piece: Piece, stream: StreamRelation) -> None:
        """Work on tuples of a cycle that is not cut yet."""
        transaction = self._services.begin()
        try:
            query, execution = self._begun(transaction)
            plan = self._plan(execution, query)
            check_rights(transaction, execution.authority, plan)
            tuples = self._tuples(plan, piece, stream, piece.first)
            sources = plan.cycle_sources
            self._early.take(execution, early_queries(sources), stream_columns(sources), tuples, piece)
            feeds, schemas = _feeds(sources), [target.arrow_schema for target in plan.targets]
            made = list(feeds.values()) if any(source.cuts for source in sources) else schemas
            self._early.rehearse(execution, made, piece, _no_tuples(sources))
        finally:
            transaction.rollback()

    def _plan(self, execution: Execution, query: Relation) -> Planned:
        """The plan of the last cycle, unless a relation has changed in more than its rows."""
        if self._planned is not None:
            plan = self._planned[1]
            if self._planned[0] == _definitions(execution.transaction, query, plan):
                branches = [replace(one, target=current(execution, one.target)) for one in plan.branches]
                return replace(plan, branches=tuple(branches))
        plan = self._plan_again(execution, query)
        self._planned = (_definitions(execution.transaction, query, plan), plan)
        return plan

    def _tuples(self, plan: Planned, piece: Piece, stream: StreamRelation, first: int) -> pa.Table:
        """The tuples of a cycle from `first` on, with the columns that are needed of them."""
        return piece.since(first).read(stream, [column.name for column in stream_columns(plan.cycle_sources)])


def _feeds(sources: Sequence[CycleQuery]) -> dict[str, pa.Schema]:
    """What functions are fed with that is worked on before the cut, by the keys of their cuts."""
    return {one.key: one.feed_schema for source in sources for one in source.cuts if one.key in source.feeds}


def _no_tuples(sources: Sequence[CycleQuery]) -> pa.Table:
    return pa.schema([pa.field(one.name, one.type.arrow) for one in stream_columns(sources)]).empty_table()


def _definitions(transaction: Transaction, query: Relation, plan: Planned) -> object:
    """What a plan depends on: the query, and the relations that it reads and writes, whatever their rows are."""
    emitted = () if plan.emit is None else plan.emit.reads.values()
    names = [one.name for one in (*plan.targets, *plan.reads.values(), *emitted)]
    found = (transaction.relation(name) for name in names)
    return query, tuple(None if one is None else replace(one, version=0) for one in found)

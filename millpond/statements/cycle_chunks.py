"""What a query that runs in cycles does when one is complete: an INSERT of what the query makes of its tuples.

The rows, in a table or a stream, and where the query is then become visible together, so that whoever reads sees whole
cycles. Between cycles nothing is parsed, bound or analysed again.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import replace

import pyarrow as pa

from millpond.plan.cycle import CycleQuery
from millpond.relation import Relation
from millpond.run.continuous_queries import QueryPlan
from millpond.run.continuous_query import CycleCosts, Sources
from millpond.run.cuts import Cut, Cutter
from millpond.run.repeated_query import RepeatedQuery
from millpond.services import Held, Services
from millpond.spark.runner import FileInput, Input, changeable, renamed
from millpond.state.records import CycleRecord, QueryRecord
from millpond.statements.continuous_chunks import (
    SINGLE_ROWS_MAX,
    Planned,
    check_rights,
    execution_of,
    find_query,
    plan_again,
    publish,
)
from millpond.statements.execution import Execution, base_relations
from millpond.statements.insert import store
from millpond.stream import Origin, StreamRelation
from millpond.transaction import Transaction

CYCLES_SHOWN = 1000
"""The newest cycles of a query that `millpond_cycles` shows."""

_LOOK_AGAIN_S = 0.05


class CycleInserter:
    """Does the work of one query."""

    def __init__(self, services: Services, plan: QueryPlan) -> None:
        assert plan.window is not None
        self._services, self._oid, self._window = services, plan.relation.oid, plan.window
        (self._stream,) = plan.sources
        self._repeated = RepeatedQuery(services.scratch)
        self._cutter: Cutter | None = None
        self._planned: tuple[object, Planned] | None = None
        self.cycles: deque[CycleCosts] = deque(maxlen=CYCLES_SHOWN)

    def step(self, record: QueryRecord, sources: Sources) -> QueryRecord | None:
        """Insert what the next cycle makes, if it is complete."""
        stream, first = sources[self._stream.oid], record.offsets[self._stream.oid]
        cycle = record.cycle or CycleRecord(seen=first)
        if self._cutter is None:
            self._cutter = Cutter(stream, self._stream, self._window, first, cycle)
        cut = self._cutter.next(first, cycle)
        return None if cut is None else self._taken(record, cut, stream)

    @property
    def look_again_s(self) -> float | None:
        return _LOOK_AGAIN_S if self._cutter is not None and self._cutter.may_end_by_clock else None

    def _taken(self, record: QueryRecord, cut: Cut, stream: StreamRelation) -> QueryRecord:
        began = time.perf_counter()
        transaction = self._services.begin()
        try:
            query = find_query(transaction, self._oid)
            execution = execution_of(self._services, transaction, query)
            plan = self._plan(execution, query)
            check_rights(transaction, query.owner, plan)
            tuples = self._tuples(plan, cut, stream)
            rows = self._rows(execution, plan, cut, tuples)
            done = record.advanced({self._stream.oid: cut.following}, rows.num_rows, cut.record)
            if plan.target.kind == "table":
                store(execution, plan.target, rows)
                transaction.advance(query, done)
                transaction.commit()
            else:
                publish(self._services, plan.target, rows, Origin(self._oid, done.dumps()))
                self._services.catalog.commit_query(self._oid, done)
        finally:
            transaction.rollback()
        spent = time.perf_counter() - began
        starts, ends = (str(self._window.value(place)) for place in (cut.low, cut.high))
        self.cycles.append(CycleCosts(cut.record.cycles, starts, ends, tuples.num_rows, rows.num_rows, spent))
        return done

    def _plan(self, execution: Execution, query: Relation) -> Planned:
        """The plan of the last cycle, unless a relation has changed in more than its rows."""
        if self._planned is not None:
            plan = self._planned[1]
            if self._planned[0] == _definitions(execution.transaction, query, plan):
                target = execution.transaction.relation(plan.target.name)
                assert target is not None
                return replace(plan, target=target)
        plan = plan_again(execution, query)
        self._planned = (_definitions(execution.transaction, query, plan), plan)
        return plan

    def _tuples(self, plan: Planned, cut: Cut, stream: StreamRelation) -> pa.Table:
        """The tuples of a cycle, with the columns that are needed of them."""
        assert isinstance(plan.source, CycleQuery)
        with stream.hold(cut.first, cut.end) as chunk:
            tuples = chunk.read([column.name for column in plan.source.stream_columns])
        return tuples if cut.members is None else tuples.filter(pa.array(cut.members))

    def _rows(self, execution: Execution, plan: Planned, cut: Cut, tuples: pa.Table) -> pa.Table:
        """What they make, in one Spark job."""
        assert isinstance(plan.source, CycleQuery)
        given: dict[str, Input] = {}
        held: list[Held] = []
        for key, relation in base_relations(plan.source.query).items():
            if relation.oid == self._stream.oid:
                folder, single = self._repeated.file("cycle", tuples), tuples.num_rows <= SINGLE_ROWS_MAX
                given[key] = FileInput((folder,), plan.source.stream_columns, single=single)
            else:
                given[key] = changeable(execution.input(_current(execution, relation), held))
        names = {key: f"cycle_{self._oid}_{place}" for place, key in enumerate(given)}
        schema = plan.target.arrow_schema
        text = plan.source.to_spark(names, [self._window.value(place) for place in (cut.low, cut.high)])
        inputs = {names[key]: one for key, one in given.items()}
        frame = self._repeated.frame(execution.services.runner, renamed(text, schema.names), inputs, execution.tag)
        try:
            return frame.collect().cast(schema)
        finally:
            for release in held:
                release()


def _current(execution: Execution, relation: Relation) -> Relation:
    """A relation as the transaction sees it: the cycle before may have written into it."""
    return execution.transaction.relation(relation.name) or relation


def _definitions(transaction: Transaction, query: Relation, plan: Planned) -> object:
    """What a plan depends on: the query, and the relations that it reads and writes, whatever their rows are."""
    names = [plan.target.name, *(one.name for one in base_relations(plan.source.query).values())]
    found = (transaction.relation(name) for name in names)
    return query, tuple(None if one is None else replace(one, version=0) for one in found)

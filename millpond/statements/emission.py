"""What a cycle query emits of its open cycle, to whoever subscribes to it.

All of a cycle is emitted over one state of the catalog, that right after the cycle before was committed, and before the
cycle itself is: a row does not depend on which tuples arrived together with its own. What functions remember moves on
with each piece, and is committed with the cycle.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from millpond.plan.row_flow import ARRIVAL
from millpond.relation import Relation
from millpond.run.cuts import Piece
from millpond.run.emitted_state import EmittedState
from millpond.run.emitter import Emitter
from millpond.run.repeated_query import RepeatedQuery
from millpond.services import Services
from millpond.state.records import Part, QueryRecord
from millpond.statements.continuous_chunks import execution_of, find_query
from millpond.statements.continuous_plan import Emit, Planned, check_rights
from millpond.statements.cycle_run import CycleRun, stream_columns
from millpond.statements.execution import Execution
from millpond.stream import StreamRelation

PlanFor = Callable[[Execution, Relation], Planned]
"""The plan of a query as a transaction sees it."""


@dataclass(frozen=True)
class _OpenCycle:
    """A cycle whose tuples arrive, and the state of the catalog that they are evaluated with."""

    number: int
    execution: Execution
    emit: Emit


class Emission:
    """Used by the thread of its query; what is emitted is computed in another."""

    def __init__(self, services: Services, oid: int, plan_for: PlanFor) -> None:
        self._services, self._oid, self._plan_for = services, oid, plan_for
        self._emitter = Emitter(f"millpond-emit-{oid}")
        self._repeated: dict[str, RepeatedQuery] = {}
        self._functions = EmittedState(partial(services.queries.function_parts, oid))
        self._remembers: int | None = None
        self._open: _OpenCycle | None = None

    def offer(self, record: QueryRecord, piece: Piece, stream: StreamRelation) -> None:
        """Emit what has come of the cycle after those of a record, as soon as possible; raises what went wrong
        before."""
        assert record.cycle is not None
        cycle = record.cycle.cycles
        if self._open is None or self._open.number != cycle:
            self._begin(cycle, record)
        assert self._open is not None
        self._emitter.offer(cycle, piece, partial(self._emit, self._open, stream))

    @property
    def needs_a_look(self) -> bool:
        """Whether the query should look soon whether something went wrong."""
        return self._emitter.needs_a_look

    def finish(self) -> dict[str, Part]:
        """What is to be remembered after the cycle, when all that was offered is emitted."""
        self._emitter.finish()
        return self._functions.written()

    def rest(self) -> None:
        self._emitter.stop()
        self._end()

    def _begin(self, cycle: int, record: QueryRecord) -> None:
        self._end()
        transaction = self._services.begin()
        try:
            query = find_query(transaction, self._oid)
            execution = execution_of(self._services, transaction, query)
            plan = self._plan_for(execution, query)
            check_rights(transaction, execution.authority, plan)
            assert plan.emit is not None
        except BaseException:
            transaction.rollback()
            raise
        if self._remembers != cycle:
            # A query that rested in the middle of a cycle goes on there.
            self._functions.begin(record.functions, query.definition)
            self._remembers = cycle
        self._open = _OpenCycle(cycle, execution, plan.emit)

    def _end(self) -> None:
        if self._open is not None:
            self._open.execution.transaction.rollback()
            self._open = None

    # -- in the emitter's thread ---------------------------------------------------------------------------------

    def _emit(self, opened: _OpenCycle, stream: StreamRelation, piece: Piece) -> None:
        rows, source = self._services.queries.rows(self._oid), opened.emit.source
        is_heard = rows.given.waiting > 0
        if not is_heard and not source.cuts:
            return
        tuples = piece.read(stream, [column.name for column in stream_columns([source])])
        if not tuples.num_rows:
            return
        own = (self._repeated, self._functions)
        schemas = [opened.emit.made]
        run = CycleRun(opened.execution, f"emit_{self._oid}", [source], schemas, piece, tuples, *own)
        with self._functions.moving_on():
            if not is_heard:
                run.remember()
                return
            (made,) = run.rows()
        if made.num_rows:
            rows.given.ring(made.sort_by(ARRIVAL.name).select(opened.emit.schema.names))

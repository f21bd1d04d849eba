"""INSERT ... SELECT ... FROM CYCLE(...) as a statement: the client waits while one cycle after the other commits.

It ends after `cycles` of them, at the end of the stream, or when it is canceled; what has committed stays. With
RETURNING the client gets the rows of each cycle as soon as they are committed. The statement itself changes nothing:
each cycle is a transaction of its own, so there can be no other around them.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

import pyarrow as pa

from millpond import interrupt
from millpond.errors import MillpondError, SqlState, not_supported
from millpond.privileges.acl import INSERT
from millpond.relation import Relation
from millpond.result import Result, ResultColumn
from millpond.run.continuous_queries import QueryPlan
from millpond.run.function_state import FunctionState
from millpond.sql.dml import plain_columns, returning_query
from millpond.sql.nodes import position_of
from millpond.sql.statements import Insert, QueryDefinition
from millpond.sql.stream_windows import reads_cycles
from millpond.state.parts import PartStore
from millpond.state.records import QueryRecord
from millpond.statements import insert as plain
from millpond.statements.continuous_plan import Planned, planned, seen_by
from millpond.statements.continuous_queries import check_no_circle
from millpond.statements.cycle_chunks import CycleInserter
from millpond.statements.execution import Execution
from millpond.transaction import Transaction


def insert(execution: Execution, statement: Insert) -> Result:
    """INSERT, of a query that is run once, or in cycles."""
    if statement.source is None or not reads_cycles(statement.source):
        return plain.insert(execution, statement)
    if not execution.autocommit:
        message = "INSERT from CYCLE cannot run inside a transaction block"
        detail = "Each cycle is committed when it is complete."
        raise MillpondError(SqlState.ACTIVE_SQL_TRANSACTION, message, detail=detail)
    cycles = ForegroundCycles(execution, replace(statement, returning=()))
    if not statement.returning:
        return Result("INSERT", rows_changed=sum(rows.num_rows for rows in cycles.rows()))
    names, columns = _returned(execution, cycles.target, statement)
    pieces = (rows.select(names) for rows in cycles.rows())
    return Result.flowing("INSERT", columns, pieces, execution.services.runner.from_arrow)


def _returned(execution: Execution, target: Relation, statement: Insert) -> tuple[list[str], tuple[ResultColumn, ...]]:
    """The columns of the target that RETURNING names, and what they are called."""
    if target.kind == "stream":
        raise not_supported("INSERT ... RETURNING on a stream", hint="The tid of a row is known when it is read.")
    bound = execution.bind(returning_query(target, statement.target_alias, statement.returning))
    names = plain_columns(bound)
    if names is None:
        position = position_of(statement.returning[0])
        raise not_supported("an expression in RETURNING of cycles", hint="Name columns, or use *.", position=position)
    return names, tuple(ResultColumn(column.name, column.type) for column in bound.columns)


class ForegroundCycles(CycleInserter):
    """The cycles of a statement: with the rights and settings of its session, and without a record in the catalog."""

    def __init__(self, execution: Execution, statement: Insert) -> None:
        self._asked, self._defined = execution, QueryDefinition((statement,))
        self._sees = seen_by(execution, self._defined)
        plan = planned(execution, self._defined, self._sees)
        check_no_circle(execution, plan)
        (self.target,) = plan.targets
        # Its number tells its inputs in Spark from those of others.
        unnamed = Relation(execution.services.catalog.new_oid(), "", "query", (), owner=execution.user)
        super().__init__(execution.services, QueryPlan(unnamed, plan.streams, plan.targets, plan.window))
        self._unnamed, self._memory = unnamed, execution.services.scratch / f"cycles-{unnamed.oid}"
        self._functions = FunctionState(partial(PartStore, self._memory, durable=False))
        self._made: pa.Table | None = None

    def rows(self) -> Iterator[pa.Table]:
        """What each cycle made, after it was committed. They begin when this is read."""
        stream = self._services.streams.get(self._stream)
        arrived = threading.Event()
        with ExitStack() as used:
            used.callback(shutil.rmtree, self._memory, ignore_errors=True)
            used.callback(stream.arrivals.listen(arrived.set))
            follower = stream.follow(earliest=self._asked.settings.text("stream_start") != "latest")
            used.callback(follower.close)
            used.callback(self._functions.forget)
            record = QueryRecord({self._stream.oid: int(follower.position)})
            if not self._asked.authority.may(INSERT, self._stream):
                follower.close()  # who may only read a stream must not hold up those who write into it
            while not record.is_over(self._window.cycles):
                interrupt.check()
                arrived.clear()
                done = self._attempt(record)
                if done is None:
                    arrived.wait(interrupt.LOOK_INTERVAL_S)
                    continue
                record = done
                follower.advance(record.offsets[self._stream.oid])
                if self._made is not None:
                    yield self._made

    def _attempt(self, record: QueryRecord) -> QueryRecord | None:
        """The next cycle, if it is complete. A lost conflict is tried again: what has committed is not undone, so that
        the statement must not run again as a whole."""
        try:
            return self.step(record, {self._stream.oid: self._services.streams.get(self._stream)})
        except MillpondError as error:
            if error.sqlstate is not SqlState.SERIALIZATION_FAILURE:
                raise
            return None

    # -- what is different from a query in the background ----------------------------------------------------------

    def _begun(self, transaction: Transaction) -> tuple[Relation, Execution]:
        asked = self._asked
        made = Execution(self._services, asked.state, transaction, asked.tag, True, asked.request, asked.login)
        return self._unnamed, made

    def _function_parts(self) -> PartStore:
        return PartStore(self._services.scratch / f"functions-{self._oid}", durable=False)

    def _plan_again(self, execution: Execution, query: Relation) -> Planned:  # noqa: ARG002
        return planned(execution, self._defined, self._sees)

    def _commit(
        self,
        execution: Execution,
        query: Relation,  # noqa: ARG002
        plan: Planned,
        rows: list[pa.Table],
        done: QueryRecord,  # noqa: ARG002
    ) -> None:
        plain.store(execution, plan.targets[0], rows[0])
        execution.transaction.commit()
        (self._made,) = rows

    def _ended(self, record: QueryRecord, end: int) -> QueryRecord:
        self._made = None
        return record.at_end(self._stream.oid, end)

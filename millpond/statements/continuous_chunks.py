"""What a continuous query does with a chunk: its INSERTs with its owner's rights, committed together with its offsets
(`continuous_commit`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace

import pyarrow as pa

from millpond.errors import MillpondError, SqlState
from millpond.plan.row_flow import ARRIVAL
from millpond.privileges.identity import SESSION_AUTHORIZATION, Login
from millpond.relation import Relation
from millpond.run.branch_rows import apart_by_schema, numbered, together
from millpond.run.continuous_queries import tag_of
from millpond.run.continuous_query import CycleCosts, Sources
from millpond.run.repeated_query import RepeatedQuery
from millpond.services import Services
from millpond.session_state import SessionState
from millpond.spark.runner import FileInput
from millpond.state.records import QueryRecord
from millpond.statements.continuous_commit import commit
from millpond.statements.continuous_plan import Planned, check_rights, plan_again
from millpond.statements.execution import Execution
from millpond.statements.request import Request
from millpond.stream import Chunk
from millpond.transaction import Transaction

SINGLE_ROWS_MAX = 50_000
"""Up to so many tuples one task takes: another would cost more than it saves."""


class ChunkInserter:
    """Does the work of one query. Spark mostly repeats the query of the last chunk, over folders that hold the next."""

    def __init__(self, services: Services, oid: int) -> None:
        self._services, self._oid = services, oid
        self._rows_max = services.settings.integer("query_chunk_rows")
        self._repeated = RepeatedQuery(services.scratch)

    def step(self, record: QueryRecord, sources: Sources) -> QueryRecord | None:
        """Take all tuples that have come, up to a bound."""
        with ExitStack() as held:
            chunks: dict[int, Chunk] = {}
            for oid, offset in record.offsets.items():
                end = min(sources[oid].stats().end_tid, offset + self._rows_max)
                if offset < end:
                    chunks[oid] = held.enter_context(sources[oid].hold(offset, end))
            return self._taken(record, chunks) if chunks else None

    @property
    def cycles(self) -> Sequence[CycleCosts]:
        return ()

    @property
    def is_ready(self) -> bool:
        return True

    @property
    def look_again_s(self) -> float | None:
        return None

    def rest(self) -> None:
        """Nothing goes on beside the steps."""

    def _taken(self, record: QueryRecord, chunks: Mapping[int, Chunk]) -> QueryRecord:
        """Insert what the query makes of chunks of its streams, by oid; returns its record after that, committed."""
        transaction = self._services.begin()
        try:
            query = find_query(transaction, self._oid)
            execution = execution_of(self._services, transaction, query)
            plan = plan_again(execution, query)
            check_rights(transaction, execution.authority, plan)
            rows = self._rows(execution, plan, chunks)
            made = sum(one.num_rows for one in rows)
            done = record.advanced({stream: chunk.end for stream, chunk in chunks.items()}, made)
            commit(execution, query, plan, rows, done)
            return done
        finally:
            transaction.rollback()

    def _rows(self, execution: Execution, plan: Planned, chunks: Mapping[int, Chunk]) -> list[pa.Table]:
        """What the chunks make in each branch, in one Spark job, in the order in which the tuples arrived."""
        schemas = [target.arrow_schema for target in plan.targets]
        with_arrival = [schema.append(pa.field(ARRIVAL.name, ARRIVAL.type.arrow)) for schema in schemas]
        rows = self._collected(execution, plan, with_arrival, chunks)
        made = zip(apart_by_schema(rows, with_arrival), schemas, strict=True)
        return [rows.sort_by(ARRIVAL.name).select(schema.names) for rows, schema in made]

    def _collected(
        self, execution: Execution, plan: Planned, schemas: Sequence[pa.Schema], chunks: Mapping[int, Chunk]
    ) -> pa.Table:
        given = {key: self._input(execution, one, chunks.get(one.oid)) for key, one in plan.reads.items()}
        names = {key: f"query_{self._oid}_{place}" for place, key in enumerate(given)}
        texts = [branch.source.query.to_spark(names) for branch in plan.branches]
        text = together(texts, numbered(len(one) for one in schemas))
        inputs = {names[key]: one for key, one in given.items()}
        return self._repeated.collect(execution.services.runner, text, inputs, execution.tag)

    def _input(self, execution: Execution, relation: Relation, chunk: Chunk | None) -> FileInput:
        """A table as the transaction sees it, or the new tuples of a stream. Next time the name means other files."""
        if relation.kind == "table":
            return replace(execution.table_input(relation), stable=False)
        if chunk is None:
            return FileInput((), relation.columns, is_stream=True)
        single = chunk.rows <= SINGLE_ROWS_MAX
        return self._repeated.new_tuples(str(relation.oid), chunk, relation.columns, single=single)


def find_query(transaction: Transaction, oid: int) -> Relation:
    found = next((one for one in transaction.relations.values() if one.oid == oid), None)
    if found is None:
        raise MillpondError(SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, "the continuous query was dropped")
    return found


def execution_of(services: Services, transaction: Transaction, query: Relation) -> Execution:
    """A statement of the owner's."""
    state = SessionState.of_pond(services.settings)
    state.settings.start_with({SESSION_AUTHORIZATION: query.owner})
    return Execution(services, state, transaction, tag_of(query.oid), True, Request(), Login(query.owner))

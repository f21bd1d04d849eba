"""What a continuous query does with a chunk: an INSERT with its owner's rights, committed together with its offsets.

For a table: new files, new version and new offsets in one catalog transaction. For a stream: the rows are published
with their origin, so that they tell themselves how far the query is; the catalog learns of it afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

import pyarrow as pa

from millpond.errors import MillpondError, SqlState, not_supported
from millpond.namespace import PUBLIC_SCHEMA
from millpond.plan.cycle import CycleQuery, cycle_query
from millpond.plan.row_flow import ARRIVAL, RowFlow, row_flow
from millpond.privileges.acl import INSERT, USAGE
from millpond.privileges.authority import Authority, CatalogState
from millpond.privileges.identity import SESSION_AUTHORIZATION, Login
from millpond.privileges.reading import check_reads
from millpond.relation import Column, Relation
from millpond.run.continuous_queries import tag_of
from millpond.run.continuous_query import CycleCosts, Sources
from millpond.run.repeated_query import RepeatedQuery
from millpond.services import Services
from millpond.session_state import SessionState
from millpond.spark.runner import FileInput, Frame, Input, renamed
from millpond.sql.dml import insert_source
from millpond.sql.parse import parse_insert
from millpond.sql.scope import NamesAsCreated
from millpond.sql.statements import Insert
from millpond.state.records import QueryRecord
from millpond.statements.execution import Execution, Request, base_relations
from millpond.statements.insert import insertable, store, target_columns
from millpond.stream import Chunk, Origin
from millpond.transaction import Transaction
from millpond.values import check_not_null

SINGLE_ROWS_MAX = 50_000
"""Up to so many tuples one task takes: another would cost more than it saves."""


@dataclass(frozen=True)
class Planned:
    """A continuous query's INSERT: where its rows come from, and the columns of the target that they fill."""

    source: RowFlow | CycleQuery
    target: Relation
    columns: tuple[Column, ...]


def planned(execution: Execution, insert: Insert, sees: Mapping[str, tuple[str, ...]]) -> Planned:
    """An INSERT as a continuous query, or an error that says why it cannot be one."""
    target = insertable(execution, insert.target)
    if insert.returning:
        raise not_supported("RETURNING in a continuous query", position=insert.target.position)
    columns = target_columns(target, insert.columns, insert.column_positions)
    names = NamesAsCreated(execution, sees)
    bound = insert_source(insert.source, target, None if insert.columns is None else columns, names)
    return Planned(cycle_query(bound) or row_flow(bound), target, columns)


def plan_again(execution: Execution, query: Relation) -> Planned:
    """The INSERT of a query that was created before."""
    assert query.definition is not None
    return planned(execution, parse_insert(query.definition), query.sees)


def check_rights(state: CatalogState, owner: str, plan: Planned) -> None:
    """Raise unless the owner of a query may read what it reads and insert into its target."""
    authority = Authority.of(owner, state.roles)
    authority.require(USAGE, state.namespaces[PUBLIC_SCHEMA])
    authority.require(INSERT, plan.target, [column.name for column in plan.columns])
    check_reads(state, authority, plan.source.query.reads)


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
    def look_again_s(self) -> float | None:
        return None

    def _taken(self, record: QueryRecord, chunks: Mapping[int, Chunk]) -> QueryRecord:
        """Insert what the query makes of chunks of its streams, by oid; returns its record after that, committed."""
        transaction = self._services.begin()
        try:
            query = find_query(transaction, self._oid)
            execution = execution_of(self._services, transaction, query)
            plan = plan_again(execution, query)
            check_rights(transaction, query.owner, plan)
            rows = self._rows(execution, plan, chunks)
            done = record.advanced({stream: chunk.end for stream, chunk in chunks.items()}, rows.num_rows)
            if plan.target.kind == "table":
                store(execution, plan.target, rows)
                transaction.advance(query, done)
                transaction.commit()
            else:
                publish(self._services, plan.target, rows, Origin(self._oid, done.dumps()))
                self._services.catalog.commit_query(self._oid, done)
            return done
        finally:
            transaction.rollback()

    def _rows(self, execution: Execution, plan: Planned, chunks: Mapping[int, Chunk]) -> pa.Table:
        """What the chunks make, in one Spark job, in the order in which the tuples arrived."""
        schema = plan.target.arrow_schema
        rows = self._frame(execution, plan, chunks).collect()
        return rows.sort_by(ARRIVAL.name).select(schema.names).cast(schema)

    def _frame(self, execution: Execution, plan: Planned, chunks: Mapping[int, Chunk]) -> Frame:
        given: dict[str, Input] = {}
        for key, relation in base_relations(plan.source.query).items():
            given[key] = self._input(execution, relation, chunks.get(relation.oid))
        names = {key: f"query_{self._oid}_{place}" for place, key in enumerate(given)}
        outputs = [*plan.target.arrow_schema.names, ARRIVAL.name]
        text = renamed(plan.source.query.to_spark(names), outputs)
        inputs = {names[key]: one for key, one in given.items()}
        return self._repeated.frame(execution.services.runner, text, inputs, execution.tag)

    def _input(self, execution: Execution, relation: Relation, chunk: Chunk | None) -> FileInput:
        """A table as the transaction sees it, or the new tuples of a stream. Next time the name means other files."""
        if relation.kind == "table":
            return replace(execution.table_input(relation), stable=False)
        if chunk is None:
            return FileInput((), relation.columns, is_stream=True)
        new, single = self._repeated.new_tuples(str(relation.oid), chunk), chunk.rows <= SINGLE_ROWS_MAX
        return FileInput(new.paths, relation.columns, is_stream=True, tids=new.tids, single=single)


def publish(services: Services, target: Relation, rows: pa.Table, origin: Origin) -> None:
    """Publish rows in a stream together with where they come from."""
    check_not_null(rows, target)
    if rows.num_rows:
        with services.streams.get(target).stage() as staged:
            staged.write(rows)
            staged.wait_for_room()
            staged.publish(origin)


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

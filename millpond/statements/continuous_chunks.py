"""What a continuous query does with a chunk: an INSERT with its owner's rights, committed together with its offsets.

For a table: new files, new version and new offsets in one catalog transaction. For a stream: the rows are published
with their origin, so that they tell themselves how far the query is; the catalog learns of it afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from millpond.errors import MillpondError, SqlState, not_supported
from millpond.namespace import PUBLIC_SCHEMA
from millpond.plan.row_flow import ARRIVAL, RowFlow, row_flow
from millpond.privileges.acl import INSERT, USAGE
from millpond.privileges.authority import Authority, CatalogState
from millpond.privileges.identity import SESSION_AUTHORIZATION, Login
from millpond.privileges.reading import check_reads
from millpond.relation import Column, Relation
from millpond.run.continuous_queries import tag_of
from millpond.services import Services
from millpond.session_state import SessionState
from millpond.spark.runner import FileInput
from millpond.sql.dml import insert_source
from millpond.sql.parse import parse_insert
from millpond.sql.scope import NamesAsCreated
from millpond.sql.statements import Insert
from millpond.state.records import QueryRecord
from millpond.statements.execution import Execution, Request
from millpond.statements.insert import insertable, store, target_columns
from millpond.stream import Chunk, Origin
from millpond.transaction import Transaction
from millpond.values import check_not_null

SINGLE_ROWS_MAX = 50_000
"""Up to so many tuples one task takes: another would cost more than it saves."""


@dataclass(frozen=True)
class Planned:
    """A continuous query's INSERT: where its rows come from, and the columns of the target that they fill."""

    flow: RowFlow
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
    return Planned(row_flow(bound), target, columns)


def plan_again(execution: Execution, query: Relation) -> Planned:
    """The INSERT of a query that was created before."""
    assert query.definition is not None
    return planned(execution, parse_insert(query.definition), query.sees)


def check_rights(state: CatalogState, owner: str, plan: Planned) -> None:
    """Raise unless the owner of a query may read what it reads and insert into its target."""
    authority = Authority.of(owner, state.roles)
    authority.require(USAGE, state.namespaces[PUBLIC_SCHEMA])
    authority.require(INSERT, plan.target, [column.name for column in plan.columns])
    check_reads(state, authority, plan.flow.query.reads)


def take(services: Services, oid: int, record: QueryRecord, chunks: Mapping[int, Chunk]) -> QueryRecord:
    """Insert what a query makes of chunks of its streams, by oid; returns its record after that, which is committed."""
    transaction = services.begin()
    try:
        query = _find(transaction, oid)
        execution = _execution(services, transaction, query)
        plan = plan_again(execution, query)
        check_rights(transaction, query.owner, plan)
        rows = _rows(execution, query, plan, chunks)
        done = record.advanced({stream: chunk.end for stream, chunk in chunks.items()}, rows.num_rows)
        if plan.target.kind == "table":
            store(execution, plan.target, rows)
            transaction.advance(query, done)
            transaction.commit()
            return done
        _publish(services, plan.target, rows, Origin(oid, done.dumps()))
        services.catalog.commit_query(oid, done)
        return done
    finally:
        transaction.rollback()


def _find(transaction: Transaction, oid: int) -> Relation:
    found = next((one for one in transaction.relations.values() if one.oid == oid), None)
    if found is None:
        raise MillpondError(SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, "the continuous query was dropped")
    return found


def _execution(services: Services, transaction: Transaction, query: Relation) -> Execution:
    """A statement of the owner's."""
    state = SessionState.of_pond(services.settings)
    state.settings.start_with({SESSION_AUTHORIZATION: query.owner})
    return Execution(services, state, transaction, tag_of(query.oid), True, Request(), Login(query.owner))


def _rows(execution: Execution, query: Relation, plan: Planned, chunks: Mapping[int, Chunk]) -> pa.Table:
    """What the chunks make, in one Spark job, in the order in which the tuples arrived."""
    own = {stream.name: _input(stream, chunks.get(stream.oid)) for stream in plan.flow.streams}
    schema = plan.target.arrow_schema
    owner = Authority.of(query.owner, execution.transaction.roles)
    frame = execution.frame(plan.flow.query, own=own, names=[*schema.names, ARRIVAL.name], reader=owner)
    return frame.collect().sort_by(ARRIVAL.name).select(schema.names).cast(schema)


def _input(stream: Relation, chunk: Chunk | None) -> FileInput:
    if chunk is None:
        return FileInput((), stream.columns, is_stream=True)
    paths = tuple(str(file.path) for file in chunk.files)
    tids = (chunk.first, chunk.end) if chunk.is_cut else None
    return FileInput(paths, stream.columns, is_stream=True, tids=tids, single=chunk.rows <= SINGLE_ROWS_MAX)


def _publish(services: Services, target: Relation, rows: pa.Table, origin: Origin) -> None:
    check_not_null(rows, target)
    if rows.num_rows:
        with services.streams.get(target).stage() as staged:
            staged.write(rows)
            staged.wait_for_room()
            staged.publish(origin)

"""INSERT, and `Pond.insert`: rows from literals, queries and Python into tables and streams."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from itertools import zip_longest
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from millpond.errors import MillpondError, SqlState, closest, not_supported
from millpond.privileges.acl import INSERT
from millpond.privileges.needs import require
from millpond.relation import Column, Relation
from millpond.result import Result
from millpond.spark.runner import FileInput, Frame
from millpond.sql import values_parser
from millpond.sql.dml import constant_default, insert_source, returning_query
from millpond.sql.parse import parse_insert
from millpond.sql.statements import Insert, InsertLiterals, Name, QueryTree
from millpond.statements import constraints
from millpond.statements.execution import Execution
from millpond.statements.rewrite import merge_small_files
from millpond.tables import DataFile
from millpond.values import check_not_null, to_table
from millpond.values.arrays import Array

if TYPE_CHECKING:
    from millpond.session import Session

CONVERTED_IN_TURN_ROWS_MAX = 10_000
"""Python rows of an insert up to which threads take turns in converting them; more would hold the others up."""

READ_BACK_ROWS_MAX = 1_000_000
"""Rows of a query's result that are held in memory at a time on their way into a stream."""


def insert(execution: Execution, statement: Insert) -> Result:
    """INSERT ... SELECT, VALUES with expressions, DEFAULT VALUES."""
    relation = insertable(execution, statement.target)
    if statement.returning and relation.kind == "stream":
        raise not_supported("INSERT ... RETURNING on a stream", hint="The tid of a row is known when it is read.")
    targets = (
        None if statement.columns is None else target_columns(relation, statement.columns, statement.column_positions)
    )
    frame = _source(execution, relation, statement.source, targets)
    if relation.kind == "stream":
        return Result("INSERT", rows_changed=_into_stream(execution, relation, frame))
    staged = _into_table(execution, relation, frame)
    rows = sum(file.rows for file in staged)
    if not statement.returning:
        return Result("INSERT", rows_changed=rows)
    paths = tuple(execution.services.tables.paths(relation.oid, staged))
    query = returning_query(relation, statement.target_alias, statement.returning)
    return execution.returning("INSERT", relation, query, FileInput(paths, relation.columns), rows)


def insert_literals(execution: Execution, statement: InsertLiterals) -> Result:
    """INSERT of plain literals: they become Arrow columns without Spark."""
    relation = insertable(execution, statement.target)
    values = statement.values
    if values.columns is not None:
        positions = [values.column_position(place) for place in range(len(values.columns))]
        target_columns(relation, values.columns, positions)
    targets = values_parser.target_columns(values, relation.visible_columns)
    defaulted = [targets[place] for place in values.defaulted]
    if any(column.default is not None and constant_default(column) is None for column in defaulted):
        return insert(execution, parse_insert(values.sql))
    defaults = {column.name: execution.default_values(column, 1)[0] for column in defaulted}
    given = values_parser.insert_table(values, relation.visible_columns, defaults)
    store(execution, relation, complete(execution, relation, given))
    return Result("INSERT", rows_changed=given.num_rows)


def insert_rows(session: Session, name: str, rows: object) -> int:
    """`Pond.insert`: rows that Python has."""
    schema, _, table = name.rpartition(".")
    target = Name(table, schema or None)
    return session.run_directly(lambda execution: _insert_python(execution, target, rows), "INSERT")


def insert_query(execution: Execution, relation: Relation, query: QueryTree) -> int:
    """Fill a new table with a query's rows; returns how many."""
    staged = _into_table(execution, relation, _source(execution, relation, query, relation.columns))
    return sum(file.rows for file in staged)


def store(execution: Execution, relation: Relation, rows: pa.Table) -> None:
    """Add complete rows to a table or a stream, checking what is declared of them."""
    check_not_null(rows, relation)
    if relation.kind == "stream":
        if execution.autocommit:
            execution.services.streams.get(relation).append(rows)
        else:
            execution.transaction.append(relation, rows)
        return
    if rows.num_rows:
        execution.transaction.hold(relation)
        _add_files(execution, relation, (execution.services.tables.stage(relation.oid, rows),), not_null=False)
        if execution.autocommit:
            merge_small_files(execution, relation)


def complete(execution: Execution, relation: Relation, given: pa.Table) -> pa.Table:
    """The rows with all columns of the relation, in its order; missing ones have their default."""
    columns = relation.visible_columns
    if given.column_names == [column.name for column in columns]:
        return given
    arrays: list[Array] = []
    for column in columns:
        if column.name in given.column_names:
            arrays.append(given.column(column.name))
        else:
            arrays.append(execution.default_values(column, given.num_rows))
    return pa.table(arrays, schema=relation.arrow_schema)


# -- the parts ----------------------------------------------------------------------------------------------------


def _insert_python(execution: Execution, name: Name, rows: object) -> int:
    require(execution, INSERT, name, None)
    relation = insertable(execution, name)
    few = isinstance(rows, list) and len(rows) <= CONVERTED_IN_TURN_ROWS_MAX
    with execution.services.conversion_turn if few else nullcontext():
        given = to_table(rows, relation.visible_columns)
    store(execution, relation, complete(execution, relation, given))
    return given.num_rows


def insertable(execution: Execution, name: Name) -> Relation:
    relation = execution.find(name)
    if relation.kind not in ("table", "stream"):
        kind = "system relation" if relation.kind == "system" else "view"
        message = f'cannot insert into {kind} "{relation.name}"'
        raise MillpondError(SqlState.WRONG_OBJECT_TYPE, message, position=name.position)
    return relation


def target_columns(
    relation: Relation, names: Sequence[str] | None, positions: Sequence[int | None] = ()
) -> tuple[Column, ...]:
    """The columns that a statement names; `positions` are their places in it, if they are known."""
    if names is None:
        return relation.visible_columns
    columns = {column.name: column for column in relation.visible_columns}
    for index, (name, position) in enumerate(zip_longest(names, positions)):
        if name not in columns:
            hidden = relation.column(name)
            message = (
                f'cannot insert into column "{name}" of stream "{relation.name}": it is set on arrival'
                if hidden
                else f'column "{name}" of relation "{relation.name}" does not exist'
            )
            hint = closest(name, columns)
            raise MillpondError(SqlState.UNDEFINED_COLUMN, message, hint=hint, position=position)
        if name in names[:index]:
            message = f'column "{name}" specified more than once'
            raise MillpondError(SqlState.DUPLICATE_COLUMN, message, position=position)
    return tuple(columns[name] for name in names)


def _source(
    execution: Execution, relation: Relation, source: QueryTree | None, targets: Sequence[Column] | None
) -> Frame:
    """The query's rows with all columns of the relation, as it stores them."""
    bound = insert_source(source, relation, targets, execution)
    return execution.frame(bound, names=[column.name for column in relation.visible_columns])


def _into_table(execution: Execution, relation: Relation, frame: Frame) -> tuple[DataFile, ...]:
    tables = execution.services.tables
    execution.transaction.hold(relation)
    directory = tables.staging_directory(relation.oid)
    frame.write(directory)
    staged = tables.staged_in(relation.oid, directory)
    _add_files(execution, relation, staged, not_null=True)
    return staged


def _into_stream(execution: Execution, relation: Relation, frame: Frame) -> int:
    """By way of files, so that a large result is never in memory as a whole."""
    rows = 0
    with execution.services.temporary_directory() as directory:
        frame.write(directory)
        for path in sorted(directory.glob("*.parquet")):
            for batch in pq.ParquetFile(path).iter_batches(READ_BACK_ROWS_MAX):
                table = pa.Table.from_batches([batch]).cast(relation.arrow_schema)
                check_not_null(table, relation)
                execution.transaction.append(relation, table)
                rows += table.num_rows
    return rows


def _add_files(execution: Execution, relation: Relation, staged: tuple[DataFile, ...], *, not_null: bool) -> None:
    tables = execution.services.tables
    try:
        if relation.keys or relation.checks or not_null:
            rows = FileInput(tuple(tables.paths(relation.oid, staged)), relation.columns)
            stored = execution.transaction.files(relation)
            constraints.verify(execution, relation, rows, stored, not_null=not_null)
        execution.transaction.write(relation, added=staged)
    except BaseException:
        tables.discard(relation.oid, staged)
        raise

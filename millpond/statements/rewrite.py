"""Rewriting a table's files as a whole: a new column's default, and many small files into few."""

from __future__ import annotations

from collections.abc import Sequence

from pyarrow.dataset import dataset

from millpond.errors import Concerns, MillpondError, SqlState
from millpond.relation import Check, Column, Relation
from millpond.spark.runner import FileInput, Frame
from millpond.sql.dml import column_fill
from millpond.statements import constraints
from millpond.statements.execution import Execution
from millpond.tables import DataFile


def fill_new_column(execution: Execution, relation: Relation, column: Column, checks: Sequence[Check]) -> None:
    """Give the stored rows of a table the default of a column that it just got."""
    files = execution.transaction.files(relation)
    if not files:
        return
    if column.default is None and column.not_null:
        message = f'column "{column.name}" of relation "{relation.name}" contains null values'
        concerns = Concerns(relation.schema, relation.name, column.name)
        raise MillpondError(SqlState.NOT_NULL_VIOLATION, message, concerns=concerns)
    if column.default is not None:
        names = [known.name for known in relation.columns]
        stored = {relation.name: execution.table_input(relation)}
        frame = execution.frame(column_fill(relation, column, execution), own=stored, names=names)
        files = replace_files(execution, relation, frame, files)
    rows = FileInput(tuple(execution.services.tables.paths(relation.oid, files)), relation.columns)
    for check in checks:
        constraints.verify_check(execution, relation, rows, check)


def compact(execution: Execution, relation: Relation) -> None:
    """Write a table's rows into as few files as there are partitions."""
    files = execution.transaction.files(relation)
    if len(files) > 1:
        frame = execution.spark("SELECT /*+ COALESCE(1) */ * FROM {table}", {"table": execution.table_input(relation)})
        replace_files(execution, relation, frame, files)


def merge_small_files(execution: Execution, relation: Relation) -> None:
    """Many small INSERTs must not leave many small files: a scan pays for each."""
    settings, tables = execution.services.settings, execution.services.tables
    size_max = settings.integer("table_file_small_bytes")
    small = [file for file in execution.transaction.files(relation) if file.bytes < size_max]
    if len(small) < settings.integer("table_files_max"):
        return
    # A file may be older than a column; it is read under the table's schema, which fills in NULLs.
    rows = dataset(tables.paths(relation.oid, small), schema=relation.arrow_schema).to_table()
    execution.transaction.write(relation, added=[tables.stage(relation.oid, rows)], removed=small)


def replace_files(
    execution: Execution, relation: Relation, frame: Frame, files: Sequence[DataFile]
) -> tuple[DataFile, ...]:
    """Put a frame's rows in the place of all files of a table."""
    tables = execution.services.tables
    directory = tables.staging_directory(relation.oid)
    frame.write(directory)
    staged = tables.staged_in(relation.oid, directory)
    execution.transaction.write(relation, added=staged, removed=files)
    return staged

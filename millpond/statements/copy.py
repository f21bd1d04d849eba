"""COPY: files and the client's input into tables and streams, relations and queries out to files.

All or nothing: rows are staged while they are read and become visible together; a file appears when it is whole. Rows
for a stream that queries wait for can be shown in pieces instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from millpond.copy import OutputColumn, read, write
from millpond.copy.write import RowWriter
from millpond.errors import MillpondError, SqlState, not_supported
from millpond.privileges import needs
from millpond.relation import Column, Relation
from millpond.result import Result
from millpond.sql.dml import columns_query
from millpond.sql.statements import Copy, Name, QueryTree
from millpond.sql.subscribe import Subscribe
from millpond.statements.execution import Execution
from millpond.statements.insert import complete, insertable, store, target_columns
from millpond.statements.subscribe import bind_followed, columns_of, open_subscription
from millpond.values import check_not_null

TABLE_FILE_ROWS = 1_000_000
"""Rows that are gathered into one file of a table."""


def copy(execution: Execution, statement: Copy) -> Result:
    if statement.copy.direction == "from":
        return _copy_from(execution, statement)
    return _copy_to(execution, statement)


def _copy_from(execution: Execution, statement: Copy) -> Result:
    said = statement.copy
    relation = insertable(execution, _name(statement))
    columns = target_columns(relation, said.columns)
    source = _source(execution, said.file, said.file_position)
    rows = 0
    marked = columns if said.options.default is not None else ()
    defaults = {column.name: execution.default_values(column, 1)[0] for column in marked}
    limit = execution.settings.integer("copy_record_bytes_max")
    given = (source, columns, said.options, relation.name, execution.request.progress)
    blocks = read(*given, defaults=defaults, record_bytes_max=limit)
    complete_blocks = _gathered(execution, relation, blocks)
    if said.options.commit_rows is not None:
        return Result("COPY", rows_changed=_in_pieces(execution, relation, complete_blocks, said.options.commit_rows))
    for block in complete_blocks:
        rows += block.num_rows
        if relation.kind == "stream":
            check_not_null(block, relation)
            execution.transaction.append(relation, block)
        else:
            store(execution, relation, block)
    return Result("COPY", rows_changed=rows)


def _in_pieces(execution: Execution, relation: Relation, blocks: Iterator[pa.Table], piece_rows: int) -> int:
    """Append to a stream, outside of any transaction, a piece at a time."""
    if relation.kind != "stream":
        message = f'COPY COMMIT_ROWS needs a stream, and "{relation.name}" is a {relation.kind}'
        raise MillpondError(SqlState.WRONG_OBJECT_TYPE, message)
    if not execution.autocommit:
        message = "COPY COMMIT_ROWS cannot run inside a transaction block"
        raise MillpondError(SqlState.ACTIVE_SQL_TRANSACTION, message)
    stream = execution.services.streams.get(relation)
    rows, more = 0, True
    while more:
        more, shown = False, rows
        with stream.stage() as staged:
            for block in blocks:
                check_not_null(block, relation)
                staged.write(block)
                rows += block.num_rows
                more = rows - shown >= piece_rows
                if more:
                    break
            staged.publish()
    return rows


def _gathered(execution: Execution, relation: Relation, blocks: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Complete rows: for a table in blocks worth a file, for a stream as they come, since it gathers by itself."""
    waiting: list[pa.Table] = []
    for block in blocks:
        whole = complete(execution, relation, block)
        if relation.kind == "stream":
            yield whole
            continue
        waiting.append(whole)
        if sum(part.num_rows for part in waiting) >= TABLE_FILE_ROWS:
            yield pa.concat_tables(waiting)
            waiting = []
    if waiting:
        yield pa.concat_tables(waiting)


def _copy_to(execution: Execution, statement: Copy) -> Result:
    said = statement.copy
    if statement.subscription is not None:
        return _copy_changes(execution, statement, statement.subscription)
    query = statement.query or _table_query(execution, statement)
    bound = execution.bind(query)
    execution.check_reads(bound)
    columns = [OutputColumn(column.name, column.type) for column in bound.columns]
    target = _output(execution) if said.file is None else _server_file(execution, said.file)
    with execution.services.temporary_directory() as scratch:
        pieces = execution.select(bound).pieces(scratch, memory_bytes_max=0)
        rows = write(pieces, columns, target, said.options, execution.request.progress)
    return Result("COPY", rows_changed=rows)


def _copy_changes(execution: Execution, statement: Copy, subscription: Subscribe) -> Result:
    """COPY (SUBSCRIBE ...) TO STDOUT: changes as they come, until somebody ends it."""
    said = statement.copy
    if said.file is not None or said.options.format == "parquet":
        hint = "COPY it TO STDOUT, as csv, text, binary or ndjson."
        raise not_supported("COPY of a subscription, which has no end, to a file", hint=hint)
    target = _output(execution)
    subscriber, described = open_subscription(execution, subscription)
    columns = [OutputColumn(column.name, column.type) for column in described]
    with closing(subscriber):
        rows = write(_flushed(subscriber.pieces(), target), columns, target, said.options, execution.request.progress)
    return Result("COPY", rows_changed=rows)


def _flushed(pieces: Iterable[pa.Table], target: BinaryIO) -> Iterator[pa.Table]:
    """Pieces each of which is on its way before the next is waited for."""
    deliver = target.deliver if isinstance(target, RowWriter) else target.flush
    deliver()
    for piece in pieces:
        yield piece
        deliver()


def _output(execution: Execution) -> BinaryIO:
    if execution.request.stdout is None:
        raise MillpondError(SqlState.FEATURE_NOT_SUPPORTED, "COPY TO STDOUT needs an output to write to")
    return execution.request.stdout


def _table_query(execution: Execution, statement: Copy) -> QueryTree:
    relation = execution.find(_name(statement))
    named = _chosen(relation, statement.copy.columns)
    return columns_query(relation, named)


def _chosen(relation: Relation, names: Sequence[str] | None) -> Sequence[Column]:
    return relation.visible_columns if names is None else target_columns(relation, names)


def _name(statement: Copy) -> Name:
    said = statement.copy
    assert said.table is not None
    return Name(said.table, said.schema, said.table_position)


def copied_columns(execution: Execution, statement: Copy) -> int:
    """How many columns are copied; raises what is wrong with the names, and before any data flows, with the rights."""
    needs.check(execution, statement)
    said = statement.copy
    if said.direction == "from":
        return len(target_columns(insertable(execution, _name(statement)), said.columns))
    if statement.subscription is not None:
        bound = bind_followed(execution, statement.subscription)
        execution.check_reads(bound)
        return len(columns_of(bound))
    bound = execution.bind(statement.query or _table_query(execution, statement))
    execution.check_reads(bound)
    return len(bound.columns)


def _server_file(execution: Execution, file: str) -> Path:
    """A file of the machine that the pond is on. A remote client reaches only those meant for it."""
    path = Path(file)
    if not execution.request.remote:
        return path
    allowed = execution.settings.text("copy_directory")
    if not execution.superuser or not allowed:
        raise MillpondError(
            SqlState.INSUFFICIENT_PRIVILEGE,
            "permission denied to COPY from or to a file of the server",
            detail="Only superusers may, within the directory that the setting copy_directory names.",
            hint="COPY to STDOUT or from STDIN works for anyone; psql's \\copy command does so too.",
        )
    within, found = Path(allowed).resolve(), Path(allowed, file).resolve()
    if not found.is_relative_to(within):
        message = f'file "{file}" is outside of the directory for COPY'
        raise MillpondError(SqlState.INSUFFICIENT_PRIVILEGE, message)
    return found


def _source(execution: Execution, file: str | None, position: int | None) -> Path | BinaryIO:
    if file is None:
        if execution.request.stdin is None:
            raise MillpondError(SqlState.FEATURE_NOT_SUPPORTED, "COPY FROM STDIN needs an input to read from")
        return execution.request.stdin
    path = _server_file(execution, file)
    if not path.is_file():
        reason = "Is a directory" if path.is_dir() else "No such file or directory"
        message = f'could not open file "{file}" for reading: {reason}'
        raise MillpondError(SqlState.UNDEFINED_FILE, message, position=position)
    return path

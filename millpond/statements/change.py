"""UPDATE, DELETE and TRUNCATE: rows of a table change by copy on write, one file at a time.

1. hits: the rows that the statement hits, with their place and their new values, go to scratch files
2. only the files that hold a hit are rewritten: what was not hit survives, for UPDATE the new values join it
3. the transaction takes the old files away and adds the new ones
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pyarrow.parquet as pq

from millpond.errors import MillpondError, SqlState
from millpond.relation import Relation
from millpond.result import Result
from millpond.spark.runner import FileInput, quote
from millpond.sql.bind import BoundQuery
from millpond.sql.dml import FILE, ROW, alias_of, delete_hits, joins_others, returning_query, update_hits
from millpond.sql.statements import Delete, Name, Truncate, Update
from millpond.statements import constraints
from millpond.statements.execution import Execution
from millpond.tables import DataFile


def update(execution: Execution, statement: Update) -> Result:
    relation = change_target(execution, statement)
    return _change(execution, relation, statement, update_hits(statement.tree, relation, execution), "UPDATE")


def delete(execution: Execution, statement: Delete) -> Result:
    relation = change_target(execution, statement)
    return _change(execution, relation, statement, delete_hits(statement.tree, relation, execution), "DELETE")


def truncate(execution: Execution, statement: Truncate) -> Result:
    for relation in [_target(execution, name, "truncate") for name in statement.names]:
        execution.transaction.write(relation, removed=execution.transaction.files(relation))
    return Result("TRUNCATE TABLE")


def change_target(execution: Execution, statement: Update | Delete) -> Relation:
    """The table whose rows a statement changes."""
    return _target(execution, statement.target, "update" if isinstance(statement, Update) else "delete from")


def _target(execution: Execution, name: Name, verb: str) -> Relation:
    relation = execution.find(name)
    if relation.kind == "stream":
        raise MillpondError(
            SqlState.FEATURE_NOT_SUPPORTED,
            f'cannot {verb} stream "{relation.name}"',
            detail="A stream is append-only: readers and views may have seen its rows already.",
            hint="Insert a correcting row, or keep rows that change in a table.",
            position=name.position,
        )
    if relation.kind != "table":
        message = f'cannot {verb} {relation.kind} "{relation.name}"'
        raise MillpondError(SqlState.WRONG_OBJECT_TYPE, message, position=name.position)
    return relation


def _change(
    execution: Execution, relation: Relation, statement: Update | Delete, bound: BoundQuery, verb: str
) -> Result:
    with execution.services.temporary_directory() as scratch:
        hits = _write_hits(execution, relation, bound, scratch, once=joins_others(statement.tree))
        count = sum(pq.read_metadata(path).num_rows for path in hits.paths)
        if count:
            _rewrite(execution, relation, hits, keep_hits=verb == "UPDATE")
        outputs = statement.tree.args.get("returning")
        if not outputs:
            return Result(verb, rows_changed=count)
        query = returning_query(relation, alias_of(statement.tree), outputs.expressions)
        return execution.returning(verb, relation, query, hits, count)


def _write_hits(execution: Execution, relation: Relation, bound: BoundQuery, scratch: Path, *, once: bool) -> FileInput:
    """Step 1. A row that a join hits several times is changed once, by any of them, as in PostgreSQL."""
    names = [FILE.name, ROW.name, *(column.name for column in relation.visible_columns)]
    frame = execution.frame(bound, own={relation.name: execution.table_input(relation, row_ids=True)}, names=names)
    frame.write(scratch, once_per=(FILE.name, ROW.name) if once else ())
    paths = tuple(str(path) for path in sorted(scratch.glob("*.parquet")))
    place = (replace(FILE, hidden=False), replace(ROW, hidden=False))  # in scratch files it is data
    return FileInput(paths, (*relation.columns, *place))


def _rewrite(execution: Execution, relation: Relation, hits: FileInput, *, keep_hits: bool) -> None:
    """Steps 2 and 3."""
    tables = execution.services.tables
    before = execution.transaction.files(relation)
    touched = _touched(execution, hits, before)
    old = FileInput(tuple(tables.paths(relation.oid, touched)), relation.columns, row_ids=True)
    directory = tables.staging_directory(relation.oid)
    execution.spark(_survivors(relation, keep_hits=keep_hits), {"old": old, "hits": hits}).write(directory)
    staged = tables.staged_in(relation.oid, directory)
    try:
        if keep_hits:
            rows = FileInput(tuple(tables.paths(relation.oid, staged)), relation.columns)
            constraints.verify(execution, relation, rows, [file for file in before if file not in touched])
        execution.transaction.write(relation, added=staged, removed=touched)
    except BaseException:
        tables.discard(relation.oid, staged)
        raise


def _survivors(relation: Relation, *, keep_hits: bool) -> str:
    """What the touched files hold afterwards."""
    columns = ", ".join(quote(column.name) for column in relation.visible_columns)
    same = " AND ".join(f"old.{place.name} = hits.{place.name}" for place in (FILE, ROW))
    text = f"SELECT {columns} FROM {{old}} AS old LEFT ANTI JOIN {{hits}} AS hits ON {same}"
    return f"{text} UNION ALL SELECT {columns} FROM {{hits}}" if keep_hits else text


def _touched(execution: Execution, hits: FileInput, files: Sequence[DataFile]) -> list[DataFile]:
    """The files that hold a hit. Spark names them by URI; the last part is unique."""
    found = execution.spark(f"SELECT DISTINCT {FILE.name} FROM {{hits}}", {"hits": hits}).collect()
    names = {PurePosixPath(str(path)).name for path in found.column(0).to_pylist()}
    return [file for file in files if PurePosixPath(file.path).name in names]

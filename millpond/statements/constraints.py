"""Constraints of tables: NOT NULL, CHECK, PRIMARY KEY and UNIQUE, verified on staged rows before they are written.

Only the staged rows are checked, and for keys the stored rows that share a key with them: one Spark job each.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from millpond.errors import Concerns, MillpondError, SqlState, not_supported
from millpond.relation import Check, Column, Key, Relation
from millpond.spark.runner import FileInput, quote
from millpond.sql.bind import bind_expression
from millpond.sql.dml import default_query, functions_called
from millpond.sql.parse import parse_expression
from millpond.statements.execution import Execution
from millpond.tables import DataFile
from millpond.types import BOOLEAN
from millpond.values import failing_row, to_text


def verify(
    execution: Execution, relation: Relation, rows: FileInput, stored: Sequence[DataFile], *, not_null: bool = True
) -> None:
    """Raise the error of the first constraint that `rows` violate; `stored` are the files they will stand beside."""
    if not_null:
        _verify_not_null(execution, relation, rows)
    for check in relation.checks:
        verify_check(execution, relation, rows, check)
    for key in relation.keys:
        _verify_key(execution, relation, rows, stored, key)


def verify_check(execution: Execution, relation: Relation, rows: FileInput, check: Check) -> None:
    """A CHECK holds unless it is false; NULL passes."""
    condition = bound_check(relation.name, relation.columns, check)
    named = f"{{rows}} AS {quote(relation.name)}"
    failing = _first(execution, f"SELECT {_columns(relation)} FROM {named} WHERE NOT ({condition}) LIMIT 1", rows)
    if failing is not None:
        raise MillpondError(
            SqlState.CHECK_VIOLATION,
            f'new row for relation "{relation.name}" violates check constraint "{check.name}"',
            detail=failing_row(failing, relation, 0),
            concerns=Concerns(relation.schema, relation.name, constraint=check.name),
        )


def bound_check(name: str, columns: Sequence[Column], check: Check) -> str:
    """A CHECK's condition as Spark SQL over the columns of a relation of that name."""
    tree = parse_expression(check.expression)
    bound = bind_expression(tree, columns, relation_name=name, clause="check constraints")
    if bound.type != BOOLEAN:
        message = f"argument of CHECK must be type boolean, not type {bound.type}"
        raise MillpondError(SqlState.DATATYPE_MISMATCH, message)
    return bound.to_spark()


def check_default(execution: Execution, column: Column) -> None:
    """Raise what is wrong with a column's default. What calls a function of a user's would depend on that."""
    assert column.default is not None
    defined = functions_called(parse_expression(column.default)) & execution.transaction.functions.keys()
    if defined:
        raise not_supported(f"the function {min(defined)} in the default of a column")
    default_query(column, 1, execution)


def _verify_not_null(execution: Execution, relation: Relation, rows: FileInput) -> None:
    names = [column.name for column in relation.visible_columns if column.not_null]
    if not names:
        return
    condition = " OR ".join(f"{quote(name)} IS NULL" for name in names)
    failing = _first(execution, f"SELECT {_columns(relation)} FROM {{rows}} WHERE {condition} LIMIT 1", rows)
    if failing is not None:
        name = next(name for name in names if failing[name].null_count)
        raise MillpondError(
            SqlState.NOT_NULL_VIOLATION,
            f'null value in column "{name}" of relation "{relation.name}" violates not-null constraint',
            detail=failing_row(failing, relation, 0),
            concerns=Concerns(relation.schema, relation.name, name),
        )


def _verify_key(
    execution: Execution, relation: Relation, rows: FileInput, stored: Sequence[DataFile], key: Key
) -> None:
    """No key of the new rows may occur twice among them and the stored rows. NULLs are never equal."""
    keys = ", ".join(quote(name) for name in key.columns)
    present = " AND ".join(f"{quote(name)} IS NOT NULL" for name in key.columns)
    same = " AND ".join(f"old.{quote(name)} = new.{quote(name)}" for name in key.columns)
    inputs = {"rows": rows}
    both = f"SELECT {keys} FROM {{rows}}"
    if stored:
        paths = tuple(execution.services.tables.paths(relation.oid, stored))
        inputs["stored"] = FileInput(paths, relation.columns)
        both += f" UNION ALL SELECT {keys} FROM {{stored}} AS old LEFT SEMI JOIN {{rows}} AS new ON {same}"
    text = f"SELECT {keys} FROM ({both}) WHERE {present} GROUP BY {keys} HAVING count(*) > 1 LIMIT 1"
    found = execution.spark(text, inputs).collect()
    if found.num_rows:
        types = {column.name: column.type for column in relation.columns}
        values = [to_text(found.column(index), types[name])[0].as_py() for index, name in enumerate(key.columns)]
        raise MillpondError(
            SqlState.UNIQUE_VIOLATION,
            f'duplicate key value violates unique constraint "{key.name}"',
            detail=f"Key ({', '.join(key.columns)})=({', '.join(values)}) already exists.",
            concerns=Concerns(relation.schema, relation.name, constraint=key.name),
        )


def _first(execution: Execution, text: str, rows: FileInput) -> pa.Table | None:
    found = execution.spark(text, {"rows": rows}).collect()
    return found if found.num_rows else None


def _columns(relation: Relation) -> str:
    return ", ".join(quote(column.name) for column in relation.visible_columns)

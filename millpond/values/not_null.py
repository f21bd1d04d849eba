"""The NOT NULL check of rows about to be stored, and how a failing row is shown."""

from __future__ import annotations

import pyarrow as pa

from millpond.errors import Concerns, MillpondError, SqlState
from millpond.relation import Relation
from millpond.values.text_output import to_text

_SHOWN_CHARACTERS_MAX = 64
"""PostgreSQL cuts longer values of a failing row."""


def check_not_null(table: pa.Table, relation: Relation) -> None:
    """Raises for the first NULL in a NOT NULL column; a column that the table lacks is NULL throughout."""
    for column in relation.visible_columns:
        if not column.not_null or not table.num_rows:
            continue
        row = _first_null(table, column.name)
        if row is not None:
            raise MillpondError(
                SqlState.NOT_NULL_VIOLATION,
                f'null value in column "{column.name}" of relation "{relation.name}" violates not-null constraint',
                detail=failing_row(table, relation, row),
                concerns=Concerns(relation.schema, relation.name, column.name),
            )


def _first_null(table: pa.Table, name: str) -> int | None:
    if name not in table.column_names:
        return 0
    values = table.column(name)
    if not values.null_count:
        return None
    start = 0
    for chunk in values.chunks:
        if chunk.null_count:
            return start + int(chunk.is_null().index(True).as_py())
        start += len(chunk)
    return None


def failing_row(table: pa.Table, relation: Relation, row: int) -> str:
    """The detail of a constraint's error: the row's values as PostgreSQL lists them."""
    shown = []
    for column in relation.visible_columns:
        text = None
        if column.name in table.column_names:
            text = to_text(table.column(column.name).slice(row, 1), column.type)[0].as_py()
        shown.append("null" if text is None else _cut(text))
    return f"Failing row contains ({', '.join(shown)})."


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS_MAX else text[:_SHOWN_CHARACTERS_MAX] + "..."

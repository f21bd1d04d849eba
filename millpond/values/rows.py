"""Data handed over from Python into Arrow tables with the declared columns: tuples, dicts, pandas and Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

from millpond.errors import MillpondError, SqlState, closest
from millpond.relation import Column
from millpond.types import NUMERIC_PRECISION_MAX, SqlType, numeric
from millpond.values import arrays
from millpond.values.arrays import Array, arrow_array, nulls
from millpond.values.assignment import assign
from millpond.values.failure import ConversionError, at_row, mismatch
from millpond.values.text_input import from_text

_NONE = type(None)
_DIRECT: dict[str, frozenset[type]] = {
    "smallint": frozenset((int, _NONE)),
    "integer": frozenset((int, _NONE)),
    "bigint": frozenset((int, _NONE)),
    "double precision": frozenset((float, _NONE)),
    "numeric": frozenset((Decimal, int, _NONE)),
    "boolean": frozenset((bool, _NONE)),
    "text": frozenset((str, _NONE)),
    "bytea": frozenset((bytes, _NONE)),
    "date": frozenset((date, _NONE)),
    "timestamp": frozenset((datetime, _NONE)),
    "timestamptz": frozenset((datetime, _NONE)),
}
"""The Python types that Arrow turns into a type's values exactly as PostgreSQL would, or refuses."""


def to_table(data: object, columns: Sequence[Column], names: Sequence[str] | None = None) -> pa.Table:
    """The data as an Arrow table of the declared types, holding those columns that the data has.

    `names` says which columns tuples are for; without it they are for the first ones. Arrow tables, pandas frames
    and dicts are matched by name. `missing_columns` tells which ones the caller has to fill with their defaults.
    """
    if isinstance(data, pa.Table):
        return _from_arrow(data, columns)
    if isinstance(data, pa.RecordBatch):
        return _from_arrow(pa.Table.from_batches([data]), columns)
    if isinstance(data, pa.RecordBatchReader):
        return _from_arrow(data.read_all(), columns)
    if _is_pandas(data):
        return _from_arrow(_pandas_table(data), columns)
    if isinstance(data, Iterable) and not isinstance(data, (str, bytes, Mapping)):
        return _from_items(data if isinstance(data, list) else list(data), columns, names)
    raise MillpondError(
        SqlState.DATATYPE_MISMATCH,
        f"cannot insert data of Python type {type(data).__name__}",
        hint="Pass a list of tuples or dicts, a pandas DataFrame, or an Arrow table, batch or reader.",
    )


def missing_columns(table: pa.Table, columns: Sequence[Column]) -> tuple[Column, ...]:
    """The declared columns that the table lacks."""
    present = set(table.column_names)
    return tuple(column for column in columns if column.name not in present)


def _is_pandas(data: object) -> bool:
    """Asked by name, so that pandas is imported only by those who use it."""
    return type(data).__module__.partition(".")[0] == "pandas" and hasattr(data, "columns")


def _pandas_table(data: Any) -> pa.Table:
    return pa.Table.from_pandas(data, preserve_index=False)


def _from_items(items: list[Any], columns: Sequence[Column], names: Sequence[str] | None) -> pa.Table:
    if not items:
        chosen = _chosen(columns, names)
        return pa.Table.from_arrays([nulls(0, c.type.arrow) for c in chosen], [c.name for c in chosen])
    first = items[0]
    if isinstance(first, pa.RecordBatch):
        return _from_arrow(pa.Table.from_batches(items), columns)
    if isinstance(first, pa.Table):
        return _from_arrow(pa.concat_tables(items), columns)
    if isinstance(first, Mapping):
        return _from_dicts(items, columns)
    return _from_tuples(items, columns, names)


def _from_arrow(table: pa.Table, columns: Sequence[Column]) -> pa.Table:
    """Columns that fit already are passed on as they are."""
    if _fits(table, columns):
        return table
    by_name = {column.name: column for column in columns}
    _check_names(table.column_names, by_name)
    converted = [_fitted(table.column(i), by_name[name]) for i, name in enumerate(table.column_names)]
    return pa.Table.from_arrays(converted, table.column_names)


_FITS_UNCHECKED = frozenset(
    ("smallint", "integer", "bigint", "real", "double precision", "numeric", "boolean", "text", "bytea", "interval")
)
"""Types of which every Arrow value is a value; strings with a length and dates have limits of their own."""


def _fits(table: pa.Table, columns: Sequence[Column]) -> bool:
    """Whether the table is what is wanted, column by column."""
    schema = table.schema
    return schema.names == [column.name for column in columns] and all(
        column.type.name in _FITS_UNCHECKED and arrow.equals(column.type.arrow)
        for column, arrow in zip(columns, schema.types, strict=True)
    )


def _fitted(values: arrays.Column, column: Column) -> arrays.Column:
    if values.type.equals(column.type.arrow) and column.type.name in _FITS_UNCHECKED:
        return values
    converted: list[Array] = []
    row = 0
    for chunk in values.chunks:
        try:
            converted.append(assign(chunk, column.type, column=column.name))
        except ConversionError as error:
            raise _at(error, row + error.row, column) from None
        row += len(chunk)
    return pa.chunked_array(converted) if converted else nulls(0, column.type.arrow)


def _from_dicts(items: list[Any], columns: Sequence[Column]) -> pa.Table:
    """A key that only some rows have is NULL in the others."""
    names = list(dict.fromkeys(name for item in items for name in item))
    by_name = {column.name: column for column in columns}
    _check_names(names, by_name)
    arrays = [array_of([item.get(name) for item in items], by_name[name]) for name in names]
    return pa.Table.from_arrays(arrays, names)


def _from_tuples(items: list[Any], columns: Sequence[Column], names: Sequence[str] | None) -> pa.Table:
    chosen = _chosen(columns, names)
    try:
        values = list(zip(*items, strict=True))
    except ValueError:
        raise MillpondError(SqlState.SYNTAX_ERROR, "VALUES lists must all be the same length") from None
    if len(values) > len(chosen):
        raise MillpondError(SqlState.SYNTAX_ERROR, "INSERT has more expressions than target columns")
    if names is not None and len(values) < len(chosen):
        raise MillpondError(SqlState.SYNTAX_ERROR, "INSERT has more target columns than expressions")
    arrays = [array_of(column_values, column) for column_values, column in zip(values, chosen, strict=False)]
    return pa.Table.from_arrays(arrays, [column.name for column in chosen[: len(arrays)]])


def _chosen(columns: Sequence[Column], names: Sequence[str] | None) -> Sequence[Column]:
    if names is None:
        return columns
    by_name = {column.name: column for column in columns}
    _check_names(names, by_name)
    return [by_name[name] for name in names]


def _check_names(names: Sequence[str], by_name: Mapping[str, Column]) -> None:
    seen: set[str] = set()
    for name in names:
        if name not in by_name:
            raise MillpondError(
                SqlState.UNDEFINED_COLUMN, f'column "{name}" does not exist', hint=closest(name, by_name)
            )
        if name in seen:
            raise MillpondError(SqlState.DUPLICATE_COLUMN, f'column "{name}" specified more than once')
        seen.add(name)


def array_of(values: Sequence[object], column: Column) -> Array:
    """Python values as the column's type holds them."""
    direct = _DIRECT.get(column.type.name)
    if direct is not None and direct.issuperset(map(type, values)):
        try:
            return arrow_array(values, column.type.arrow)
        except (pa.ArrowInvalid, OverflowError):
            pass  # Out of range or to be rounded: the assignment rules decide.
    try:
        return assign(_inferred(values), column.type, column=column.name)
    except ConversionError as error:
        raise _at(error, error.row, column) from None
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return _one_by_one(values, column)


def _inferred(values: Sequence[object]) -> Array:
    """Arrow takes booleans among numbers for numbers; PostgreSQL never does."""
    types = set(map(type, values)) - {_NONE}
    if bool in types and len(types) > 1:
        raise pa.ArrowInvalid("booleans among others")
    return pa.array(values)


def _one_by_one(values: Sequence[object], column: Column) -> Array:
    converted = []
    for row, value in enumerate(values):
        try:
            with at_row(row, column.name):
                converted.append(_single(value, column))
        except ConversionError as error:
            raise _at(error, row, column) from None
    return pa.concat_arrays(converted)


def _single(value: object, column: Column) -> Array:
    if isinstance(value, int) and not isinstance(value, bool):
        wide = column.type if column.type.name == "numeric" else _WIDE_INTEGER
        return assign(from_text(pa.array([str(value)]), wide), column.type, column=column.name)
    if isinstance(value, Decimal):
        return from_text(pa.array([str(value)]), column.type, column=column.name)
    try:
        return assign(pa.array([value]), column.type, column=column.name)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise mismatch(column.name, column.type, f"Python's {type(value).__name__}") from None


_WIDE_INTEGER: SqlType = numeric(NUMERIC_PRECISION_MAX)


def _at(error: ConversionError, row: int, column: Column) -> ConversionError:
    """The error with the place of the value, which here is all that tells the user where to look."""
    place = f'Column "{column.name}", row {row + 1}.'
    located = ConversionError(error, row, column.name)
    located.detail = f"{error.detail} {place}" if error.detail else place
    return located

"""Results as DataRow messages: a column at a time, joined into rows by Arrow; no value passes through Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from millpond.result import ResultColumn
from millpond.server.types import BINARY_FORMAT
from millpond.types import SqlType, from_arrow
from millpond.values import to_text
from millpond.values.arrays import Array, Column, contiguous
from millpond.values.binary_output import row_bodies, to_binary
from millpond.wire.backend import DataRow
from millpond.wire.frames import framed

SLICE_ROWS_MAX = 16_384
SLICE_BYTES_MAX = 4 << 20
"""What is encoded at a time: enough that Arrow's fixed costs vanish, little enough to be a piece on its way."""

FEW_ROWS = 100
"""Up to so many rows it is faster to go from value to value."""


def encode_rows(table: pa.Table, columns: Sequence[ResultColumn], formats: Sequence[int]) -> Iterator[bytes]:
    """The table's rows as messages, in pieces of whole ones."""
    row_bytes = table.nbytes // max(table.num_rows, 1) + 1
    step = max(1, min(SLICE_ROWS_MAX, SLICE_BYTES_MAX // row_bytes))
    for start in range(0, table.num_rows, step):
        part = table.slice(start, step)
        values = [
            _encoded(column, described.type, format)
            for column, described, format in zip(part.columns, columns, formats, strict=True)
        ]
        if part.num_rows <= FEW_ROWS:
            yield _few_rows(values)
        else:
            yield framed(DataRow.code, row_bodies(values, part.num_rows))


def _encoded(values: Column, announced: SqlType, format: int) -> Array:
    """Each value's bytes, or its text."""
    array, sql_type = conformed(contiguous(values), announced)
    return to_binary(array, sql_type) if format == BINARY_FORMAT else to_text(array, sql_type)


def conformed(values: Array, announced: SqlType) -> tuple[Array, SqlType]:
    """Values as the type that the client was told; a numeric may have other digits than were expected."""
    if values.type.equals(announced.arrow):
        return values, announced
    if announced.name == "numeric" and pa.types.is_decimal(values.type):
        return values, from_arrow(values.type)
    return values.cast(announced.arrow), announced


def _few_rows(columns: Sequence[Array]) -> bytes:
    lists = [column.cast(pa.binary()).to_pylist() for column in columns]
    return b"".join(DataRow(row).encode() for row in zip(*lists, strict=True))

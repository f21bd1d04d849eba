"""Results as DataRow messages: a column at a time, joined into rows by Arrow; no value passes through Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from millpond.result import ResultColumn
from millpond.server.types import BINARY_FORMAT
from millpond.types import SqlType, from_arrow
from millpond.values import to_text
from millpond.values.arrays import Array, Column, contiguous, pc
from millpond.values.binary_output import fixed_size, to_binary
from millpond.wire.backend import DataRow

SLICE_ROWS_MAX = 16_384
SLICE_BYTES_MAX = 4 << 20
"""What is encoded at a time: enough that Arrow's fixed costs vanish, little enough to be a piece on its way."""

FEW_ROWS = 100
"""Up to so many rows it is faster to go from value to value."""

_HEADER = np.dtype([("code", "S1"), ("length", ">i4"), ("columns", ">i2")])
_LENGTH_BYTES = 4
_NULL_LENGTH = -1


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
        yield _few_rows(values) if 0 < part.num_rows <= FEW_ROWS else _rows(values, part.num_rows)


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


def _rows(columns: Sequence[Array], count: int) -> bytes:
    header = np.empty(count, _HEADER)
    header["code"], header["columns"] = DataRow.code, len(columns)
    sizes = np.full(count, _HEADER.itemsize - len(DataRow.code), np.int64)
    parts: list[Array] = []
    for column in columns:
        values = column.cast(pa.binary())
        lengths = pc.fill_null(pc.binary_length(values), _NULL_LENGTH).to_numpy(zero_copy_only=False)
        sizes += np.maximum(lengths, 0) + _LENGTH_BYTES
        parts += (fixed_size(lengths.astype(">i4")), pc.fill_null(values, b""))
    header["length"] = sizes
    return _data(pc.binary_join_element_wise(fixed_size(header), *parts, b""))


def _data(rows: Array) -> bytes:
    """The rows lie one behind the other already: an array's data is the stream of messages."""
    _, offsets, data = rows.buffers()
    ends = np.frombuffer(offsets, np.int32, len(rows) + 1, rows.offset * 4)
    return bytes(memoryview(data)[int(ends[0]) : int(ends[-1])])

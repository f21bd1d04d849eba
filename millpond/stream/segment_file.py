"""The format of a segment file: plain, uncompressed Parquet of one row group, `arrival_timestamp` as its last column.

A bulk append writes its files before it is its turn to arrive. The column of arrivals is then a dictionary of one
placeholder, and `stamp` later puts the arrival in that place: eight bytes instead of writing the rows again.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from millpond.errors import InternalError, not_supported
from millpond.relation import ARRIVAL_TIMESTAMP
from millpond.stream.options import Tid

ARRIVAL = ARRIVAL_TIMESTAMP.name
ARRIVAL_TYPE = pa.timestamp("us", tz="UTC")
ARRIVAL_FIELD = pa.field(ARRIVAL, ARRIVAL_TYPE, nullable=False)

_ARRIVAL_PLACEHOLDER_US = 0x6D696C6C706F6E64
_ARRIVAL_BYTES = struct.Struct("<q")

_FORMAT: dict[str, Any] = {
    "version": "2.6",  # microsecond timestamps with and without zone, as Spark reads them
    "compression": "none",
    "use_dictionary": [ARRIVAL],  # one value an append; everything else is as fast to write as to copy
    "store_decimal_as_integer": True,  # up to 18 digits as one machine word: faster to write and for Spark to read
    "store_schema": False,  # the catalog knows the schema
}

_INTEGER_DIGITS_MAX = 18
"""Digits up to which a decimal is stored as an integer."""


@dataclass(frozen=True)
class StoredFile:
    """A file of consecutive rows: a segment, or a copy of some of its rows, which are `in_memory` as well."""

    path: Path
    first_tid: Tid
    rows: int
    size_bytes: int
    in_memory: pa.Table | None = field(default=None, compare=False, repr=False)

    @property
    def end_tid(self) -> Tid:
        return Tid(self.first_tid + self.rows)


def stored_schema(schema: pa.Schema) -> pa.Schema:
    """The columns of a segment file of a stream with `schema`, after checking that Parquet can hold them."""
    for one in schema:
        if pa.types.is_interval(one.type):
            raise not_supported(f'column "{one.name}" of type interval in a stream', hint="Store seconds instead.")
    return pa.schema([*schema, ARRIVAL_FIELD])


def with_arrival(rows: pa.RecordBatch, arrival_us: int, stored: pa.Schema) -> pa.RecordBatch:
    """The rows with their column of arrivals."""
    arrival = pa.repeat(pa.scalar(arrival_us, ARRIVAL_TYPE), rows.num_rows)
    return pa.RecordBatch.from_arrays([*rows.columns, arrival], schema=stored)


def with_placeholder(rows: pa.Table) -> pa.Table:
    """The rows with a column of arrivals for `stamp` to fill in."""
    indices = pa.repeat(pa.scalar(0, pa.int8()), rows.num_rows)
    placeholder = pa.array([_ARRIVAL_PLACEHOLDER_US], ARRIVAL_TYPE)
    arrival = pa.DictionaryArray.from_arrays(indices, placeholder)
    return rows.append_column(pa.field(ARRIVAL, arrival.type, nullable=False), arrival)


def write(path: Path, table: pa.Table) -> None:
    described = [field.name for field in table.schema if _is_described(field)]
    pq.write_table(table, path, row_group_size=max(1, table.num_rows), write_statistics=described, **_FORMAT)


def _is_described(field: pa.Field[Any]) -> bool:
    """Whether to write statistics of a column: they let Spark skip segments outside a span of time, and tell how far
    numerics reach. Of the rest they would cost more than they save, and a stamp would belie those of the arrival."""
    is_machine_word = pa.types.is_decimal(field.type) and field.type.precision <= _INTEGER_DIGITS_MAX
    return is_machine_word or (pa.types.is_temporal(field.type) and field.name != ARRIVAL)


def stamp(path: Path, arrival_us: int) -> None:
    """Replace the placeholder in a file of rows `with_placeholder`."""
    # The dictionary page ends with its only value, and the column's first data page follows it.
    offset = _arrival_chunk(path).data_page_offset - _ARRIVAL_BYTES.size
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        if os.pread(descriptor, _ARRIVAL_BYTES.size, offset) != _ARRIVAL_BYTES.pack(_ARRIVAL_PLACEHOLDER_US):
            raise InternalError(f'segment file "{path.name}" has no place for an arrival')
        os.pwrite(descriptor, _ARRIVAL_BYTES.pack(arrival_us), offset)
    finally:
        os.close(descriptor)


def _arrival_chunk(path: Path) -> pq.ColumnChunkMetaData:
    metadata = pq.read_metadata(path)
    return metadata.row_group(0).column(metadata.num_columns - 1)


def read(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """The rows of a segment file, `arrival_timestamp` included unless `columns` leaves it out."""
    # ParquetFile reads exactly one file: it does not take the folder's name for a partition.
    with pq.ParquetFile(path) as file:
        return file.read(columns=None if columns is None else list(columns))


def count_rows(path: Path) -> int:
    """The rows that the file says it has."""
    return pq.read_metadata(path).num_rows


def last_arrival_us(path: Path) -> int:
    """The arrival of the last row."""
    arrivals = read(path, [ARRIVAL]).column(0)
    return int(arrivals.slice(len(arrivals) - 1).cast(pa.int64())[0].as_py())

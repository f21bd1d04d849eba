"""COPY's binary format: a header, rows of values behind their lengths, and an end; in and out."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import BinaryIO

import pyarrow as pa

from millpond.copy.blocks import BLOCK_BYTES, check_record_size
from millpond.copy.delimited import Layout
from millpond.copy.delimited_output import OutputColumn
from millpond.copy.failure import bad_file, in_row
from millpond.values.arrays import Array
from millpond.values.binary_input import from_binary
from millpond.values.binary_output import row_bodies, to_binary
from millpond.values.failure import ConversionError

SIGNATURE = b"PGCOPY\n\xff\r\n\0"
HEADER = SIGNATURE + struct.pack("!ii", 0, 0)
TRAILER = struct.pack("!h", -1)
"""A row of -1 columns."""

_ROWS_MAX = 32_768
_READ_BYTES = 1 << 20
_EXTENSION_BYTES_MAX = 1 << 20
_CRITICAL_FLAGS = 0xFFFF0000
_NULL_LENGTH = -1
_END = -1


def rows_of(table: pa.Table, columns: Sequence[OutputColumn]) -> Array:
    """The table's rows, each as bytes."""
    values = [to_binary(values, column.type) for values, column in zip(table.columns, columns, strict=True)]
    return row_bodies(values, table.num_rows)


def read_tables(file: BinaryIO, layout: Layout) -> Iterator[pa.Table]:
    """The file's rows as tables with the layout's columns."""
    source = _Source(file)
    _read_header(source)
    rows: list[tuple[bytes | None, ...]] = []
    done = size_bytes = 0
    for values in _read_rows(source, layout):
        rows.append(values)
        size_bytes += sum(len(value) for value in values if value is not None)
        if len(rows) == _ROWS_MAX or size_bytes > BLOCK_BYTES:
            yield _table(rows, layout, done)
            done, size_bytes, rows = done + len(rows), 0, []
    if rows:
        yield _table(rows, layout, done)


class _Source:
    """A file read by the number of bytes wanted; sockets hand over other numbers."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._data = b""
        self._at = 0

    def take(self, count: int) -> bytes:
        while len(self._data) - self._at < count:
            more = self._file.read(max(_READ_BYTES, count))
            if not more:
                raise bad_file("unexpected EOF in COPY data")
            self._data = self._data[self._at :] + more
            self._at = 0
        self._at += count
        return self._data[self._at - count : self._at]

    def int16(self) -> int:
        return int.from_bytes(self.take(2), "big", signed=True)

    def int32(self) -> int:
        return int.from_bytes(self.take(4), "big", signed=True)


def _read_header(source: _Source) -> None:
    if source.take(len(SIGNATURE)) != SIGNATURE:
        raise bad_file("COPY file signature not recognized")
    if source.int32() & _CRITICAL_FLAGS:
        raise bad_file("unrecognized critical flags in COPY file header")
    extension_bytes = source.int32()
    if not 0 <= extension_bytes <= _EXTENSION_BYTES_MAX:
        raise bad_file("invalid COPY file header (wrong length)")
    source.take(extension_bytes)


def _read_rows(source: _Source, layout: Layout) -> Iterator[tuple[bytes | None, ...]]:
    width = len(layout.columns)
    while (count := source.int16()) != _END:
        if count != width:
            raise bad_file(f"row field count is {count}, expected {width}")
        yield tuple(_read_values(source, layout))


def _read_values(source: _Source, layout: Layout) -> Iterator[bytes | None]:
    size_bytes = 0
    for _ in layout.columns:
        length = source.int32()
        if length < _NULL_LENGTH:
            raise bad_file("invalid field size")
        size_bytes += max(0, length)
        check_record_size(size_bytes, layout.record_bytes_max)
        yield None if length == _NULL_LENGTH else source.take(length)


def _table(rows: Sequence[tuple[bytes | None, ...]], layout: Layout, row: int) -> pa.Table:
    arrays = []
    for place, column in enumerate(layout.columns):
        try:
            arrays.append(from_binary([values[place] for values in rows], column.type, column=column.name))
        except ConversionError as error:
            raise in_row(error, layout.relation, row + error.row + 1, column.name) from None
    return pa.table(arrays, names=[column.name for column in layout.columns])

"""COPY TO: Arrow tables into a file, which appears only when it is whole."""

from __future__ import annotations

import errno
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from millpond.copy import binary
from millpond.copy.delimited_output import OutputColumn, header_line, joined, lines_of
from millpond.copy.options import CopyOptions
from millpond.copy.read import Progress
from millpond.errors import MillpondError, SqlState
from millpond.types import TEXT
from millpond.values import to_text
from millpond.values.arrays import Array, arrow_array, contiguous

_SLICE_ROWS_MAX = 65_536
_SLICE_BYTES_MAX = 32 << 20
"""What is printed at a time: its text, a few times as large, must fit into memory easily."""


class RowWriter(ABC):
    """A target that wants to know where each row ends: a client is sent every row as a message of its own."""

    @abstractmethod
    def write_rows(self, rows: Array) -> int:
        """Write rows, given as bytes; returns how many bytes they are."""

    @abstractmethod
    def deliver(self) -> None:
        """Send what was written so far, since more may be long in coming."""


def write(
    tables: Iterable[pa.Table | pa.RecordBatch],
    columns: Sequence[OutputColumn],
    target: Path | BinaryIO,
    options: CopyOptions,
    progress: Progress | None = None,
) -> int:
    """Writes the tables, whose columns are of the given types, and returns the number of rows."""
    _check_forced(options, columns)
    with _opened(target) as file:
        counted = _Counted(tables, progress)
        if options.format == "parquet":
            _write_parquet(counted, columns, file)
        elif options.format == "binary":
            _write_binary(counted, columns, file)
        else:
            _write_lines(counted, columns, file, options)
        return counted.rows


def _check_forced(options: CopyOptions, columns: Sequence[OutputColumn]) -> None:
    known = {column.name for column in columns}
    for name in () if options.force_quote == "*" else options.force_quote:
        if name not in known:
            message = f'FORCE_QUOTE column "{name}" not referenced by COPY'
            raise MillpondError(SqlState.INVALID_COLUMN_REFERENCE, message)


class _Counted:
    """Small slices of the tables, counted as they go."""

    def __init__(self, tables: Iterable[pa.Table | pa.RecordBatch], progress: Progress | None) -> None:
        self.rows = 0
        self.bytes = 0
        self._tables = tables
        self._progress = progress

    def __iter__(self) -> Iterator[pa.Table]:
        for data in self._tables:
            table = data if isinstance(data, pa.Table) else pa.Table.from_batches([data])
            row_bytes = table.nbytes // max(table.num_rows, 1) + 1
            step = max(1, min(_SLICE_ROWS_MAX, _SLICE_BYTES_MAX // row_bytes))
            for start in range(0, table.num_rows, step):
                part = table.slice(start, step)
                yield part
                self.rows += part.num_rows
                if self._progress:
                    self._progress(self.rows, self.bytes)


def _write_lines(tables: _Counted, columns: Sequence[OutputColumn], file: BinaryIO, options: CopyOptions) -> None:
    try:
        if options.header:
            tables.bytes += file.write(header_line(columns, options))
        for table in tables:
            tables.bytes += _write_rows(file, lines_of(table, columns, options), options.encoding)
    except UnicodeEncodeError as error:
        raise MillpondError(
            SqlState.INVALID_TEXT_REPRESENTATION,
            f'character "{error.object[error.start]}" has no equivalent in encoding "{options.encoding}"',
        ) from None


def _write_rows(file: BinaryIO, rows: Array, encoding: str) -> int:
    if not isinstance(file, RowWriter):
        return file.write(joined(rows, encoding))
    if encoding != "utf-8":
        rows = arrow_array([row.encode(encoding) for row in rows.to_pylist()], pa.binary())
    return file.write_rows(rows.cast(pa.binary()))


def _write_binary(tables: _Counted, columns: Sequence[OutputColumn], file: BinaryIO) -> None:
    opening = binary.HEADER  # clients expect it before the first row, in the same message
    for table in tables:
        rows = binary.rows_of(table, columns)
        if opening:
            first = arrow_array([opening + rows[0].as_py()], pa.binary())
            rows, opening = pa.concat_arrays([first, rows.slice(1)]), b""
        tables.bytes += _write_rows(file, rows, "utf-8")
    tables.bytes += file.write(opening + binary.TRAILER)


def _write_parquet(tables: _Counted, columns: Sequence[OutputColumn], file: BinaryIO) -> None:
    """Intervals are printed: Parquet has no type that holds all of one."""
    stored = [TEXT.arrow if column.type.name == "interval" else column.type.arrow for column in columns]
    schema = pa.schema([pa.field(column.name, arrow) for column, arrow in zip(columns, stored, strict=True)])
    with pq.ParquetWriter(file, schema) as writer:
        for table in tables:
            arrays = [
                to_text(values, column.type) if column.type.name == "interval" else contiguous(values)
                for values, column in zip(table.columns, columns, strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
            tables.bytes += table.nbytes


@contextmanager
def _opened(target: Path | BinaryIO) -> Iterator[BinaryIO]:
    """A path is written under another name first, so that a failure leaves what was there before."""
    if not isinstance(target, Path):
        yield target
        return
    unfinished = target.with_name(f".{target.name}.{uuid.uuid4().hex}.unfinished")
    try:
        file = unfinished.open("xb")
    except OSError as error:
        sqlstate = SqlState.UNDEFINED_FILE if isinstance(error, FileNotFoundError) else SqlState.IO_ERROR
        raise MillpondError(sqlstate, f'could not open file "{target}" for writing: {error.strerror}') from error
    try:
        with file:
            yield file
        unfinished.replace(target)
    except OSError as error:
        sqlstate = SqlState.DISK_FULL if error.errno == errno.ENOSPC else SqlState.IO_ERROR
        raise MillpondError(sqlstate, f"could not write to COPY file: {error.strerror}") from error
    finally:
        unfinished.unlink(missing_ok=True)

"""COPY FROM: a file into Arrow tables, in the file's order, in bounded memory.

Blocks are parsed on threads while the consumer stores the tables before them: pyarrow releases the interpreter for
nearly all of the work, so parsing and writing overlap.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from millpond.copy import binary, delimited, ndjson
from millpond.copy.blocks import RECORD_BYTES_MAX, Block, read_blocks
from millpond.copy.delimited import Layout, Parsed
from millpond.copy.failure import bad_file, in_line
from millpond.copy.options import CopyOptions
from millpond.copy.records import RecordError, ends_early, read_records
from millpond.errors import MillpondError, SqlState
from millpond.relation import Column
from millpond.values import to_table

Progress = Callable[[int, int], None]
"""Called with the rows and the bytes done so far."""

_THREADS_MAX = 4
"""More parsers than this outrun any writer."""

_PARQUET_ROWS = 131_072
_SPOOL_BYTES = 1 << 20


class CopyReader:
    """The tables of a file, to be iterated once; `skipped` counts rows left out because of ON_ERROR ignore."""

    def __init__(self, source: Path | BinaryIO, layout: Layout, progress: Progress | None) -> None:
        self.skipped = 0
        self._source = source
        self._layout = layout
        self._progress = progress
        self._rows = 0
        self._bytes = 0

    def __iter__(self) -> Iterator[pa.Table]:
        with _opened(self._source) as file:
            for table in self._tables(file):
                self._rows += table.num_rows
                if self._progress:
                    self._progress(self._rows, self._bytes)
                if table.num_rows:
                    yield table

    def _tables(self, file: BinaryIO) -> Iterator[pa.Table]:
        if self._layout.options.format == "parquet":
            return self._parquet(file)
        return self._binary(file) if self._layout.options.format == "binary" else self._lines(file)

    def _binary(self, file: BinaryIO) -> Iterator[pa.Table]:
        for table in binary.read_tables(file, self._layout):
            self._bytes += table.nbytes
            yield table

    def _lines(self, file: BinaryIO) -> Iterator[pa.Table]:
        parse = ndjson.parse_block if self._layout.options.format == "ndjson" else delimited.parse_block
        blocks = _data_blocks(self._blocks(file), self._layout)
        for block, parsed in _side_by_side(blocks, lambda block: parse(block, self._layout)):
            self._bytes += len(block.data)
            self.skipped += parsed.skipped
            yield parsed.table

    def _blocks(self, file: BinaryIO) -> Iterator[Block]:
        return read_blocks(file, self._layout.options, record_bytes_max=self._layout.record_bytes_max)

    def _parquet(self, file: BinaryIO) -> Iterator[pa.Table]:
        with _seekable(file) as whole:
            try:
                parquet = pq.ParquetFile(whole)
            except pa.ArrowInvalid as error:
                raise bad_file(f"the file is not a Parquet file: {error}") from None
            for batch in parquet.iter_batches(batch_size=_PARQUET_ROWS):
                self._bytes += batch.nbytes
                yield to_table(batch, self._layout.columns)


def read(
    source: Path | BinaryIO,
    columns: Sequence[Column],
    options: CopyOptions,
    relation_name: str,
    progress: Progress | None = None,
    *,
    defaults: Mapping[str, Any] | None = None,
    record_bytes_max: int = RECORD_BYTES_MAX,
) -> CopyReader:
    """The file's rows as tables with the given columns, which stand in the file's order.

    Parquet's and JSON's are matched by name; a column that a Parquet file lacks is missing from the tables too.
    `defaults` holds the Arrow scalars for fields that equal the option DEFAULT.
    """
    _check_forced(options, columns)
    layout = Layout(tuple(columns), options, relation_name, dict(defaults or {}), record_bytes_max)
    return CopyReader(source, layout, progress)


def _check_forced(options: CopyOptions, columns: Sequence[Column]) -> None:
    known = {column.name for column in columns}
    for option in ("force_not_null", "force_null"):
        named = getattr(options, option)
        for name in () if named == "*" else named:
            if name not in known:
                shown = option.upper()
                raise MillpondError(
                    SqlState.INVALID_COLUMN_REFERENCE, f'{shown} column "{name}" not referenced by COPY'
                )


@contextmanager
def _seekable(file: BinaryIO) -> Iterator[BinaryIO]:
    """A file whose end can be read first; what a client sends goes to a file of its own for that."""
    if file.seekable():
        yield file
        return
    with tempfile.TemporaryFile() as whole:
        shutil.copyfileobj(file, whole, _SPOOL_BYTES)
        whole.seek(0)
        yield whole


@contextmanager
def _opened(source: Path | BinaryIO) -> Iterator[BinaryIO]:
    if not isinstance(source, Path):
        yield source
        return
    try:
        file = source.open("rb")
    except OSError as error:
        sqlstate = SqlState.UNDEFINED_FILE if isinstance(error, FileNotFoundError) else SqlState.IO_ERROR
        raise MillpondError(sqlstate, f'could not open file "{source}" for reading: {error.strerror}') from error
    with file:
        yield file


def _data_blocks(blocks: Iterator[Block], layout: Layout) -> Iterator[Block]:
    """The blocks behind the header and up to the end-of-data marker."""
    is_first = True
    for block in blocks:
        if is_first and layout.options.header:
            block = _without_header(block, layout)
        is_first = False
        if block.data:
            yield block
        if layout.options.format in ("csv", "text") and ends_early(block):
            return


def _without_header(block: Block, layout: Layout) -> Block:
    try:
        header = next(read_records(block, layout.options), None)
    except RecordError as error:
        raise in_line(error.cause, layout.relation, error.line, error.raw) from None
    if header is None:
        return replace(block, data=b"")
    if layout.options.header == "match":
        _check_header([field.text for field in header.fields], layout)
    text = block.data.decode(errors="surrogateescape")
    data = text[header.end :].encode(errors="surrogateescape")
    return replace(block, data=data, line=header.line + 1)


def _check_header(names: Sequence[str], layout: Layout) -> None:
    if len(names) != len(layout.columns):
        raise bad_file(f"wrong number of fields in header line: got {len(names)}, expected {len(layout.columns)}")
    for place, (name, column) in enumerate(zip(names, layout.columns, strict=True), 1):
        if name != column.name:
            message = f'column name mismatch in header line field {place}: got "{name}", expected "{column.name}"'
            raise bad_file(message)


def _side_by_side(blocks: Iterator[Block], parse: Callable[[Block], Parsed]) -> Iterator[tuple[Block, Parsed]]:
    """Parses a few blocks ahead; results come in the blocks' order, and so does the first error."""
    threads = min(os.cpu_count() or 1, _THREADS_MAX)
    pending: deque[tuple[Block, Future[Parsed]]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="copy") as pool:
        try:
            for block in blocks:
                pending.append((block, pool.submit(parse, block)))
                if len(pending) > threads:
                    first, parsed = pending.popleft()
                    yield first, parsed.result()
            while pending:
                first, parsed = pending.popleft()
                yield first, parsed.result()
        finally:
            for _, parsed in pending:
                parsed.cancel()

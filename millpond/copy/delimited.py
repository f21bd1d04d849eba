"""Blocks of CSV and text files into Arrow tables: by pyarrow where it surely reads as PostgreSQL does, else exactly.

1. Typed: pyarrow parses the block and reads integers, numerics and booleans on the way.
2. As texts: pyarrow parses the block, the input functions of `values` read the texts.
3. Exactly: `records.py` reads record by record, and names the line and the column of what is wrong.

Each way either gives the one right answer or hands over to the next.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pv

from millpond.copy.blocks import RECORD_BYTES_MAX, Block
from millpond.copy.failure import bad_file, in_column, in_line
from millpond.copy.options import CopyOptions, applies
from millpond.copy.records import END_MARKER, Field, Record, RecordError, read_records, unescaped
from millpond.relation import Column
from millpond.values import ConversionError, from_text, read_texts
from millpond.values.arrays import Array, any_true, arrow_array, contiguous, pc, true_rows, with_values
from millpond.values.numbers import within_precision

_TRUE = ["t", "true", "T", "TRUE", "True", "1", "y", "yes", "on", "Y", "YES", "ON"]
_FALSE = ["f", "false", "F", "FALSE", "False", "0", "n", "no", "off", "N", "NO", "OFF"]
_TYPED = ("smallint", "integer", "bigint", "numeric", "boolean")
"""Types of which pyarrow reads no text differently from PostgreSQL: it may only refuse more."""


@dataclass(frozen=True)
class Layout:
    """What a file holds: the columns in its order, how it is written, and whose rows they are."""

    columns: tuple[Column, ...]
    options: CopyOptions
    relation: str
    defaults: Mapping[str, Any] = field(default_factory=dict)
    record_bytes_max: int = RECORD_BYTES_MAX


@dataclass(frozen=True)
class Parsed:
    """A block's rows; `skipped` counts those left out because of ON_ERROR ignore."""

    table: pa.Table
    skipped: int = 0


def parse_block(block: Block, layout: Layout) -> Parsed:
    """The block's rows in the columns' declared types."""
    if _is_certain(block, layout):
        for typed in (True, False):
            try:
                return Parsed(_parse_fast(block, layout, typed=typed))
            except (pa.ArrowInvalid, ConversionError, RecordError):
                continue
    return parse_exactly(block, layout)


def _is_certain(block: Block, layout: Layout) -> bool:
    """Whether pyarrow finds the same records and fields in the block as PostgreSQL would."""
    options, data = layout.options, block.data
    if _contains(data, END_MARKER.encode()) or b"\0" in data or not _line_ends_agree(block):
        return False
    if options.default is not None and options.default.encode() in data:
        return False
    if options.format == "text":
        return _escapes_keep_structure(data, options)
    quote = options.quote.encode()
    return quote not in data or (options.quote == options.escape and _quotes_enclose_fields(data, options))


def _contains(data: bytes, pair: bytes) -> bool:
    """Whether two bytes follow one another: looking for the rarer, the first of them, alone is ten times as fast."""
    return pair[:1] in data and pair in data


def _line_ends_agree(block: Block) -> bool:
    if block.line_end == b"\n":
        return b"\r" not in block.data
    pairs = block.data.count(b"\r\n")
    return block.line_end == b"\r\n" and pairs == block.data.count(b"\n") == block.data.count(b"\r")


def _quotes(data: bytes, options: CopyOptions) -> Any:
    """The offsets of all quotes."""
    return np.flatnonzero(np.frombuffer(data, np.uint8) == ord(options.quote))


def _quotes_enclose_fields(data: bytes, options: CopyOptions) -> bool:
    """Quotes open (the even ones) only at a field's start and close only at its end, or stand doubled inside."""
    quotes = _quotes(data, options)
    if len(quotes) % 2:
        return False
    padded = np.frombuffer(b"\n" + data + b"\n", np.uint8)
    before, after = padded[quotes[0::2]], padded[quotes[1::2] + 2]
    borders = np.frombuffer(f"{options.delimiter}\r\n{options.quote}".encode(), np.uint8)
    return bool(np.isin(before, borders).all() and np.isin(after, borders).all())


def _escapes_keep_structure(data: bytes, options: CopyOptions) -> bool:
    """No backslash stands before a delimiter or a line end, which it would make part of the value."""
    marks = (options.delimiter.encode(), b"\n", b"\r")
    return b"\\" not in data or not any(b"\\" + mark in data for mark in marks)


def _parse_fast(block: Block, layout: Layout, *, typed: bool) -> pa.Table:
    # Arrow takes hexadecimal digits for bit patterns, so 0xFFFFFFFF would be -1.
    typed = typed and not any(x in block.data and b"0" + x in block.data for x in (b"x", b"X"))
    arrow_types = {column.name: _read_type(column, layout.options, typed) for column in layout.columns}
    options = layout.options
    csv = options.format == "csv"
    # Without a line end behind it pyarrow takes an empty last field for a quoted one if the field before was quoted.
    data = block.data if block.data.endswith(block.line_end) else block.data + block.line_end
    table = pv.read_csv(
        io.BytesIO(data),
        read_options=pv.ReadOptions(column_names=list(arrow_types), use_threads=False, block_size=len(data) + 1),
        parse_options=pv.ParseOptions(
            delimiter=options.delimiter,
            quote_char=options.quote if csv else False,
            newlines_in_values=csv,
            ignore_empty_lines=False,
        ),
        convert_options=pv.ConvertOptions(
            column_types=arrow_types,
            null_values=[options.null],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            true_values=_TRUE,
            false_values=_FALSE,
        ),
    )
    if _has_empty_line(block, table, options):
        raise pa.ArrowInvalid("an empty line")
    arrays = [_finished(values, column, options) for values, column in zip(table.columns, layout.columns, strict=True)]
    return pa.Table.from_arrays(arrays, [column.name for column in layout.columns])


def _has_empty_line(block: Block, table: pa.Table, options: CopyOptions) -> bool:
    """An empty line is one empty field; pyarrow takes it for a row of empty fields in any number of columns."""
    if table.num_columns == 1 or not all(
        values.null_count or values.type.equals(pa.string()) for values in table.columns
    ):
        return False
    data, end = block.data, block.line_end
    if data.startswith(end):
        return True
    at = data.find(end + end)
    quotes = _quotes(data, options) if at >= 0 and options.format == "csv" else np.empty(0)
    while at >= 0 and np.searchsorted(quotes, at) % 2:
        at = data.find(end + end, at + 1)
    return at >= 0


def _read_type(column: Column, options: CopyOptions, typed: bool) -> pa.DataType:
    forced = applies(options.force_null, column.name) or applies(options.force_not_null, column.name)
    return column.type.arrow if typed and column.type.name in _TYPED and not forced else pa.string()


def _finished(values: Any, column: Column, options: CopyOptions) -> Array:
    array = contiguous(values)
    if column.type.name == "numeric" and array.type.equals(column.type.arrow):
        return within_precision(array, column.type)
    if not array.type.equals(pa.string()):
        return array
    if options.format == "text":
        array = _unescaped(array)
    if applies(options.force_not_null, column.name):
        array = pc.fill_null(array, options.null)
    if applies(options.force_null, column.name):
        array = pc.if_else(pc.equal(array, options.null), pa.scalar(None, pa.string()), array)
    return from_text(array, column.type, column=column.name)


def _unescaped(texts: Array) -> Array:
    escaped = pc.match_substring(texts, "\\")
    if not any_true(escaped):
        return texts
    rows = true_rows(escaped)
    plain = [unescaped(text) for text in texts.take(pa.array(rows, pa.int64())).to_pylist()]
    return with_values(texts, rows, arrow_array(plain, pa.string()))


def parse_exactly(block: Block, layout: Layout) -> Parsed:
    """Record by record. What is wrong with the file stops it, but the values before that place come first."""
    records: list[Record] = []
    stop: RecordError | None = None
    try:
        for record in read_records(block, layout.options):
            _check_width(record, layout)
            records.append(record)
    except RecordError as error:
        stop = error
    parsed = _convert(records, layout)
    if isinstance(stop, _ShortRecordError):
        _convert([stop.record], replace(layout, columns=layout.columns[: len(stop.record.fields)]))
    if stop is not None:
        raise in_line(stop.cause, layout.relation, stop.line, stop.raw)
    return parsed


class _ShortRecordError(RecordError):
    """A record that lacks fields; those that it has may be wrong already."""

    def __init__(self, record: Record, missing: Column) -> None:
        super().__init__(bad_file(f'missing data for column "{missing.name}"'), record.line, record.raw)
        self.record = record


def _check_width(record: Record, layout: Layout) -> None:
    if len(record.fields) > len(layout.columns):
        raise RecordError(bad_file("extra data after last expected column"), record.line, record.raw)
    if len(record.fields) < len(layout.columns):
        raise _ShortRecordError(record, layout.columns[len(record.fields)])


def _convert(records: Sequence[Record], layout: Layout) -> Parsed:
    lines = [record.line for record in records]
    columns = [[_text(record.fields[i], c, layout.options) for record in records] for i, c in enumerate(layout.columns)]
    defaulted = [
        [layout.options.default is not None and f.raw == layout.options.default and not f.quoted for f in fields]
        for fields in ([record.fields[i] for record in records] for i in range(len(layout.columns)))
    ]
    return convert_texts(columns, lines, layout, defaulted)


def _text(field: Field, column: Column, options: CopyOptions) -> str | None:
    if not field.quoted and (field.raw == options.null or field.raw == options.default):
        forced = field.raw == options.null and applies(options.force_not_null, column.name)
        return field.text if forced else None
    if field.text == options.null and applies(options.force_null, column.name):
        return None
    return field.text


def convert_texts(
    columns: Sequence[Sequence[str | None]],
    lines: Sequence[int],
    layout: Layout,
    defaulted: Sequence[Sequence[bool]] | None = None,
) -> Parsed:
    """Texts by the column into a table; the first failure in the file's order is raised, or its row left out."""
    arrays: list[Array] = []
    failures: list[tuple[int, int, ConversionError]] = []
    failures_max = 1 if layout.options.on_error == "stop" else len(lines) + 1
    for i, column in enumerate(layout.columns):
        texts = arrow_array(columns[i], pa.string())
        values, failed = read_texts(texts, column.type, column=column.name, failures_max=failures_max)
        if defaulted is not None and column.name in layout.defaults and any(defaulted[i]):
            default = layout.defaults[column.name].cast(column.type.arrow)
            values = pc.if_else(pa.array(defaulted[i]), default, values)
        arrays.append(values)
        failures += [(error.row, i, error) for error in failed]
    table = pa.Table.from_arrays(arrays, [column.name for column in layout.columns])
    if failures and layout.options.on_error == "stop":
        row, i, error = min(failures, key=lambda failure: failure[:2])
        raise in_column(error, layout.relation, lines[row], layout.columns[i].name, columns[i][row] or "")
    bad_rows = {row for row, _, _ in failures}
    if not bad_rows:
        return Parsed(table)
    kept = pa.array([row not in bad_rows for row in range(len(lines))], pa.bool_())
    return Parsed(table.filter(kept), len(bad_rows))

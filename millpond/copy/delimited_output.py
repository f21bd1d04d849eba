"""Arrow tables into CSV, text and JSON lines: each column is printed at once, then columns are joined into lines."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from millpond.copy.options import CopyOptions, applies
from millpond.copy.records import END_MARKER
from millpond.types import SqlType
from millpond.values import to_text
from millpond.values.arrays import Array, any_true, arrow_array, contiguous, pc, true_rows, with_values

_TEXT_ESCAPES = {"\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}
_JSON_SPECIAL = r'["\\\x00-\x1f]'
_JSON_BARE = ("smallint", "integer", "bigint", "real", "double precision", "numeric", "boolean")
"""Types whose values JSON writes without quotes."""


@dataclass(frozen=True)
class OutputColumn:
    """A column of what is written: a table's or a query's."""

    name: str
    type: SqlType


def header_line(columns: Sequence[OutputColumn], options: CopyOptions) -> bytes:
    """The names, quoted or escaped as values are; FORCE_QUOTE is about values only."""
    options = replace(options, force_quote=())
    print_names = _csv_field if options.format == "csv" else _text_field
    names = [print_names(pa.array([column.name]), column, options, False)[0].as_py() for column in columns]
    return (options.delimiter.join(names) + "\n").encode(options.encoding)


def lines_of(table: pa.Table, columns: Sequence[OutputColumn], options: CopyOptions) -> Array:
    """The table's rows as lines."""
    print_column = _PRINTERS[options.format]
    alone = len(columns) == 1
    fields = [
        print_column(contiguous(values), column, options, alone)
        for values, column in zip(table.columns, columns, strict=True)
    ]
    if options.format == "ndjson":
        lines = _json_lines(fields, columns)
    else:
        lines = pc.binary_join_element_wise(*fields, options.delimiter)
    return pc.binary_join_element_wise(lines, "", "\n")


def joined(lines: Array, encoding: str = "utf-8") -> bytes:
    """The lines in the wanted encoding. They lie one behind the other already: an array's data is the file's."""
    if not len(lines):
        return b""
    _, offsets, data = lines.buffers()
    width = 8 if pa.types.is_large_string(lines.type) or pa.types.is_large_binary(lines.type) else 4
    ends = memoryview(offsets).cast("B")[lines.offset * width : (lines.offset + len(lines) + 1) * width]
    start, stop = int.from_bytes(ends[:width], "little"), int.from_bytes(ends[-width:], "little")
    whole = bytes(memoryview(data)[start:stop])
    return whole if encoding == "utf-8" else whole.decode().encode(encoding)


def _csv(values: Array, column: OutputColumn, options: CopyOptions, alone: bool) -> Array:
    return _csv_field(to_text(values, column.type), column, options, alone)


def _csv_field(texts: Array, column: OutputColumn, options: CopyOptions, alone: bool) -> Array:
    """Quoted where it could else be misread: special characters, the NULL mark, and a lone end-of-data marker."""
    if applies(options.force_quote, column.name):
        return pc.coalesce(_quoted(texts, options), options.null)
    special = f"[{re.escape(options.delimiter + options.quote)}\r\n]"
    quote = pc.or_(pc.match_substring_regex(texts, special), pc.equal(texts, options.null))
    if alone:
        quote = pc.or_(quote, pc.equal(texts, END_MARKER))
    if any_true(quote):
        texts = pc.if_else(quote, _quoted(texts, options), texts)
    return pc.coalesce(texts, options.null)


def _quoted(texts: Array, options: CopyOptions) -> Array:
    if options.escape != options.quote:
        texts = pc.replace_substring(texts, options.escape, options.escape * 2)
    escaped = pc.replace_substring(texts, options.quote, options.escape + options.quote)
    return pc.binary_join_element_wise(options.quote, escaped, options.quote, "")


def _text(values: Array, column: OutputColumn, options: CopyOptions, alone: bool) -> Array:
    return _text_field(to_text(values, column.type), column, options, alone)


def _text_field(texts: Array, _column: OutputColumn, options: CopyOptions, _alone: bool) -> Array:
    escapes = {**_TEXT_ESCAPES, options.delimiter: _TEXT_ESCAPES.get(options.delimiter, "\\" + options.delimiter)}
    special = f"[{re.escape(''.join(escapes))}]"
    if any_true(pc.match_substring_regex(texts, special)):
        # The backslash comes first in the table, so that no escape is escaped again.
        for character, escape in escapes.items():
            texts = pc.replace_substring(texts, character, escape)
    return pc.coalesce(texts, options.null)


def _json(values: Array, column: OutputColumn, _options: CopyOptions, _alone: bool) -> Array:
    """As PostgreSQL's row_to_json: timestamps with a T, numbers bare unless JSON cannot write them."""
    is_boolean = column.type.name == "boolean"
    texts = pc.if_else(values, "true", "false") if is_boolean else to_text(values, column.type)
    if column.type.name in ("timestamp", "timestamptz"):
        texts = pc.replace_substring(texts, " ", "T", max_replacements=1)
    if column.type.name == "timestamptz":
        texts = pc.binary_join_element_wise(texts, ":00", "")
    if column.type.is_float:
        texts = pc.if_else(pc.is_finite(values), texts, _json_strings(texts))
    elif column.type.name not in _JSON_BARE:
        texts = _json_strings(texts)
    return pc.coalesce(texts, "null")


def _json_strings(texts: Array) -> Array:
    quoted = pc.binary_join_element_wise('"', texts, '"', "")
    special = pc.fill_null(pc.match_substring_regex(texts, _JSON_SPECIAL), False)
    rows = true_rows(special)
    if not rows:
        return quoted
    escaped = [json.dumps(text, ensure_ascii=False) for text in texts.take(pa.array(rows, pa.int64())).to_pylist()]
    return with_values(quoted, rows, arrow_array(escaped, pa.string()))


def _json_lines(fields: Sequence[Array], columns: Sequence[OutputColumn]) -> Array:
    parts: list[Array | str] = []
    for place, (field, column) in enumerate(zip(fields, columns, strict=True)):
        opening = "," if place else "{"
        parts += (f"{opening}{json.dumps(column.name, ensure_ascii=False)}:", field)
    return pc.binary_join_element_wise(*parts, "}", "")


_PRINTERS: dict[str, Callable[[Array, OutputColumn, CopyOptions, bool], Array]] = {
    "csv": _csv,
    "text": _text,
    "ndjson": _json,
}

"""JSON, an object a line: keys are columns; each value's text is read by its column's input function.

That is what PostgreSQL's json_populate_record does: 1 and "1" are the same integer, and a number of any length reaches
a numeric column digit by digit. A missing key is NULL, an unknown one an error. Blocks in which every value has its
column's own JSON type are left to pyarrow.
"""

from __future__ import annotations

import io
import json
from typing import Any, cast

import pyarrow as pa
import pyarrow.json as pj

from millpond.copy.blocks import Block
from millpond.copy.delimited import Layout, Parsed, convert_texts
from millpond.copy.failure import bad_encoding, in_line
from millpond.errors import MillpondError, SqlState, closest
from millpond.relation import Column
from millpond.values import ConversionError, from_text
from millpond.values.arrays import Array, contiguous
from millpond.values.numbers import within_precision

_INVALID_JSON = "invalid input syntax for type json"
_WORDS = {True: "true", False: "false", None: "null"}


class _Number(str):
    """A number as it was written, so that no digit is lost."""

    __slots__ = ()


_TYPED = ("smallint", "integer", "bigint", "double precision", "numeric", "boolean")
"""Types that pyarrow reads from JSON's own numbers and words; it may only refuse more than is right."""


def parse_block(block: Block, layout: Layout) -> Parsed:
    """The block's rows in the columns' declared types."""
    if _is_certain(block, layout):
        try:
            return Parsed(_parse_fast(block, layout))
        except (pa.ArrowInvalid, ConversionError):
            pass  # The exact way says whether it is an error, and which.
    return parse_exactly(block, layout)


def _is_certain(block: Block, layout: Layout) -> bool:
    """Whether no float can be so small that pyarrow would make it zero."""
    floats = any(column.type.is_float for column in layout.columns)
    return not (floats and (b"e-" in block.data or b"E-" in block.data))


def _parse_fast(block: Block, layout: Layout) -> pa.Table:
    types = [column.type.arrow if column.type.name in _TYPED else pa.string() for column in layout.columns]
    names = [column.name for column in layout.columns]
    table = pj.read_json(
        io.BytesIO(block.data),
        read_options=pj.ReadOptions(use_threads=False, block_size=len(block.data) + 1),
        parse_options=pj.ParseOptions(
            explicit_schema=pa.schema(list(zip(names, types, strict=True))), unexpected_field_behavior="error"
        ),
    )
    if table.num_rows != block.data.count(b"\n") + (not block.data.endswith(b"\n")):
        raise pa.ArrowInvalid("not an object a line")
    arrays = [_finished(table.column(column.name), column) for column in layout.columns]
    return pa.Table.from_arrays(arrays, names)


def _finished(values: Any, column: Column) -> Array:
    array = contiguous(values)
    array.validate(full=True)  # pyarrow takes texts over without looking whether they are UTF-8.
    if column.type.name == "numeric":
        return within_precision(array, column.type)
    return from_text(array, column.type) if array.type.equals(pa.string()) else array


def parse_exactly(block: Block, layout: Layout) -> Parsed:
    """All lines at once, one by one only to find the line that an error is in."""
    lines = [(block.line + i, line) for i, line in enumerate(block.data.split(b"\n")) if line.strip()]
    objects = _load_all([line for _, line in lines])
    if objects is None:
        objects = [_load_one(line, number, layout) for number, line in lines]
    _check_keys(objects, lines, layout)
    columns = [[_text(row.get(column.name)) for row in objects] for column in layout.columns]
    try:
        return convert_texts(columns, [number for number, _ in lines], layout)
    except UnicodeEncodeError:
        detail = "A Unicode surrogate must be one of a pair."
        raise MillpondError(SqlState.INVALID_TEXT_REPRESENTATION, _INVALID_JSON, detail=detail) from None


def _load(text: bytes) -> Any:
    return json.loads(text, parse_float=_Number, parse_int=_Number, parse_constant=_Number)


def _load_all(lines: list[bytes]) -> list[dict[str, Any]] | None:
    """The objects, or None if a line is not one."""
    try:
        objects = _load(b"[" + b"\n,".join(lines) + b"]")
    except (ValueError, RecursionError):
        return None
    if len(objects) != len(lines) or not all(type(item) is dict for item in objects):
        return None
    return cast(list[dict[str, Any]], objects)


def _load_one(line: bytes, number: int, layout: Layout) -> dict[str, Any]:
    shown = line.decode(errors="replace")
    try:
        found = _load(line)
    except UnicodeDecodeError as error:
        raise in_line(bad_encoding(line[error.start]), layout.relation, number, shown) from None
    except ValueError as error:
        cause = MillpondError(SqlState.INVALID_TEXT_REPRESENTATION, _INVALID_JSON, detail=f"{error}.")
        raise in_line(cause, layout.relation, number, shown) from None
    except RecursionError:
        raise in_line(_too_deep(), layout.relation, number, shown) from None
    if not isinstance(found, dict):
        cause = MillpondError(SqlState.INVALID_TEXT_REPRESENTATION, "expected a JSON object on each line")
        raise in_line(cause, layout.relation, number, shown)
    return found


def _check_keys(objects: list[dict[str, Any]], lines: list[tuple[int, bytes]], layout: Layout) -> None:
    known = {column.name for column in layout.columns}
    if known.issuperset(key for row in objects for key in row):
        return
    place, unknown = next((i, key) for i, row in enumerate(objects) for key in row if key not in known)
    error = MillpondError(
        SqlState.UNDEFINED_COLUMN,
        f'column "{unknown}" of relation "{layout.relation}" does not exist',
        hint=closest(unknown, known),
    )
    number, line = lines[place]
    raise in_line(error, layout.relation, number, line.decode(errors="replace"))


def _text(value: Any) -> str | None:
    """What the column's input function reads; an object or an array is its JSON text."""
    if value is None or isinstance(value, str):
        return value
    try:
        return _json_text(value)
    except RecursionError:
        raise _too_deep() from None


def _too_deep() -> MillpondError:
    return MillpondError(SqlState.PROGRAM_LIMIT_EXCEEDED, "JSON is nested too deeply")


def _json_text(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_json_text(key)}: {_json_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_json_text, value)) + "]"
    if isinstance(value, _Number):
        return str(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else _WORDS[value]

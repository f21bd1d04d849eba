"""SQL literals as written, by the column, into the column's type: what INSERT ... VALUES is made of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pyarrow as pa

from millpond import types
from millpond.errors import MillpondError, SqlState
from millpond.relation import Column
from millpond.types import SqlType
from millpond.values.arrays import Array, arrow_array, nulls, pc
from millpond.values.assignment import assign
from millpond.values.failure import ConversionError, at_row, mismatch, out_of_range
from millpond.values.numbers import INTEGER_RANGES
from millpond.values.text_input import from_text

CASTS: dict[str, SqlType] = {
    **{"smallint": types.SMALLINT, "int2": types.SMALLINT, "integer": types.INTEGER, "int": types.INTEGER},
    **{"int4": types.INTEGER, "bigint": types.BIGINT, "int8": types.BIGINT, "real": types.REAL},
    **{"float4": types.REAL, "double precision": types.DOUBLE, "float8": types.DOUBLE, "numeric": types.NUMERIC},
    **{"decimal": types.NUMERIC, "boolean": types.BOOLEAN, "bool": types.BOOLEAN, "text": types.TEXT},
    **{"varchar": types.VARCHAR, "bytea": types.BYTEA, "date": types.DATE, "timestamp": types.TIMESTAMP},
    **{"timestamptz": types.TIMESTAMPTZ, "interval": types.INTERVAL, "character varying": types.VARCHAR},
    **{"timestamp with time zone": types.TIMESTAMPTZ, "timestamp without time zone": types.TIMESTAMP},
}
"""The types that a string literal may be cast to, by their names without a length or a precision."""

_NUMBER_STARTS = frozenset("+-.0123456789")
_BOOLEANS = {"true": True, "false": False}
_TYPED = re.compile(r"(?P<prefix>[a-zA-Z]*)[ \t\r\n\f\v]*(?P<string>'.*')(?:::(?P<suffix>.+))?", re.DOTALL)
_ESCAPED = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))|''", re.DOTALL)
_LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def array_of_literals(literals: Sequence[str], column: Column, default: Any = None) -> Array:
    """The literals' values; `default` is the Arrow scalar that DEFAULT stands for, None for NULL.

    Each kind of literal is read by itself, with NULL in the places of the others, and the kinds are laid over
    one another: most columns have one kind, or one and NULL.
    """
    starts = {literal[0] for literal in literals}
    if starts <= _NUMBER_STARTS:
        return _numbers(literals, column)
    # Strings of one type, as the parameters of a driver are: what stands behind the first one's quote ends them all.
    behind = literals[0].rpartition("'")[2] if starts == {"'"} else None
    if behind is not None and all(literal.endswith("'" + behind) for literal in literals):
        texts = [literal[1 : -1 - len(behind)].replace("''", "'") for literal in literals]
        return _typed_strings(texts, CASTS[behind.removeprefix("::").lower()] if behind else None, column)
    return _mixed(literals, column, default)


def _mixed(literals: Sequence[str], column: Column, default: Any) -> Array:
    words = [literal.lower() for literal in literals]
    layers = []
    numbers = [literal if literal[0] in _NUMBER_STARTS else None for literal in literals]
    if any(numbers):
        layers.append(_numbers(numbers, column))
    booleans = [_BOOLEANS.get(word) for word in words]
    if any(boolean is not None for boolean in booleans):
        layers.append(_located_mismatch(booleans, column))
    strings = [
        _string(literal, row, column) if "'" in literal else (None, None) for row, literal in enumerate(literals)
    ]
    for type in dict.fromkeys(type for type, text in strings if text is not None):
        layers.append(_typed_strings([text if of == type else None for of, text in strings], type, column))
    if default is not None:
        mask = pa.array([word == "default" for word in words], pa.bool_())
        layers.append(pc.if_else(mask, default.cast(column.type.arrow), nulls(len(words), column.type.arrow)))
    return pc.coalesce(*layers) if layers else nulls(len(words), column.type.arrow)


def _string(literal: str, row: int, column: Column) -> tuple[SqlType | None, str]:
    """A string literal's type, None if it was given none, and its value."""
    if literal[0] in "eE" and literal[1] == "'":
        with at_row(row, column.name):
            return None, unescape(literal[2:-1])
    match = _TYPED.fullmatch(literal)
    assert match is not None, literal
    name = match["prefix"] or match["suffix"]
    text = match["string"][1:-1].replace("''", "'")
    return (CASTS[name.lower()] if name else None), text


def _typed_strings(texts: Sequence[str | None], type: SqlType | None, column: Column) -> Array:
    if type is None:
        return _strings(texts, column)
    return assign(from_text(arrow_array(texts, pa.string()), type, column=column.name), column.type, column=column.name)


def _strings(texts: Sequence[str | None], column: Column) -> Array:
    return from_text(arrow_array(texts, pa.string()), column.type, column=column.name)


def _located_mismatch(booleans: Sequence[bool | None], column: Column) -> Array:
    first = next(row for row, boolean in enumerate(booleans) if boolean is not None)
    with at_row(first, column.name):
        return assign(arrow_array(booleans, pa.bool_()), column.type, column=column.name)


def _numbers(literals: Sequence[str | None], column: Column) -> Array:
    """Number literals by the rules for assigning an integer or a numeric, which are not those for reading a text."""
    texts = arrow_array(literals, pa.string())
    if column.type.is_integer:
        try:
            return texts.cast(column.type.arrow)
        except pa.ArrowInvalid:
            return _one_by_one(literals, column)
    if column.type.is_number:
        return from_text(texts, column.type, column=column.name)
    if column.type.is_string:
        return from_text(
            arrow_array([_printed(text) for text in literals], pa.string()), column.type, column=column.name
        )
    row, text = next((row, text) for row, text in enumerate(literals) if text is not None)
    raise ConversionError(mismatch(column.name, column.type, _type_of_number(text)), row, column.name)


def _one_by_one(literals: Sequence[str | None], column: Column) -> Array:
    values = []
    for row, text in enumerate(literals):
        with at_row(row, column.name):
            values.append(None if text is None else _rounded(text, column.type))
    return arrow_array(values, column.type.arrow)


def _rounded(text: str, type: SqlType) -> int:
    low, high = INTEGER_RANGES[type.name]
    number = Decimal(text)
    if number.adjusted() <= len(str(high)):
        value = int(number.to_integral_value(ROUND_HALF_UP))
        if low <= value <= high:
            return value
    raise out_of_range(type)


def _printed(text: str | None) -> str | None:
    """A number literal as a cast to text prints it."""
    return None if text is None else f"{Decimal(text):f}"


def _type_of_number(text: str) -> str:
    """The type that PostgreSQL gives a number literal."""
    if not text.lstrip("+-").isdigit():
        return "numeric"
    size = abs(int(text))
    return next((name for name in ("integer", "bigint") if size <= INTEGER_RANGES[name][1]), "numeric")


def unescape(body: str, position: int | None = None) -> str:
    """What stands between the quotes of `E'...'`, its escapes replaced."""
    try:
        # Bytes given by number travel as lone surrogates until all of a character's bytes are together.
        plain = _ESCAPED.sub(_escaped_character, body).encode("utf-8", "surrogateescape").decode()
    except UnicodeError:
        raise _bad_escape('invalid byte sequence for encoding "UTF8"', position) from None
    if "\0" in plain:
        raise _bad_escape('invalid byte sequence for encoding "UTF8": 0x00', position)
    return plain


def _bad_escape(message: str, position: int | None) -> MillpondError:
    return MillpondError(SqlState.INVALID_TEXT_REPRESENTATION, message, position=position)


def _escaped_character(match: re.Match[str]) -> str:
    octal, hexadecimal, short, long, other = match.groups()
    if octal or hexadecimal:
        byte = int(octal, 8) & 0xFF if octal else int(hexadecimal, 16)
        return chr(byte) if byte < 0x80 else chr(0xDC00 + byte)
    if short or long:
        return _code_point(int(short or long, 16))
    return _LETTERS.get(other, str(other)) if other is not None else "'"


def _code_point(number: int) -> str:
    if number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
        raise _bad_escape("invalid Unicode escape value", None)
    return chr(number)

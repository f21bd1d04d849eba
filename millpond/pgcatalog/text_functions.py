"""Functions of PostgreSQL on texts, numbers and arrays that SQLite lacks: pure, arrays as JSON texts."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import pyarrow as pa

from millpond.errors import MillpondError, SqlState
from millpond.pgcatalog.array_text import read_array, write_array
from millpond.types import SqlType
from millpond.values.arrays import pc

SERIES_MAX = 100_000
"""Elements of a series: catalogs count columns and such, and all of it is in memory."""

_CACHED_MATCHES = 10_000
_SIZES = ("kB", "MB", "GB", "TB", "PB")


def _array(text: str) -> list[Any]:
    elements = json.loads(text)
    assert isinstance(elements, list)
    return elements


# -- patterns: by Arrow's regular expressions, whose time no pattern can make explode ------------------------------


@lru_cache(_CACHED_MATCHES)
def _found(text: str, pattern: str, *, ignore_case: bool) -> bool:
    try:
        matches = pc.match_substring_regex(pa.array([text]), pattern, ignore_case=ignore_case)
    except pa.ArrowInvalid as failure:
        raise _invalid_pattern(failure) from None
    return bool(matches[0].as_py())


def _matches(text: object, pattern: str) -> bool:
    return _found(str(text), pattern, ignore_case=False)


def _imatches(text: object, pattern: str) -> bool:
    return _found(str(text), pattern, ignore_case=True)


@lru_cache(_CACHED_MATCHES)
def _liked(text: str, pattern: str, *, ignore_case: bool) -> bool:
    return bool(pc.match_like(pa.array([text]), pattern, ignore_case=ignore_case)[0].as_py())


def _with_escape(pattern: str, escape: str) -> str:
    """The pattern with a backslash as its escape, whatever it was before."""
    if escape == "\\":
        return pattern
    doubled = pattern.replace("\\", "\\\\")
    return doubled.replace(escape * 2, "\0").replace(escape, "\\").replace("\0", escape) if escape else doubled


def _like(text: object, pattern: str, escape: str = "\\") -> bool:
    return _liked(str(text), _with_escape(pattern, escape), ignore_case=False)


def _ilike(text: object, pattern: str, escape: str = "\\") -> bool:
    return _liked(str(text), _with_escape(pattern, escape), ignore_case=True)


def _regexp_split(text: str, pattern: str) -> str:
    try:
        parts = pc.split_pattern_regex(pa.array([text]), pattern)
    except pa.ArrowInvalid as failure:
        raise _invalid_pattern(failure) from None
    return json.dumps(parts[0].as_py())


def _invalid_pattern(failure: pa.ArrowInvalid) -> MillpondError:
    return MillpondError(SqlState.INVALID_REGULAR_EXPRESSION, f"invalid regular expression: {failure}")


def _regexp_replace(text: str, pattern: str, replacement: str, flags: str = "") -> str:
    most = None if "g" in flags else 1
    sensitive = f"(?i){pattern}" if "i" in flags else pattern
    try:
        replaced = pc.replace_substring_regex(pa.array([text]), sensitive, replacement, max_replacements=most)
    except pa.ArrowInvalid as failure:
        raise _invalid_pattern(failure) from None
    return str(replaced[0].as_py())


# -- texts -----------------------------------------------------------------------------------------------------------


def quote_ident(name: str) -> str:
    """A name in quotes if it needs them."""
    plain = name.isascii() and name.replace("_", "a").isalnum() and name == name.lower() and not name[:1].isdigit()
    return name if plain and name else '"' + name.replace('"', '""') + '"'


def _quote_literal(text: object) -> str:
    quoted = str(text).replace("'", "''")
    return f"E'{quoted}'".replace("\\", "\\\\") if "\\" in quoted else f"'{quoted}'"


def _split_part(text: str, separator: str, number: int) -> str:
    parts = text.split(separator) if separator else [text]
    place = number - 1 if number > 0 else len(parts) + number
    return parts[place] if 0 <= place < len(parts) else ""


def _left(text: str, count: int) -> str:
    return text[:count]


def _right(text: str, count: int) -> str:
    return text[-count:] if count > 0 else text[-count:] if count < 0 else ""


def _padded(text: str, length: int, fill: str, *, left: bool) -> str:
    missing = min(length, SERIES_MAX) - len(text)
    if missing <= 0 or not fill:
        return text[: max(length, 0)]
    filler = (fill * missing)[:missing]
    return filler + text if left else text + filler


def _translate(text: str, source: str, target: str) -> str:
    return text.translate(
        {ord(one): target[place] if place < len(target) else None for place, one in enumerate(source)}
    )


def _concat(*parts: object) -> str:
    return "".join(str(part) for part in parts if part is not None)


def _concat_ws(separator: str | None, *parts: object) -> str | None:
    return None if separator is None else separator.join(str(part) for part in parts if part is not None)


def _format(pattern: str, *values: object) -> str:
    """A text with values in it.

    >>> _format("%s FROM %I, %L%%", "a", "B c", None)
    'a FROM "B c", NULL%'
    """
    left = iter(values)

    def put(match: re.Match[str]) -> str:
        if match[1] == "%":
            return "%"
        value = next(left, None)
        if match[1] == "L":
            return "NULL" if value is None else _quote_literal(value)
        text = "" if value is None else str(value)
        return quote_ident(text) if match[1] == "I" else text

    return re.sub("%([sIL%])", put, pattern)


def _pg_size_pretty(size: int) -> str:
    """Bytes in the largest unit that leaves a number of some size.

    >>> _pg_size_pretty(8192), _pg_size_pretty(20 << 20)
    ('8192 bytes', '20 MB')
    """
    if abs(size) < 10 * 1024:
        return f"{size} bytes"
    value = float(size)
    for unit in _SIZES:
        value /= 1024
        if abs(value) < 10 * 1024 or unit == _SIZES[-1]:
            break
    return f"{value:.0f} {unit}"


# -- casts -----------------------------------------------------------------------------------------------------------


def _boolean(text: object) -> bool:
    word = str(text).strip().lower()
    if word in ("t", "true", "y", "yes", "on", "1"):
        return True
    if word in ("f", "false", "n", "no", "off", "0"):
        return False
    raise _invalid("boolean", text)


def _integer(text: object) -> int:
    try:
        return int(str(text))
    except ValueError:
        raise _invalid("integer", text) from None


def _divisor(number: float) -> float:
    """A number to divide by: SQLite would answer NULL."""
    if number == 0:
        raise MillpondError(SqlState.DIVISION_BY_ZERO, "division by zero")
    return number


def _invalid(kind: str, text: object) -> MillpondError:
    return MillpondError(SqlState.INVALID_TEXT_REPRESENTATION, f'invalid input syntax for type {kind}: "{text}"')


# -- arrays ----------------------------------------------------------------------------------------------------------


def _array_in(text: str, element: str) -> str:
    return json.dumps(read_array(text, SqlType(element)))


def _array_out(text: str, kind: str) -> str:
    return write_array(_array(text), SqlType(kind))


def _array_to_string(element: str, text: str, separator: str, null: str | None = None) -> str:
    words = [null if value is None else _shown(value, element) for value in _array(text)]
    return separator.join(word for word in words if word is not None)


def _shown(value: object, element: str) -> str:
    return ("t" if value else "f") if element == "boolean" else str(value)


def _element(text: str, place: int) -> object:
    elements = _array(text)
    return elements[place] if 0 <= place < len(elements) else None


def _length(text: str, dimension: int = 1) -> int | None:
    return len(_array(text)) or None if dimension == 1 else None


def _upper(text: str, dimension: int, first: int) -> int | None:
    length = _length(text, dimension)
    return None if length is None else first + length - 1


def _lower(text: str, dimension: int, first: int) -> int | None:
    return None if _length(text, dimension) is None else first


def _array_position(text: str, wanted: object) -> int | None:
    elements = _array(text)
    return elements.index(wanted) + 1 if wanted in elements else None


def _array_cat(one: str | None, other: str | None) -> str | None:
    if one is None or other is None:
        return one or other
    parts = [json.loads(text) if str(text).startswith("[") else text for text in (one, other)]
    lists = [part if isinstance(part, list) else [part] for part in parts]
    return json.dumps(lists[0] + lists[1])


def _string_to_array(text: str, separator: str | None, null: str | None = None) -> str:
    parts = list(text) if separator is None else text.split(separator) if separator else [text]
    return json.dumps([None if part == null else part for part in parts] if text else [])


def _series(first: int, last: int, step: int = 1) -> str:
    numbers = range(first, last + (1 if step > 0 else -1), step) if step else range(0)
    if len(numbers) > SERIES_MAX:
        message = f"a series in a query about the catalog has at most {SERIES_MAX} elements"
        raise MillpondError(SqlState.PROGRAM_LIMIT_EXCEEDED, message)
    return json.dumps(list(numbers))


def _options(text: str) -> str:
    """Options as rows: `capacity=1000` is a name and a value."""
    pairs = [str(option).partition("=") for option in _array(text)]
    return json.dumps([{"option_name": name, "option_value": value or None} for name, _, value in pairs])


def _json_build_object(*parts: object) -> str:
    return json.dumps(dict(zip(map(str, parts[::2]), parts[1::2], strict=False)))


TEXT_FUNCTIONS: Mapping[str, Callable[..., object]] = {
    "mp_matches": _matches,
    "mp_imatches": _imatches,
    "mp_like": _like,
    "mp_ilike": _ilike,
    "mp_boolean": _boolean,
    "mp_integer": _integer,
    "mp_divisor": _divisor,
    "mp_array_in": _array_in,
    "mp_array_out": _array_out,
    "mp_array_to_string": _array_to_string,
    "mp_element": _element,
    "mp_series": _series,
    "mp_options": _options,
    "regexp_replace": _regexp_replace,
    "regexp_split_to_array": _regexp_split,
    "quote_ident": quote_ident,
    "quote_literal": _quote_literal,
    "split_part": _split_part,
    "left": _left,
    "right": _right,
    "lpad": lambda text, length, fill=" ": _padded(text, length, fill, left=True),
    "rpad": lambda text, length, fill=" ": _padded(text, length, fill, left=False),
    "translate": _translate,
    "lower": lambda text: str(text).lower(),
    "upper": lambda text: str(text).upper(),
    "initcap": lambda text: str(text).title(),
    "btrim": lambda text, characters=" ": str(text).strip(characters),
    "repeat": lambda text, count: text * min(max(count, 0), SERIES_MAX),
    "reverse": lambda text: text[::-1],
    "md5": lambda text: hashlib.md5(text.encode(), usedforsecurity=False).hexdigest(),
    "chr": chr,
    "ascii": lambda text: ord(text[0]) if text else 0,
    "strpos": lambda text, part: str(text).find(part) + 1,
    "char_length": lambda text: len(str(text)),
    "character_length": lambda text: len(str(text)),
    "starts_with": lambda text, start: text.startswith(start),
    "pg_size_pretty": _pg_size_pretty,
    "array_length": _length,
    "array_upper": _upper,
    "array_lower": _lower,
    "array_ndims": lambda text: 1 if _array(text) else None,
    "cardinality": lambda text: len(_array(text)),
    "array_position": _array_position,
    "array_remove": lambda text, gone: json.dumps([one for one in _array(text) if one != gone]),
    "array_append": _array_cat,
    "array_prepend": lambda one, other: _array_cat(json.dumps([one]), other),
    "string_to_array": _string_to_array,
    "parse_ident": lambda text: json.dumps([part.strip('"') for part in text.split(".")]),
}
"""Functions that are NULL if an argument is."""

NULLABLE_FUNCTIONS: Mapping[str, Callable[..., object]] = {
    "concat": _concat,
    "format": _format,
    "concat_ws": _concat_ws,
    "quote_nullable": lambda value: "NULL" if value is None else _quote_literal(value),
    "array_cat": _array_cat,
    "json_build_object": _json_build_object,
    "jsonb_build_object": _json_build_object,
    "mp_greatest": lambda *values: max((value for value in values if value is not None), default=None),
    "mp_least": lambda *values: min((value for value in values if value is not None), default=None),
}
"""Functions that take NULL for what it is."""

"""PostgreSQL's input functions for text, varchar, char and bytea."""

from __future__ import annotations

import re

import pyarrow as pa

from millpond.errors import MillpondError, SqlState
from millpond.types import SqlType
from millpond.values.arrays import Array, any_true, pc

_ESCAPED_BYTE = re.compile(r"\\(?:(\\)|([0-3][0-7]{2}))|\\")


def texts_of(texts: Array, type: SqlType) -> Array:
    return texts.cast(type.arrow)


def text_of(text: str, type: SqlType) -> str:
    """Fits `varchar(n)` and `char(n)`: trailing blanks beyond the length are cut, anything else is too long."""
    if type.name == "char":
        text = text.rstrip(" ")
    if type.length is not None and len(text) > type.length:
        if text[type.length :].strip(" "):
            raise MillpondError(SqlState.STRING_DATA_RIGHT_TRUNCATION, f"value too long for type {type}")
        return text[: type.length]
    return text


def varchars(texts: Array, type: SqlType) -> Array:
    return _within(texts, type)


def chars(texts: Array, type: SqlType) -> Array:
    if any_true(pc.ends_with(texts, " ")):
        texts = pc.utf8_rtrim(texts, " ")
    return _within(texts, type)


def _within(texts: Array, type: SqlType) -> Array:
    if type.length is not None and any_true(pc.greater(pc.utf8_length(texts), type.length)):
        raise pa.ArrowInvalid("some are longer")
    return texts


BYTEA_COMMON = r"^[^\\]*$"


def byteas(texts: Array, type: SqlType) -> Array:
    """Texts without a backslash are their own bytes."""
    if any_true(pc.match_substring(texts, "\\")):
        raise pa.ArrowInvalid("escapes")
    return texts.cast(type.arrow)


def bytea(text: str, type: SqlType) -> bytes:
    return _from_hex(text) if text.startswith("\\x") else _from_escapes(text, type)


def _from_hex(text: str) -> bytes:
    try:
        return bytes.fromhex(text[2:])
    except ValueError:
        raise _bad_hex(text[2:]) from None


def _bad_hex(digits: str) -> MillpondError:
    wrong = re.search(r"[^0-9a-fA-F \t\n\r]", digits)
    what = f'digit: "{wrong[0]}"' if wrong else "data: odd number of digits"
    return MillpondError(SqlState.INVALID_PARAMETER_VALUE, f"invalid hexadecimal {what}")


def _from_escapes(text: str, type: SqlType) -> bytes:
    parts: list[bytes] = []
    start = 0
    for match in _ESCAPED_BYTE.finditer(text):
        if match[1] is None and match[2] is None:
            raise MillpondError(SqlState.INVALID_TEXT_REPRESENTATION, f"invalid input syntax for type {type}")
        parts += (text[start : match.start()].encode(), b"\\" if match[1] else bytes([int(match[2], 8)]))
        start = match.end()
    return b"".join((*parts, text[start:].encode()))

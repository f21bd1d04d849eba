"""Types as clients know them: PostgreSQL's oids, sizes and modifiers, and back."""

from __future__ import annotations

import uuid
from collections.abc import Callable

from millpond import types
from millpond.errors import MillpondError, SqlState, not_supported
from millpond.oids import ARRAYS, SCALARS, modifier_of, oid_of, size_of
from millpond.result import ResultColumn
from millpond.types import SqlType, array_of
from millpond.wire.backend import Field

TEXT_FORMAT, BINARY_FORMAT = 0, 1

_UNTYPED_OIDS = frozenset({0, 705})
"""Unspecified, and PostgreSQL's pseudo-type "unknown"."""

_UUID = 2950

_TYPES: dict[int, SqlType] = {
    **{oid: SqlType(name) for name, (oid, _) in SCALARS.items()},
    **{oid: array_of(SqlType(name)) for name, oid in ARRAYS.items()},
    1042: types.TEXT,  # a parameter has no length, and char alone would mean one character
    18: types.TEXT,  # "char"
    19: types.TEXT,  # name
    26: types.BIGINT,  # oid
    114: types.TEXT,  # json
    _UUID: types.TEXT,
    3802: types.TEXT,  # jsonb
    1028: array_of(types.BIGINT),  # oid[]
    1014: array_of(types.TEXT),  # char[], which has no length either
    1002: array_of(types.TEXT),  # "char"[]
    1003: array_of(types.TEXT),  # name[]
    199: array_of(types.TEXT),  # json[]
}
"""The type that a parameter declared with an oid has here."""


def _jsonb_text(value: bytes) -> str:
    """The text behind the number of the format, of which there is one."""
    if value[:1] != b"\1":
        message = f"unsupported jsonb version number {value[:1].hex() or 'none'}"
        raise MillpondError(SqlState.INVALID_BINARY_REPRESENTATION, message)
    return value[1:].decode()


def _uuid_text(value: bytes) -> str:
    if len(value) != 16:
        raise MillpondError(SqlState.INVALID_BINARY_REPRESENTATION, "incorrect binary data format")
    return str(uuid.UUID(bytes=value))


def _oids_text(value: bytes) -> str:
    """An array of oids: the head of 20 bytes, then each behind its length."""
    return "{" + ",".join(str(int.from_bytes(value[at + 4 : at + 8], "big")) for at in range(20, len(value), 8)) + "}"


_BINARY_TEXTS: dict[int, Callable[[bytes], str]] = {
    26: lambda value: str(int.from_bytes(value, "big")),
    1028: _oids_text,
    _UUID: _uuid_text,
    3802: _jsonb_text,
}
"""How to read declared types whose binary form is not that of the type that stands for them here."""


def type_of_parameter(oid: int) -> SqlType | None:
    """The type of a declared parameter; None if the statement has to decide."""
    if oid in _UNTYPED_OIDS:
        return None
    if oid not in _TYPES:
        raise not_supported(f"a parameter of the type with OID {oid}", hint="Send it as text, without a type.")
    return _TYPES[oid]


def text_of_text(oid: int, text: str) -> str:
    """The text of a parameter as its declared type would print it, where we have only text for that type."""
    if oid != _UUID:
        return text
    try:
        return str(uuid.UUID(text))
    except ValueError:
        message = f'invalid input syntax for type uuid: "{text}"'
        raise MillpondError(SqlState.INVALID_TEXT_REPRESENTATION, message) from None


READ_AS_TEXT = frozenset(_BINARY_TEXTS)


def text_of_binary(oid: int, value: bytes) -> str:
    """The text of a binary parameter that was declared as one of the types that are read as text."""
    return _BINARY_TEXTS[oid](value)


def field_of(column: ResultColumn, format: int) -> Field:
    """A result's column as RowDescription announces it."""
    kind = column.type
    return Field(column.name, oid_of(kind), size_of(kind), modifier_of(kind), format)

"""Types as clients know them: PostgreSQL's oids, sizes and modifiers, and back."""

from __future__ import annotations

from millpond import types
from millpond.errors import not_supported
from millpond.oids import SCALARS, modifier_of, oid_of, size_of
from millpond.result import ResultColumn
from millpond.types import SqlType
from millpond.wire.backend import Field

TEXT_FORMAT, BINARY_FORMAT = 0, 1

_UNTYPED_OIDS = frozenset({0, 705})
"""Unspecified, and PostgreSQL's pseudo-type "unknown"."""

_TYPES: dict[int, SqlType] = {
    **{oid: SqlType(name) for name, (oid, _) in SCALARS.items()},
    1042: types.TEXT,  # a parameter has no length, and char alone would mean one character
    18: types.TEXT,  # "char"
    19: types.TEXT,  # name
    26: types.BIGINT,  # oid
    114: types.TEXT,  # json
    2950: types.TEXT,  # uuid
    3802: types.TEXT,  # jsonb
}
"""The type that a parameter declared with an oid has here."""

_TEXT_ONLY_OIDS = frozenset({26, 2950, 3802})
"""Declared types whose binary form is not that of the type that stands for them here."""


def type_of_parameter(oid: int) -> SqlType | None:
    """The type of a declared parameter; None if the statement has to decide."""
    if oid in _UNTYPED_OIDS:
        return None
    if oid not in _TYPES:
        raise not_supported(f"a parameter of the type with OID {oid}", hint="Send it as text, without a type.")
    return _TYPES[oid]


def takes_binary(oid: int) -> bool:
    """Whether a parameter declared with an oid may come in binary."""
    return oid not in _TEXT_ONLY_OIDS


def field_of(column: ResultColumn, format: int) -> Field:
    """A result's column as RowDescription announces it."""
    kind = column.type
    return Field(column.name, oid_of(kind), size_of(kind), modifier_of(kind), format)

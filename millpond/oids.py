"""PostgreSQL's numbers for types, by which clients know them."""

from __future__ import annotations

from millpond.types import SqlType

_BOUNDLESS = -1

SCALARS = {
    "boolean": (16, 1),
    "bytea": (17, _BOUNDLESS),
    "bigint": (20, 8),
    "smallint": (21, 2),
    "integer": (23, 4),
    "text": (25, _BOUNDLESS),
    "real": (700, 4),
    "double precision": (701, 8),
    "char": (1042, _BOUNDLESS),
    "varchar": (1043, _BOUNDLESS),
    "date": (1082, 4),
    "timestamp": (1114, 8),
    "timestamptz": (1184, 8),
    "interval": (1186, 16),
    "numeric": (1700, _BOUNDLESS),
}
"""The oid of each type, and the bytes that one of its values takes."""

ARRAYS = {
    "boolean": 1000,
    "bytea": 1001,
    "bigint": 1016,
    "smallint": 1005,
    "integer": 1007,
    "text": 1009,
    "real": 1021,
    "double precision": 1022,
    "char": 1014,
    "varchar": 1015,
    "date": 1182,
    "timestamp": 1115,
    "timestamptz": 1185,
    "interval": 1187,
    "numeric": 1231,
}
"""The oid of the array of each type."""


def oid_of(sql_type: SqlType) -> int:
    """The oid of a type."""
    return ARRAYS[sql_type.element.name] if sql_type.is_array else SCALARS[sql_type.name][0]


def size_of(sql_type: SqlType) -> int:
    """The bytes that each value of the type takes; -1 if that depends on the value."""
    return _BOUNDLESS if sql_type.is_array else SCALARS[sql_type.name][1]

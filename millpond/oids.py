"""PostgreSQL's numbers for types, by which clients know them."""

from __future__ import annotations

from dataclasses import replace

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

_CATALOG_SCALARS = {
    '"char"': (18, 1),
    "name": (19, 64),
    "int2vector": (22, _BOUNDLESS),
    "oid": (26, 4),
    "oidvector": (30, _BOUNDLESS),
    "json": (114, _BOUNDLESS),
}
_CATALOG_ARRAYS = {'"char"': 1002, "name": 1003, "oid": 1028}
"""The same for types that only the system catalogs have."""

_MODIFIER_HEADER = 4
"""PostgreSQL adds the size of a header to the length or the precision that a modifier holds."""

_KNOWN = {**SCALARS, **_CATALOG_SCALARS}
_KNOWN_ARRAYS = {**ARRAYS, **_CATALOG_ARRAYS}


def oid_of(sql_type: SqlType) -> int:
    """The oid of a type."""
    return _KNOWN_ARRAYS[sql_type.element.name] if sql_type.is_array else _KNOWN[sql_type.name][0]


def size_of(sql_type: SqlType) -> int:
    """The bytes that each value of the type takes; -1 if that depends on the value."""
    return _BOUNDLESS if sql_type.is_array else _KNOWN[sql_type.name][1]


def modifier_of(sql_type: SqlType) -> int:
    """The length or the precision and scale of a type, as a number; -1 if it has none."""
    if sql_type.length is not None:
        return sql_type.length + _MODIFIER_HEADER
    if sql_type.name in ("numeric", "numeric[]") and sql_type.precision is not None:
        return (sql_type.precision << 16 | (sql_type.scale or 0)) + _MODIFIER_HEADER
    return -1


def with_modifier(sql_type: SqlType, modifier: int) -> SqlType:
    """A type with the length or the precision and scale that a modifier holds.

    >>> str(with_modifier(SqlType("varchar"), 24)), str(with_modifier(SqlType("numeric"), 655366))
    ('character varying(20)', 'numeric(10,2)')
    """
    size = modifier - _MODIFIER_HEADER
    name = sql_type.name.removesuffix("[]")
    if size < 0 or name not in ("varchar", "char", "numeric"):
        return sql_type
    if name == "numeric":
        return replace(sql_type, precision=size >> 16, scale=size & 0xFFFF)
    return replace(sql_type, length=size)

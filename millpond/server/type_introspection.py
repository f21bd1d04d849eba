"""What asyncpg asks before it uses an array: a recursive query over pg_type, which is answered from our own table.

The query walks through domains, ranges and composite types, of which there are none: all that it can find are arrays.
Running it as it is would cost each connection some seconds of Spark.
"""

from __future__ import annotations

from collections.abc import Sequence

from millpond.oids import ARRAYS, SCALARS
from millpond.sql.sql_types import INTERNAL_NAMES
from millpond.types import SqlType

_BEGINS = "WITH RECURSIVE typeinfo_tree("
OID_ARRAY = 1028


def answerable(text: str, oids: Sequence[int]) -> tuple[str, Sequence[int]]:
    """A statement's text and the types of its parameters, or those of one that answers the same from what we have."""
    return (_QUERY, [OID_ARRAY]) if text.startswith(_BEGINS) else (text, oids)


def _row(name: str, oid: int) -> str:
    return f"({oid}, '_{INTERNAL_NAMES.get(name, name)}', {SCALARS[name][0]}, '{SqlType(name)}')"


_QUERY = f"""
SELECT oid, 'pg_catalog' AS ns, name, 'b' AS kind, NULL::bigint AS basetype, elemtype, ',' AS elemdelim,
  NULL::bigint AS range_subtype, NULL::text[] AS attrtypoids, NULL::text[] AS attrnames, 0 AS depth,
  NULL::text AS basetype_name, elemtype_name, NULL::text AS range_subtype_name
FROM (VALUES {", ".join(_row(name, oid) for name, oid in ARRAYS.items())}) AS known (oid, name, elemtype, elemtype_name)
WHERE oid = ANY ($1)
"""

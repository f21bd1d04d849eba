"""The rows of information_schema's relations; see `rows` for how a row is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from millpond.namespace import Namespace
from millpond.pgcatalog.objects import DATABASE, PUBLIC, SCHEMAS, CatalogRelation, Objects, SessionFacts
from millpond.pgcatalog.privileges import PRIVILEGE_ROWS
from millpond.pgcatalog.relation_rows import type_row
from millpond.pgcatalog.rows import Row, RowsOf
from millpond.relation import Column
from millpond.roles import FIRST_ROLE
from millpond.types import SqlType

_TABLE_TYPES = {"r": "BASE TABLE", "f": "FOREIGN", "v": "VIEW"}
_BITS = {"smallint": 16, "integer": 32, "bigint": 64, "real": 24, "double precision": 53}
_FRACTION_DIGITS = 6
_CHARACTER_BYTES_MAX = 4
_TEXT_BYTES_MAX = 1 << 30
_PRIVILEGES = ("INSERT", "SELECT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER")
SERVER, WRAPPER = "stream", "millpond"


def _yes(value: bool) -> str:
    return "YES" if value else "NO"


def _named(prefix: str, name: str, schema: str = PUBLIC) -> dict[str, Any]:
    """The three columns that name an object: `table_catalog`, `table_schema`, `table_name`."""
    return {f"{prefix}_catalog": DATABASE, f"{prefix}_schema": schema, f"{prefix}_name": name}


def _catalog_name(_objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    yield {"catalog_name": DATABASE}


def _schemata(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for name in SCHEMAS:
        schema = objects.namespaces.get(("schema", name), Namespace("schema", name))
        yield {"catalog_name": DATABASE, "schema_name": name, "schema_owner": schema.owner}


def _tables(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for one in objects.all:
        is_writable = one.relation is not None and one.kind in "rf"
        yield _named("table", one.name, one.schema) | {
            "table_type": _TABLE_TYPES[one.kind],
            "is_insertable_into": _yes(is_writable),
            "is_typed": "NO",
        }


def _columns(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for one in objects.all:
        for number, column in enumerate(one.columns, start=1):
            yield _column(one, number, column)


def _column(one: CatalogRelation, number: int, column: Column) -> Row:
    kind = column.type
    return _named("table", one.name, one.schema) | {
        "column_name": column.name,
        "ordinal_position": number,
        "column_default": column.default,
        "is_nullable": _yes(not column.not_null),
        "data_type": "ARRAY" if kind.is_array else str(SqlType(kind.name)),
        "character_maximum_length": kind.length,
        "character_octet_length": _octets(kind),
        "numeric_precision": kind.precision or _BITS.get(kind.name),
        "numeric_precision_radix": 10 if kind.name == "numeric" else 2 if kind.name in _BITS else None,
        "numeric_scale": kind.scale if kind.name == "numeric" else 0 if kind.is_integer else None,
        "datetime_precision": _datetime_precision(kind),
        **_named("udt", type_row(kind).name, "pg_catalog"),
        "dtd_identifier": str(number),
        "is_self_referencing": "NO",
        "is_identity": "NO",
        "identity_cycle": "NO",
        "is_generated": "NEVER",
        "is_updatable": _yes(one.relation is not None and one.kind in "rf"),
    }


def _octets(kind: SqlType) -> int | None:
    if not kind.is_string:
        return None
    return _TEXT_BYTES_MAX if kind.length is None else kind.length * _CHARACTER_BYTES_MAX


def _datetime_precision(kind: SqlType) -> int | None:
    return 0 if kind.name == "date" else _FRACTION_DIGITS if kind.name in ("timestamp", "timestamptz") else None


def _views(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for one in objects.all:
        if one.kind == "v":
            yield _named("table", one.name, one.schema) | {
                "view_definition": _definition(objects, one),
                "check_option": "NONE",
                **dict.fromkeys(("is_updatable", "is_insertable_into", "is_trigger_updatable"), "NO"),
                **dict.fromkeys(("is_trigger_deletable", "is_trigger_insertable_into"), "NO"),
            }


def _definition(objects: Objects, one: CatalogRelation) -> str | None:
    """The text of a view, for those who own it."""
    return one.relation.definition if one.relation is not None and objects.authority.owns(one.relation) else None


def _table_constraints(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    named = [(key.table.name, key.key.name, "PRIMARY KEY" if key.key.primary else "UNIQUE") for key in objects.keys]
    named += [(check.table.name, check.check.name, "CHECK") for check in objects.checks]
    for table, name, kind in named:
        yield (
            _named("constraint", name)
            | _named("table", table)
            | {
                "constraint_type": kind,
                "is_deferrable": "NO",
                "initially_deferred": "NO",
                "enforced": "YES",
                "nulls_distinct": "YES" if kind == "UNIQUE" else None,
            }
        )


def _key_columns(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for key in objects.keys:
        for position, column in enumerate(key.key.columns, start=1):
            yield (
                _named("constraint", key.key.name)
                | _named("table", key.table.name)
                | {
                    "column_name": column,
                    "ordinal_position": position,
                }
            )


def _constraint_columns(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for key in objects.keys:
        for column in key.key.columns:
            yield _named("constraint", key.key.name) | _named("table", key.table.name) | {"column_name": column}


def _constraint_tables(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for key in objects.keys:
        yield _named("table", key.table.name) | _named("constraint", key.key.name)


def _check_constraints(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for check in objects.checks:
        yield _named("constraint", check.check.name) | {"check_clause": check.check.expression}


def _foreign_tables(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for one, _ in objects.of_kind("stream"):
        server = {"foreign_server_catalog": DATABASE, "foreign_server_name": SERVER}
        yield _named("foreign_table", one.name) | server


def _foreign_table_options(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for one, relation in objects.of_kind("stream"):
        for name, value in relation.options.items():
            yield _named("foreign_table", one.name) | {"option_name": name, "option_value": value}


def _foreign_servers(_objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    wrapper = {"foreign_data_wrapper_catalog": DATABASE, "foreign_data_wrapper_name": WRAPPER}
    owner = {"authorization_identifier": FIRST_ROLE}
    yield {"foreign_server_catalog": DATABASE, "foreign_server_name": SERVER} | wrapper | owner


def _foreign_wrappers(_objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    yield {
        "foreign_data_wrapper_catalog": DATABASE,
        "foreign_data_wrapper_name": WRAPPER,
        "authorization_identifier": FIRST_ROLE,
        "foreign_data_wrapper_language": "c",
    }


def _character_sets(_objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    yield {
        "character_set_name": "UTF8",
        "character_repertoire": "UCS",
        "form_of_use": "UTF8",
        "default_collate_catalog": DATABASE,
        "default_collate_schema": "pg_catalog",
        "default_collate_name": "C.UTF-8",
    }


INFORMATION_ROWS: Mapping[str, RowsOf] = {
    "information_schema_catalog_name": _catalog_name,
    "schemata": _schemata,
    "tables": _tables,
    "columns": _columns,
    "views": _views,
    "table_constraints": _table_constraints,
    "key_column_usage": _key_columns,
    "constraint_column_usage": _constraint_columns,
    "constraint_table_usage": _constraint_tables,
    "check_constraints": _check_constraints,
    **PRIVILEGE_ROWS,
    "foreign_tables": _foreign_tables,
    "foreign_table_options": _foreign_table_options,
    "foreign_servers": _foreign_servers,
    "foreign_data_wrappers": _foreign_wrappers,
    "character_sets": _character_sets,
}

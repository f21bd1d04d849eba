"""The rows of pg_catalog's relations that tell of the pond's relations: pg_class, pg_attribute, pg_index and such."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from millpond.namespace import Namespace
from millpond.oids import modifier_of
from millpond.pgcatalog.objects import (
    OWNER_OID,
    SCHEMAS,
    CatalogKey,
    CatalogRelation,
    Objects,
    SessionFacts,
    derived_oid,
)
from millpond.pgcatalog.rows import BTREE, HEAP, INTEGER_OPERATORS, SERVER_OID, WRAPPER_OID, Row, RowsOf, shown_acl
from millpond.pgcatalog.text_functions import quote_ident
from millpond.pgcatalog.types import BY_SQL_NAME, PgType
from millpond.relation import Column
from millpond.types import SqlType


def _namespaces(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for name, oid in SCHEMAS.items():
        schema = objects.namespaces.get(("schema", name), Namespace("schema", name))
        owner, acl = objects.owner_oid(schema), shown_acl(schema.acl)
        yield {"oid": oid, "nspname": name, "nspowner": owner, "nspacl": acl}


# -- relations ---------------------------------------------------------------------------------------------------------


def _classes(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for one in objects.all:
        relation = one.relation
        is_table = one.kind == "r"
        yield {
            "oid": one.oid,
            "relname": one.name,
            "relnamespace": one.schema_oid,
            "relowner": objects.owner_oid(one),
            "relacl": shown_acl(relation.acl) if relation is not None else None,
            "relam": HEAP if is_table else 0,
            "relfilenode": one.oid if is_table else 0,
            "reltuples": -1,
            "relhasindex": relation is not None and bool(relation.keys),
            "relpersistence": "p",
            "relkind": one.kind,
            "relnatts": len(one.columns),
            "relchecks": len(relation.checks) if relation is not None else 0,
            "relhasrules": one.kind == "v",
            "relispopulated": True,
            "relreplident": "d" if relation is not None and is_table else "n",
            "reloptions": _view_options(one),
        }
    for key in objects.keys:
        yield {
            "oid": key.index_oid,
            "relname": key.key.name,
            "relnamespace": SCHEMAS[key.table.schema],
            "relowner": objects.owner_oid(key.table),
            "relam": BTREE,
            "relfilenode": key.index_oid,
            "relpersistence": "p",
            "relkind": "i",
            "relnatts": len(key.key.columns),
            "relispopulated": True,
            "relreplident": "n",
        }


def _view_options(one: CatalogRelation) -> list[str] | None:
    is_view = one.relation is not None and one.kind == "v"
    options = _options(one) if is_view else []
    return options or None


def _options(one: CatalogRelation) -> list[str]:
    assert one.relation is not None
    return [f"{name}={value}" for name, value in one.relation.options.items()]


def _attributes(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for one in objects.all:
        for number, column in enumerate(one.columns, start=1):
            yield _attribute(one.oid, number, column)
    for key in objects.keys:
        for number, name in enumerate(key.key.columns, start=1):
            keyed = key.table.column(name)
            assert keyed is not None, "keys name columns"
            yield _attribute(key.index_oid, number, Column(keyed.name, keyed.type))


def _attribute(relation_oid: int, number: int, column: Column) -> Row:
    kind = type_row(column.type)
    return {
        "attrelid": relation_oid,
        "attname": column.name,
        "atttypid": kind.oid,
        "attstattarget": -1,
        "attlen": kind.length,
        "attnum": number,
        "attcacheoff": -1,
        "atttypmod": modifier_of(column.type),
        "attbyval": kind.by_value,
        "attalign": kind.alignment,
        "attstorage": kind.storage,
        "attnotnull": column.not_null,
        "atthasdef": column.default is not None,
        "attislocal": True,
        "attcollation": kind.collation,
        "attndims": int(column.type.is_array),
    }


def type_row(sql_type: SqlType) -> PgType:
    """The type without its length or precision."""
    return BY_SQL_NAME[sql_type.name]


def _defaults(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for one in objects.own:
        for number, column in enumerate(one.columns, start=1):
            if column.default is not None and one.relation is not None:
                oid = derived_oid(one.relation, 255 - number % 64)
                yield {"oid": oid, "adrelid": one.oid, "adnum": number, "adbin": column.default}


def _indexes(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for key in objects.keys:
        count = len(key.key.columns)
        yield {
            "indexrelid": key.index_oid,
            "indrelid": key.table.oid,
            "indnatts": count,
            "indnkeyatts": count,
            "indisunique": True,
            "indisprimary": key.key.primary,
            "indimmediate": True,
            "indisvalid": True,
            "indisready": True,
            "indislive": True,
            "indkey": list(key.numbers),
            "indcollation": [0] * count,
            "indclass": [INTEGER_OPERATORS] * count,
            "indoption": [0] * count,
        }


def _constraints(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for key in objects.keys:
        kind = "p" if key.key.primary else "u"
        yield _constraint(key.constraint_oid, key.key.name, kind, key.table.oid, list(key.numbers)) | {
            "conindid": key.index_oid
        }
    for check in objects.checks:
        row = _constraint(check.oid, check.check.name, "c", check.table.oid, None)
        yield row | {"conbin": check.check.expression}


def _constraint(oid: int, name: str, kind: str, table_oid: int, columns: list[int] | None) -> dict[str, Any]:
    return {
        "oid": oid,
        "conname": name,
        "connamespace": SCHEMAS["public"],
        "contype": kind,
        "convalidated": True,
        "conrelid": table_oid,
        "confupdtype": " ",
        "confdeltype": " ",
        "confmatchtype": " ",
        "conislocal": True,
        "connoinherit": kind != "c",
        "conkey": columns,
    }


def _rewrites(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    """Each view has a rule in PostgreSQL, from which clients find what it depends on."""
    for one, relation in objects.of_kind("view", "continuous"):
        oid = derived_oid(relation, 0)
        yield {
            "oid": oid,
            "rulename": "_RETURN",
            "ev_class": one.oid,
            "ev_type": "1",
            "ev_enabled": "O",
            "is_instead": True,
        }


def _index_definitions(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for key in objects.keys:
        yield {
            "schemaname": key.table.schema,
            "tablename": key.table.name,
            "indexname": key.key.name,
            "indexdef": index_definition(key),
        }


def index_definition(key: CatalogKey) -> str:
    """The statement that would make a key's index."""
    columns = ", ".join(quote_ident(name) for name in key.key.columns)
    table = f"{key.table.schema}.{quote_ident(key.table.name)}"
    return f"CREATE UNIQUE INDEX {quote_ident(key.key.name)} ON {table} USING btree ({columns})"


def _tables(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for one in objects.all:
        if one.kind == "r":
            keys = one.relation is not None and bool(one.relation.keys)
            yield {"schemaname": one.schema, "tablename": one.name, "tableowner": one.owner, "hasindexes": keys}


def _views(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for one in objects.all:
        if one.kind == "v":
            definition = one.relation.definition if one.relation is not None else None
            yield {
                "schemaname": one.schema,
                "viewname": one.name,
                "viewowner": one.owner,
                "definition": None if definition is None else f"{definition};",
            }


def _statistics(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for one, _ in objects.of_kind("table"):
        yield {"relid": one.oid, "schemaname": one.schema, "relname": one.name}


# -- streams as foreign tables -----------------------------------------------------------------------------------------


def _foreign_tables(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for one, _ in objects.of_kind("stream"):
        yield {"ftrelid": one.oid, "ftserver": SERVER_OID, "ftoptions": _options(one)}


def _foreign_servers(_objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    yield {"oid": SERVER_OID, "srvname": "stream", "srvowner": OWNER_OID, "srvfdw": WRAPPER_OID}


def _foreign_wrappers(_objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    yield {"oid": WRAPPER_OID, "fdwname": "millpond", "fdwowner": OWNER_OID}


RELATION_ROWS: Mapping[str, RowsOf] = {
    "pg_namespace": _namespaces,
    "pg_class": _classes,
    "pg_attribute": _attributes,
    "pg_attrdef": _defaults,
    "pg_index": _indexes,
    "pg_indexes": _index_definitions,
    "pg_constraint": _constraints,
    "pg_rewrite": _rewrites,
    "pg_tables": _tables,
    "pg_views": _views,
    "pg_stat_user_tables": _statistics,
    "pg_stat_all_tables": _statistics,
    "pg_foreign_table": _foreign_tables,
    "pg_foreign_server": _foreign_servers,
    "pg_foreign_data_wrapper": _foreign_wrappers,
}

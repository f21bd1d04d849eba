"""The rows of pg_catalog's relations, as far as a pond has something that corresponds.

A row names the columns that matter; the others are what `DEFAULTS` says of their types and names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from millpond.oids import modifier_of
from millpond.pgcatalog.objects import (
    DATABASE,
    DATABASE_OID,
    OWNER_OID,
    SCHEMAS,
    CatalogKey,
    CatalogRelation,
    Objects,
    SessionFacts,
    derived_oid,
)
from millpond.pgcatalog.types import BY_SQL_NAME, TYPES, PgType
from millpond.relation import Column
from millpond.types import SqlType

Row = Mapping[str, Any]
RowsOf = Callable[[Objects, SessionFacts], Iterator[Row]]

BTREE, HEAP = 403, 2
SERVER_OID, WRAPPER_OID = 16000, 16001
SQL_LANGUAGE, INTERNAL_LANGUAGE = 14, 12
DEFAULT_TABLESPACE, GLOBAL_TABLESPACE = 1663, 1664
UTF8 = 6
INTEGER_OPERATORS = 1978
"""What stands for the operator class of every index."""


def _namespaces(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for name, oid in SCHEMAS.items():
        yield {"oid": oid, "nspname": name, "nspowner": OWNER_OID}


# -- relations ---------------------------------------------------------------------------------------------------------


def _classes(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for one in objects.all:
        relation = one.relation
        is_table = one.kind == "r"
        yield {
            "oid": one.oid,
            "relname": one.name,
            "relnamespace": one.schema_oid,
            "relowner": OWNER_OID,
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
            "relowner": OWNER_OID,
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
            column = key.table.column(name)
            assert column is not None, "keys name columns"
            yield _attribute(key.index_oid, number, Column(column.name, column.type))


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
    columns = ", ".join(quoted_name(name) for name in key.key.columns)
    table = f"{key.table.schema}.{quoted_name(key.table.name)}"
    return f"CREATE UNIQUE INDEX {quoted_name(key.key.name)} ON {table} USING btree ({columns})"


def quoted_name(name: str) -> str:
    """A name as PostgreSQL prints it: in quotes only if it needs them."""
    plain = name.isascii() and name.replace("_", "a").isalnum() and name == name.lower() and not name[:1].isdigit()
    return name if plain else '"' + name.replace('"', '""') + '"'


def _tables(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for one in objects.all:
        if one.kind == "r":
            keys = one.relation is not None and bool(one.relation.keys)
            yield {"schemaname": one.schema, "tablename": one.name, "tableowner": "millpond", "hasindexes": keys}


def _views(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for one in objects.all:
        if one.kind == "v":
            definition = one.relation.definition if one.relation is not None else None
            yield {
                "schemaname": one.schema,
                "viewname": one.name,
                "viewowner": "millpond",
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


# -- types -------------------------------------------------------------------------------------------------------------


def _types(_objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for kind in TYPES:
        given, out, receive, send = kind.functions
        yield {
            "oid": kind.oid,
            "typname": kind.name,
            "typnamespace": SCHEMAS["pg_catalog"],
            "typowner": OWNER_OID,
            "typlen": kind.length,
            "typbyval": kind.by_value,
            "typtype": "p" if kind.is_pseudo else "b",
            "typcategory": kind.category,
            "typispreferred": kind.is_preferred,
            "typisdefined": True,
            "typdelim": ",",
            "typelem": kind.element_oid,
            "typarray": kind.array_oid,
            "typinput": FUNCTION_OIDS[given],
            "typoutput": FUNCTION_OIDS[out],
            "typreceive": FUNCTION_OIDS[receive],
            "typsend": FUNCTION_OIDS[send],
            "typalign": kind.alignment,
            "typstorage": kind.storage,
            "typtypmod": -1,
            "typcollation": kind.collation,
        }


def _functions_of_types() -> dict[str, int]:
    names = dict.fromkeys(name for kind in TYPES for name in kind.functions)
    return {name: 9000 + place for place, name in enumerate(names)}


FUNCTION_OIDS = _functions_of_types()
"""The functions that pg_type names, as regproc knows them."""


def _functions(_objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for name, oid in FUNCTION_OIDS.items():
        yield {
            "oid": oid,
            "proname": name,
            "pronamespace": SCHEMAS["pg_catalog"],
            "proowner": OWNER_OID,
            "prolang": INTERNAL_LANGUAGE,
            "procost": 1,
            "prokind": "f",
            "proisstrict": True,
            "provolatile": "i",
            "proparallel": "s",
            "pronargs": 1,
            "prorettype": BY_SQL_NAME["internal"].oid,
            "proargtypes": [BY_SQL_NAME["cstring"].oid],
            "prosrc": name,
        }


# -- the server --------------------------------------------------------------------------------------------------------


def _databases(_objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    yield {
        "oid": DATABASE_OID,
        "datname": DATABASE,
        "datdba": OWNER_OID,
        "encoding": UTF8,
        "datlocprovider": "c",
        "datallowconn": True,
        "datconnlimit": -1,
        "dattablespace": DEFAULT_TABLESPACE,
        "datcollate": "C.UTF-8",
        "datctype": "C.UTF-8",
    }


def _roles(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for name, oid in objects.role_oids.items():
        role = objects.role(name)
        yield {
            "oid": oid,
            "rolname": name,
            "rolsuper": role.superuser,
            "rolinherit": True,
            "rolcreaterole": role.superuser,
            "rolcreatedb": False,
            "rolcanlogin": role.login,
            "rolconnlimit": -1,
            "rolbypassrls": role.superuser,
        }


def _users(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for name, oid in objects.role_oids.items():
        role = objects.role(name)
        if role.login:
            yield {"usename": name, "usesysid": oid, "usesuper": role.superuser, "passwd": "********"}


def _settings(_objects: Objects, facts: SessionFacts) -> Iterator[Row]:
    contexts = {"session": "user", "pond": "postmaster", "fixed": "internal"}
    for setting in sorted(facts.settings, key=lambda setting: setting.shown_name.lower()):
        value = facts.settings.show(setting.name)
        kind = {bool: "bool", int: "integer"}.get(type(setting.default), "string")
        yield {
            "name": setting.shown_name,
            "setting": value,
            "unit": setting.unit if kind == "integer" else None,
            "category": "Millpond",
            "short_desc": setting.reason,
            "context": contexts[setting.scope],
            "vartype": kind,
            "source": "default",
            "boot_val": value,
            "reset_val": value,
        }


def _activity(objects: Objects, facts: SessionFacts) -> Iterator[Row]:
    yield {
        "datid": DATABASE_OID,
        "datname": DATABASE,
        "pid": facts.process,
        "usesysid": objects.role_oids[objects.user],
        "usename": objects.user,
        "application_name": facts.settings.show("application_name"),
        "xact_start": facts.now,
        "query_start": facts.now,
        "state": "active",
        "backend_type": "client backend",
    }


def _fixed(*rows: Row) -> RowsOf:
    """Rows that are always the same."""
    return lambda _objects, _facts: iter(rows)


ROWS: Mapping[str, RowsOf] = {
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
    "pg_type": _types,
    "pg_proc": _functions,
    "pg_database": _databases,
    "pg_roles": _roles,
    "pg_authid": _roles,
    "pg_user": _users,
    "pg_shadow": _users,
    "pg_settings": _settings,
    "pg_stat_activity": _activity,
    "pg_am": _fixed(
        {"oid": HEAP, "amname": "heap", "amtype": "t"},
        {"oid": BTREE, "amname": "btree", "amtype": "i"},
    ),
    "pg_opclass": _fixed(
        {"oid": INTEGER_OPERATORS, "opcmethod": BTREE, "opcname": "int4_ops", "opcnamespace": 11, "opcdefault": True}
    ),
    "pg_tablespace": _fixed(
        {"oid": DEFAULT_TABLESPACE, "spcname": "pg_default", "spcowner": OWNER_OID},
        {"oid": GLOBAL_TABLESPACE, "spcname": "pg_global", "spcowner": OWNER_OID},
    ),
    "pg_language": _fixed(
        {"oid": INTERNAL_LANGUAGE, "lanname": "internal", "lanowner": OWNER_OID},
        {"oid": SQL_LANGUAGE, "lanname": "sql", "lanowner": OWNER_OID, "lanpltrusted": True},
    ),
    "pg_collation": _fixed(
        {"oid": 100, "collname": "default", "collnamespace": 11, "collowner": OWNER_OID, "collprovider": "d"},
        {"oid": 950, "collname": "C", "collnamespace": 11, "collowner": OWNER_OID, "collprovider": "c"},
    ),
}
"""By name; a relation of pg_catalog that is not here has no rows."""

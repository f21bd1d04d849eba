"""The rows of pg_catalog's relations that tell of the server: its types, roles and settings, and what never changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from millpond import namespace
from millpond.pgcatalog.objects import DATABASE, DATABASE_OID, OWNER_OID, SCHEMAS, Objects, SessionFacts
from millpond.pgcatalog.procedures import FUNCTION_OIDS, PROCEDURES
from millpond.pgcatalog.rows import BTREE, HEAP, INTEGER_OPERATORS, Row, RowsOf, shown_acl
from millpond.pgcatalog.types import TYPES
from millpond.privileges.examine import may_examine
from millpond.setting import shown

_SQL_LANGUAGE, _INTERNAL_LANGUAGE, _PYTHON_LANGUAGE = 14, 12, 16383
_DEFAULT_TABLESPACE, _GLOBAL_TABLESPACE = 1663, 1664
_UTF8 = 6


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


def _functions(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for one in objects.procedures.values():
        yield {
            "oid": one.oid,
            "proname": one.name,
            "pronamespace": SCHEMAS["pg_catalog" if one.defined is None else "public"],
            "proowner": OWNER_OID,
            "prolang": _INTERNAL_LANGUAGE if one.defined is None else _PYTHON_LANGUAGE,
            "procost": 1,
            "provariadic": one.arguments[-1].oid if one.variadic else 0,
            "prokind": one.kind,
            "proisstrict": one.kind == "f" and one.defined is None,
            "provolatile": "v" if one.volatile else "i",
            "proparallel": "s",
            "pronargs": len(one.arguments),
            "prorettype": one.result.oid,
            "proargtypes": [kind.oid for kind in one.arguments],
            "proargnames": None if one.defined is None else [given.name for given in one.defined.parameters],
            "prosrc": one.name if one.defined is None else one.defined.body,
        }


def _aggregates(_objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for one in PROCEDURES.values():
        if one.kind == "a":
            yield {"aggfnoid": one.oid, "aggkind": "n", "aggfinalmodify": "r", "aggmfinalmodify": "r"}


# -- the server --------------------------------------------------------------------------------------------------------


def _databases(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    database = objects.namespaces[namespace.DATABASE]
    yield {
        "oid": DATABASE_OID,
        "datname": DATABASE,
        "datdba": objects.owner_oid(database),
        "datacl": shown_acl(database.acl),
        "encoding": _UTF8,
        "datlocprovider": "c",
        "datallowconn": True,
        "datconnlimit": -1,
        "dattablespace": _DEFAULT_TABLESPACE,
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
            "rolinherit": role.inherit,
            "rolcreaterole": role.superuser,
            "rolcreatedb": False,
            "rolcanlogin": role.login,
            "rolconnlimit": -1,
            "rolbypassrls": role.superuser,
        }


def _members(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for place, (name, one) in enumerate(
        (role.name, membership) for role in objects.roles.values() for membership in role.member_of
    ):
        yield {
            "oid": 20_000 + place,
            "roleid": objects.role_oids.get(one.role, 0),
            "member": objects.role_oids[name],
            "grantor": objects.role_oids.get(one.grantor, OWNER_OID),
            "admin_option": one.admin,
            "inherit_option": objects.role(name).inherit,
            "set_option": True,
        }


def _users(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for name, oid in objects.role_oids.items():
        role = objects.role(name)
        if role.login:
            yield {"usename": name, "usesysid": oid, "usesuper": role.superuser, "passwd": "********"}


def _settings(objects: Objects, facts: SessionFacts) -> Iterator[Row]:
    contexts = {"session": "user", "pond": "postmaster", "fixed": "internal"}
    seen = (setting for setting in facts.settings if may_examine(setting, objects.authority))
    for setting in sorted(seen, key=lambda setting: setting.shown_name.lower()):
        value = shown(facts.settings.get(setting.name))
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


def _cursors(_objects: Objects, facts: SessionFacts) -> Iterator[Row]:
    for cursor in facts.cursors:
        said = cursor.statement
        yield {
            "name": said.name,
            "statement": said.text,
            "is_holdable": said.hold,
            "is_binary": said.binary,
            "is_scrollable": said.scroll,
            "creation_time": cursor.created_at,
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


SERVER_ROWS: Mapping[str, RowsOf] = {
    "pg_type": _types,
    "pg_proc": _functions,
    "pg_aggregate": _aggregates,
    "pg_database": _databases,
    "pg_roles": _roles,
    "pg_authid": _roles,
    "pg_auth_members": _members,
    "pg_cursors": _cursors,
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
        {"oid": _DEFAULT_TABLESPACE, "spcname": "pg_default", "spcowner": OWNER_OID},
        {"oid": _GLOBAL_TABLESPACE, "spcname": "pg_global", "spcowner": OWNER_OID},
    ),
    "pg_language": _fixed(
        {"oid": _INTERNAL_LANGUAGE, "lanname": "internal", "lanowner": OWNER_OID},
        {"oid": _SQL_LANGUAGE, "lanname": "sql", "lanowner": OWNER_OID, "lanpltrusted": True},
        {"oid": _PYTHON_LANGUAGE, "lanname": "python", "lanowner": OWNER_OID, "lanispl": True},
    ),
    "pg_collation": _fixed(
        {"oid": 100, "collname": "default", "collnamespace": 11, "collowner": OWNER_OID, "collprovider": "d"},
        {"oid": 950, "collname": "C", "collnamespace": 11, "collowner": OWNER_OID, "collprovider": "c"},
    ),
}

"""Functions of PostgreSQL that tell of a pond's objects, its session and its server, such as pg_get_viewdef."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from millpond.errors import MillpondError, SqlState
from millpond.oids import with_modifier
from millpond.pgcatalog.keywords import KEYWORDS
from millpond.pgcatalog.objects import DATABASE, SCHEMAS, CatalogRelation, Objects, SessionFacts
from millpond.pgcatalog.privileges import PrivilegeFunctions
from millpond.pgcatalog.procedures import FUNCTION_OIDS
from millpond.pgcatalog.relation_rows import index_definition
from millpond.pgcatalog.text_functions import quote_ident, timestamp_text
from millpond.pgcatalog.types import BY_OID, find_type
from millpond.privileges.examine import examined, may_examine

_SEARCHED = ("pg_catalog", "public")
"""The schemas in which a name without one is looked up."""

_ENCODINGS = {6: "UTF8"}


class CatalogFunctions:
    """The functions as of one state of the catalog, for one session."""

    def __init__(self, objects: Objects, facts: SessionFacts) -> None:
        self._objects, self._facts = objects, facts

    def all(self) -> Mapping[str, Callable[..., object]]:
        """By name; each is NULL if an argument is."""
        known = self._objects.procedures
        return {
            **dict.fromkeys(_ALWAYS_TRUE, _true),
            **dict.fromkeys(_ALWAYS_FALSE, _false),
            **dict.fromkeys(_ALWAYS_NULL, _null),
            **dict.fromkeys(_ALWAYS_ZERO, _zero),
            **dict.fromkeys(_SIZES_OF_ONE, self._size),
            **dict.fromkeys(_SIZES_OF_ALL, self._total_size),
            "pg_table_is_visible": self._is_visible,
            "format_type": format_type,
            "pg_get_expr": lambda expression, *_rest: expression,
            "pg_get_viewdef": self._view_definition,
            "pg_get_constraintdef": self._constraint_definition,
            "pg_get_indexdef": self._index_definition,
            "pg_get_function_arguments": lambda oid: known[oid].signature if oid in known else None,
            "pg_get_function_identity_arguments": lambda oid: known[oid].signature if oid in known else None,
            "pg_get_function_result": lambda oid: str(known[oid].result.sql_type) if oid in known else None,
            "pg_get_userbyid": self._role_name,
            "pg_encoding_to_char": lambda number: _ENCODINGS.get(number, ""),
            "pg_char_to_encoding": lambda name: 6 if name.upper() in ("UTF8", "UTF-8") else -1,
            "getdatabaseencoding": lambda: "UTF8",
            "pg_client_encoding": lambda: "UTF8",
            "current_database": lambda: DATABASE,
            "current_catalog": lambda: DATABASE,
            "current_schema": lambda: "public",
            "current_schemas": lambda implicit: json.dumps(["pg_catalog", "public"] if implicit else ["public"]),
            **dict.fromkeys(("current_user", "session_user", "current_role", "user"), lambda: self._objects.user),
            "version": lambda: self._facts.version,
            "pg_backend_pid": lambda: self._facts.process,
            **dict.fromkeys(_TIMES, lambda: timestamp_text(self._facts.now)),
            "current_setting": self._current_setting,
            "set_config": self._set_config,
            "mp_keywords": lambda: KEYWORDS,
            **PrivilegeFunctions(self._objects, self._relation).all(),
            "mp_settings": self._all_settings,
            "mp_regclass_in": self._regclass,
            "mp_regclass_out": self._regclass_text,
            "mp_regtype_in": _regtype,
            "mp_regtype_out": lambda oid: format_type(oid) if oid else "-",
            "mp_regproc_in": _regproc,
            "mp_regproc_out": lambda oid: (known[oid].name if oid in known else str(oid)) if oid else "-",
            "mp_regnamespace_in": self._regnamespace,
            "mp_regnamespace_out": lambda oid: _SCHEMA_NAMES.get(oid, str(oid)) if oid else "-",
            "mp_regrole_in": self._regrole,
            "mp_regrole_out": self._role_name,
            "to_regclass": lambda name: self._find(name),
            "to_regtype": lambda name: None if (found := find_type(name)) is None else found.oid,
            "to_regproc": lambda name: FUNCTION_OIDS.get(name.removeprefix("pg_catalog.")),
            "to_regprocedure": lambda name: FUNCTION_OIDS.get(name.partition("(")[0].removeprefix("pg_catalog.")),
            "to_regnamespace": SCHEMAS.get,
            "to_regrole": self._objects.role_oids.get,
            "_pg_truetypid": lambda _attribute, _type: None,
        }

    # -- relations ---------------------------------------------------------------------------------------------

    def _find(self, written: object) -> int | None:
        """The oid of the relation that a text names, or is."""
        text = str(written)
        if text.isdigit():
            return int(text)
        schema, _, name = text.rpartition(".")
        schema, name = (part[1:-1] if part.startswith('"') else part.lower() for part in (schema, name))
        found = (self._objects.by_name.get((one, name)) for one in ([schema] if schema else _SEARCHED))
        return next((oid for oid in found if oid is not None), None)

    def _regclass(self, written: object) -> int:
        found = self._find(written)
        if found is None:
            raise MillpondError(SqlState.UNDEFINED_TABLE, f'relation "{written}" does not exist')
        return found

    def _named(self, oid: int) -> tuple[str, str] | None:
        relation = self._objects.by_oid.get(oid)
        if relation is not None:
            return relation.schema, relation.name
        key = self._objects.keys_by_index.get(oid)
        return None if key is None else (key.table.schema, key.key.name)

    def _regclass_text(self, oid: int) -> str:
        named = self._named(oid)
        if named is None:
            return str(oid) if oid else "-"
        schema, name = named
        return quote_ident(name) if schema in _SEARCHED else f"{schema}.{quote_ident(name)}"

    def _is_visible(self, oid: int) -> bool | None:
        named = self._named(oid)
        return None if named is None else named[0] in _SEARCHED

    def _relation(self, written: object) -> CatalogRelation | None:
        return self._objects.by_oid.get(self._find(written) or 0)

    def _size(self, relation: object, _fork: object = "main") -> int | None:
        found = self._relation(relation)
        if found is None:
            return 0 if self._find(relation) in self._objects.keys_by_index else None
        return 0 if found.relation is None else self._facts.size_of(found.relation)

    def _total_size(self, _database: object) -> int:
        return sum(self._facts.size_of(one.relation) for one in self._objects.own if one.relation is not None)

    def _view_definition(self, view: object, *_pretty: object) -> str | None:
        found = self._relation(view)
        definition = found.relation.definition if found is not None and found.relation is not None else None
        return None if definition is None else f" {definition.strip()};"

    def _constraint_definition(self, oid: int, pretty: object = False) -> str | None:
        key = next((key for key in self._objects.keys if key.constraint_oid == oid), None)
        if key is not None:
            columns = ", ".join(quote_ident(name) for name in key.key.columns)
            return f"{'PRIMARY KEY' if key.key.primary else 'UNIQUE'} ({columns})"
        check = next((check for check in self._objects.checks if check.oid == oid), None)
        if check is None:
            return None
        return f"CHECK ({check.check.expression})" if pretty else f"CHECK (({check.check.expression}))"

    def _index_definition(self, oid: int, column: int = 0, _pretty: object = False) -> str | None:
        key = self._objects.keys_by_index.get(oid)
        if key is None:
            return None
        if column:
            return quote_ident(key.key.columns[column - 1]) if 0 < column <= len(key.key.columns) else ""
        return index_definition(key)

    # -- roles, schemas, settings ------------------------------------------------------------------------------

    def _role_name(self, oid: int) -> str:
        names = (name for name, own in self._objects.role_oids.items() if own == oid)
        return next(names, f"unknown (OID={oid})")

    def _regrole(self, name: str) -> int:
        if name not in self._objects.role_oids:
            raise MillpondError(SqlState.UNDEFINED_OBJECT, f'role "{name}" does not exist')
        return self._objects.role_oids[name]

    def _regnamespace(self, name: str) -> int:
        if name not in SCHEMAS:
            raise MillpondError(SqlState.UNDEFINED_SCHEMA, f'schema "{name}" does not exist')
        return SCHEMAS[name]

    def _current_setting(self, name: str, missing_ok: object = False) -> str | None:
        try:
            return examined(self._facts.settings, name, self._objects.authority)
        except MillpondError:
            if missing_ok:
                return None
            raise

    def _set_config(self, name: str, value: str, local: object) -> str:
        self._facts.settings.change(name, value, local=bool(local))
        return self._facts.settings.show(name)

    def _all_settings(self) -> str:
        settings = self._facts.settings
        seen = [one for one in settings if may_examine(one, self._objects.authority)]
        return json.dumps([{"name": one.shown_name, "setting": settings.show(one.name)} for one in seen])


def format_type(oid: int, modifier: int | None = None) -> str:
    """A type as it is written in SQL.

    >>> format_type(1043, 24), format_type(1009), format_type(12345)
    ('character varying(20)', 'text[]', '???')
    """
    found = BY_OID.get(oid)
    if found is None:
        return "-" if oid == 0 else "???"
    return str(with_modifier(found.sql_type, -1 if modifier is None else modifier))


def _regtype(name: str) -> int:
    found = find_type(name)
    if found is None:
        raise MillpondError(SqlState.UNDEFINED_OBJECT, f'type "{name}" does not exist')
    return found.oid


def _regproc(name: str) -> int:
    found = FUNCTION_OIDS.get(name.removeprefix("pg_catalog."))
    if found is None:
        raise MillpondError(SqlState.UNDEFINED_FUNCTION, f'function "{name}" does not exist')
    return found


def _true(*_arguments: object) -> bool:
    return True


def _false(*_arguments: object) -> bool:
    return False


def _null(*_arguments: object) -> None:
    return None


def _zero(*_arguments: object) -> int:
    return 0


_SCHEMA_NAMES = {oid: name for name, oid in SCHEMAS.items()}

_TIMES = (
    "now",
    "transaction_timestamp",
    "statement_timestamp",
    "clock_timestamp",
    "pg_postmaster_start_time",
    "pg_conf_load_time",
)

_ALWAYS_TRUE = """
pg_type_is_visible pg_function_is_visible pg_operator_is_visible pg_opclass_is_visible pg_opfamily_is_visible
pg_collation_is_visible pg_conversion_is_visible pg_statistics_obj_is_visible pg_ts_config_is_visible
pg_ts_dict_is_visible pg_ts_parser_is_visible pg_ts_template_is_visible
has_function_privilege has_sequence_privilege has_server_privilege has_type_privilege has_tablespace_privilege
has_language_privilege has_foreign_data_wrapper_privilege
""".split()
"""Everything is visible, and what nobody can be denied is allowed."""

_ALWAYS_FALSE = """
row_security_active pg_relation_is_publishable pg_is_in_recovery pg_is_other_temp_schema pg_indexam_has_property
pg_index_column_has_property pg_index_has_property
""".split()

_ALWAYS_NULL = """
obj_description col_description shobj_description pg_get_ruledef pg_get_triggerdef pg_get_functiondef
pg_get_function_sqlbody
pg_get_partkeydef pg_get_partition_constraintdef pg_get_statisticsobjdef pg_get_statisticsobjdef_columns
pg_get_serial_sequence pg_describe_object pg_tablespace_location inet_client_addr inet_server_addr inet_client_port
inet_server_port _pg_char_max_length _pg_numeric_precision _pg_numeric_scale _pg_datetime_precision _pg_truetypmod
""".split()
"""About things that do not exist here: comments, rules, triggers, partitions, sequences."""

_ALWAYS_ZERO = """
pg_indexes_size pg_stat_get_numscans txid_current pg_my_temp_schema
""".split()

_SIZES_OF_ONE = ("pg_table_size", "pg_relation_size", "pg_total_relation_size")
_SIZES_OF_ALL = ("pg_database_size", "pg_tablespace_size")

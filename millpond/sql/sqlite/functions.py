"""The functions that queries over the system catalogs may call, with their types; no other function exists there.

Those that SQLite does not have itself are in `millpond.pgcatalog.functions`, under the same names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from millpond.errors import MillpondError, SqlState
from millpond.pgcatalog.types import element_of, is_list, lower_bound, named
from millpond.sql.sql_types import UNKNOWN
from millpond.sql.sqlite.scope import Sql, Statement, string
from millpond.sql.sqlite.types import cast, common, total_type
from millpond.types import BIGINT, BOOLEAN, INTEGER, TEXT, SqlType, array_of

_RESULTS = """
bool    pg_table_is_visible pg_type_is_visible pg_function_is_visible pg_operator_is_visible pg_opclass_is_visible
bool    pg_collation_is_visible pg_conversion_is_visible pg_statistics_obj_is_visible pg_ts_config_is_visible
bool    pg_ts_dict_is_visible pg_ts_parser_is_visible pg_ts_template_is_visible pg_opfamily_is_visible
bool    has_table_privilege has_schema_privilege has_database_privilege has_column_privilege has_any_column_privilege
bool    has_function_privilege has_sequence_privilege has_server_privilege has_type_privilege has_tablespace_privilege
bool    has_language_privilege has_foreign_data_wrapper_privilege pg_has_role row_security_active
bool    pg_relation_is_publishable pg_is_in_recovery pg_is_other_temp_schema pg_indexam_has_property
bool    pg_index_column_has_property pg_index_has_property starts_with
text    format_type pg_get_expr pg_get_viewdef pg_get_constraintdef pg_get_indexdef pg_get_ruledef pg_get_triggerdef
text    pg_get_function_result pg_get_function_arguments pg_get_function_identity_arguments pg_get_functiondef
text    pg_get_function_sqlbody pg_get_partkeydef pg_get_partition_constraintdef pg_get_statisticsobjdef
text    pg_get_statisticsobjdef_columns pg_get_serial_sequence pg_tablespace_location pg_describe_object
text    obj_description col_description shobj_description pg_size_pretty quote_ident quote_literal quote_nullable
text    concat concat_ws replace split_part regexp_replace lower upper initcap btrim ltrim rtrim
text    left right lpad rpad substr translate repeat reverse md5 chr version current_setting set_config
text    inet_client_addr inet_server_addr
name    current_database current_schema current_user session_user current_role current_catalog user
name    pg_get_userbyid pg_encoding_to_char getdatabaseencoding pg_client_encoding
name[]  current_schemas
text[]  string_to_array regexp_split_to_array parse_ident
int4    length char_length character_length strpos array_length array_ndims cardinality
int4    array_position pg_char_to_encoding pg_backend_pid ascii inet_client_port inet_server_port
int4    _pg_char_max_length _pg_numeric_precision _pg_numeric_scale _pg_datetime_precision
oid     _pg_truetypid pg_my_temp_schema
int4    _pg_truetypmod
int8    pg_table_size pg_relation_size pg_total_relation_size pg_indexes_size pg_database_size pg_tablespace_size
int8    pg_stat_get_numscans txid_current
regclass to_regclass
regtype to_regtype
regproc to_regproc to_regprocedure
regnamespace to_regnamespace
regrole to_regrole
timestamptz now transaction_timestamp statement_timestamp clock_timestamp pg_postmaster_start_time pg_conf_load_time
json    json_build_object jsonb_build_object
"""

_ALWAYS: Mapping[str, SqlType] = {
    name: named(line.split()[0]) for line in _RESULTS.split("\n")[1:-1] for name in line.split()[1:]
}
"""Functions whose result always has one type."""

WINDOW_FUNCTIONS = frozenset("row_number rank dense_rank".split())

Rule = Callable[[str, Sequence[Sql], Statement], Sql]


def _as_first(name: str, arguments: Sequence[Sql], _statement: Statement) -> Sql:
    """A function whose result has the type of its first argument."""
    return Sql(f"{name}({_list(arguments)})", arguments[0].type)


def _as_common(spelled: str) -> Rule:
    """A function whose result has the type in which its arguments meet."""

    def rule(_name: str, arguments: Sequence[Sql], statement: Statement) -> Sql:
        met, kind = common(arguments, statement)
        return met[0] if len(met) == 1 else Sql(f"{spelled}({_list(met)})", kind)

    return rule


def _type_name(_name: str, arguments: Sequence[Sql], _statement: Statement) -> Sql:
    kind = TEXT if arguments[0].type == UNKNOWN else arguments[0].type
    return Sql(f"mp_regtype_in({string(str(kind))})", named("regtype"))


def _format(name: str, arguments: Sequence[Sql], _statement: Statement) -> Sql:
    return Sql(f"{name}({_list([cast(argument, TEXT) for argument in arguments])})", TEXT)


def _array_to_string(_name: str, arguments: Sequence[Sql], _statement: Statement) -> Sql:
    """The elements of some types are not shown as SQLite has them, so that their type goes along."""
    array = arguments[0] if is_list(arguments[0].type) else cast(arguments[0], array_of(TEXT))
    element = string(element_of(array.type).name)
    return Sql(f"mp_array_to_string({element}, {_list([array, *arguments[1:]])})", TEXT)


def _bound(name: str, arguments: Sequence[Sql], _statement: Statement) -> Sql:
    """Where an array begins or ends, which depends on where its type begins to count."""
    return Sql(f"{name}({_list(arguments)}, {lower_bound(arguments[0].type)})", INTEGER)


_RULES: Mapping[str, Rule] = {
    **dict.fromkeys("abs round floor ceil ceiling trunc".split(), _as_first),
    **dict.fromkeys("array_remove array_append array_cat array_prepend".split(), _as_first),
    "coalesce": _as_common("coalesce"),
    "nullif": _as_common("nullif"),
    "greatest": _as_common("mp_greatest"),
    "least": _as_common("mp_least"),
    "pg_typeof": _type_name,
    "format": _format,
    "array_to_string": _array_to_string,
    "array_upper": _bound,
    "array_lower": _bound,
}


def scalar(name: str, arguments: Sequence[Sql], statement: Statement) -> Sql | None:
    """The call of a function with one value; None if there is no such function."""
    if name in WINDOW_FUNCTIONS:
        return Sql(f"{name}()", BIGINT)
    if name in _RULES and arguments:
        return _RULES[name](name, arguments, statement)
    return Sql(f'"{name}"({_list(arguments)})', _ALWAYS[name]) if name in _ALWAYS else None


def _list(arguments: Sequence[Sql]) -> str:
    return ", ".join(argument.text for argument in arguments)


# -- aggregates ----------------------------------------------------------------------------------------------------

_PLAIN = {"count": "count", "min": "min", "max": "max", "sum": "sum", "avg": "avg", "bool_and": "min", "every": "min"}
_SPELLED = {**_PLAIN, "bool_or": "max", "any_value": "min"}
_COLLECTING = {"array_agg": "mp_array_agg", "string_agg": "mp_string_agg", "json_agg": "mp_array_agg"}

AGGREGATES = frozenset({*_SPELLED, *_COLLECTING})


@dataclass(frozen=True)
class Ordering:
    """The order of an aggregate's values: keys, and for each a letter for its direction and one for its NULLs."""

    keys: tuple[Sql, ...] = ()
    flags: str = ""


def aggregate(name: str, arguments: Sequence[Sql], ordering: Ordering, *, distinct: bool) -> Sql:
    """The call of an aggregate."""
    if not arguments and name != "count":
        raise _without_arguments(name)
    if name in _COLLECTING:
        flags = string(("D" if distinct else "") + ordering.flags)
        texts = [*(argument.text for argument in arguments), flags, *(key.text for key in ordering.keys)]
        kind = TEXT if name == "string_agg" else named("json") if name == "json_agg" else _array_type(arguments[0])
        return Sql(f"{_COLLECTING[name]}({', '.join(texts)})", kind)
    mark = "DISTINCT " if distinct else ""
    return Sql(f"{_SPELLED[name]}({mark}{_list(arguments) or '*'})", _aggregate_type(name, arguments))


def _array_type(argument: Sql) -> SqlType:
    return array_of(TEXT if argument.type == UNKNOWN else argument.type)


def _aggregate_type(name: str, arguments: Sequence[Sql]) -> SqlType:
    if name == "count":
        return BIGINT
    if name in ("bool_and", "bool_or", "every"):
        return BOOLEAN
    kind = arguments[0].type if arguments else UNKNOWN
    if name in ("sum", "avg"):
        return total_type(name, kind)
    return TEXT if kind.name in ("name", '"char"', "varchar") and name != "any_value" else kind


# -- functions that return rows ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RowColumn:
    """A column of a function that returns rows; `text` says what it is of `{0}`, an element of a JSON array."""

    name: str
    type: SqlType
    text: str


@dataclass(frozen=True)
class RowFunction:
    """A function that returns rows: the JSON array that SQLite walks, and the columns of each element."""

    elements: str
    columns: tuple[RowColumn, ...]


_ORDINAL = "{0}.key + 1"


def _fields(elements: str, **columns: str) -> Callable[[str, Sequence[Sql]], RowFunction]:
    """A function of `millpond.pgcatalog.functions` that returns a JSON array of objects."""
    made = tuple(
        RowColumn(name, named(kind), f"json_extract({{0}}.value, '$.{name}')") for name, kind in columns.items()
    )
    return lambda _name, arguments: RowFunction(f"{elements}({_list(arguments)})", made)


def _unnest(name: str, arguments: Sequence[Sql]) -> RowFunction:
    kind = arguments[0].type
    element = element_of(kind) if is_list(kind) else TEXT
    return RowFunction(arguments[0].text, (RowColumn(name, element, "{0}.value"),))


def _subscripts(name: str, arguments: Sequence[Sql]) -> RowFunction:
    first = lower_bound(arguments[0].type)
    return RowFunction(arguments[0].text, (RowColumn(name, INTEGER, f"({{0}}.key + {first})"),))


def _expanded(_name: str, arguments: Sequence[Sql]) -> RowFunction:
    kind = arguments[0].type
    element = element_of(kind) if is_list(kind) else TEXT
    return RowFunction(
        arguments[0].text, (RowColumn("x", element, "{0}.value"), RowColumn("n", INTEGER, f"({_ORDINAL})"))
    )


def _series(name: str, arguments: Sequence[Sql]) -> RowFunction:
    return RowFunction(f"mp_series({_list(arguments)})", (RowColumn(name, INTEGER, "{0}.value"),))


def _split(elements: str) -> Callable[[str, Sequence[Sql]], RowFunction]:
    return lambda name, arguments: RowFunction(f"{elements}({_list(arguments)})", (RowColumn(name, TEXT, "{0}.value"),))


def _no_oids(_name: str, _arguments: Sequence[Sql]) -> RowFunction:
    return RowFunction("'[]'", (RowColumn("relid", named("regclass"), "{0}.value"),))


_ROW_FUNCTIONS: Mapping[str, Callable[[str, Sequence[Sql]], RowFunction]] = {
    "unnest": _unnest,
    "generate_subscripts": _subscripts,
    "generate_series": _series,
    "_pg_expandarray": _expanded,
    "pg_partition_ancestors": _no_oids,
    "pg_partition_tree": _no_oids,
    "pg_options_to_table": _fields("mp_options", option_name="text", option_value="text"),
    "aclexplode": _fields("mp_acl", grantor="oid", grantee="oid", privilege_type="text", is_grantable="bool"),
    "pg_get_keywords": _fields("mp_keywords", word="text", catcode='"char"', catdesc="text"),
    "pg_show_all_settings": _fields("mp_settings", name="text", setting="text"),
    "regexp_split_to_table": _split("regexp_split_to_array"),
    "string_to_table": _split("string_to_array"),
}


def returns_rows(name: str) -> bool:
    return name in _ROW_FUNCTIONS


def row_function(name: str, arguments: Sequence[Sql]) -> RowFunction:
    if not arguments and name not in ("pg_get_keywords", "pg_show_all_settings"):
        raise _without_arguments(name)
    return _ROW_FUNCTIONS[name](name, arguments)


def _without_arguments(name: str) -> MillpondError:
    return MillpondError(SqlState.UNDEFINED_FUNCTION, f"function {name}() does not exist")


def is_of_catalog(name: str) -> bool:
    """Whether a function tells something about the server or its objects, or returns rows of them."""
    return name in _ALWAYS or name == "array_to_string" or (returns_rows(name) and name != "generate_series")

"""Queries over the system catalogs: PostgreSQL's meaning out of SQLite."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millpond.errors import MillpondError, SqlState
from millpond.pgcatalog.array_text import read_array, write_array
from millpond.pgcatalog.declarations import DECLARED
from millpond.pgcatalog.types import TYPES
from millpond.sql.dialect import parse_query
from millpond.sql.sqlite.translate import catalog_query
from millpond.statements.system_catalog import system_relation
from millpond.types import SqlType
from tests.unit.pgcatalog.support import Asked


@pytest.fixture(scope="module")
def asked() -> Asked:
    return Asked()


VALUES = [
    ("'station'::regclass", "station"),
    ("'station'::regclass::oid", 16384),
    ("16384::regclass", "station"),
    ("'pg_class'::regclass::int", 1259),
    ("'information_schema.tables'::regclass::text", "information_schema.tables"),
    ("to_regclass('nothing')", None),
    ("'int4'::regtype", "integer"),
    ("'timestamp with time zone'::regtype::oid", 1184),
    ("format_type(1043, 24)", "character varying(20)"),
    ("format_type(1231, 655366)", "numeric(10,2)[]"),
    ("pg_get_viewdef('used'::regclass)", " SELECT part, count(*) AS n FROM part_usage GROUP BY part;"),
    ("pg_get_userbyid(10)", "millpond"),
    ("pg_table_is_visible('information_schema.tables'::regclass)", False),
    ("current_schemas(true)", ["pg_catalog", "public"]),
    ("(current_schemas(false))[1]", "public"),
    ("array_to_string(ARRAY['a', NULL, 'b'], ', ')", "a, b"),
    ("array_to_string(ARRAY[true, false], ',')", "t,f"),
    ("array_to_string('{1,2}'::int[], '-', '*')", "1-2"),
    ("array_length(ARRAY[1, 2, 3], 1)", 3),
    ("array_to_string(regexp_split_to_array('a1b22c', '[0-9]+'), '|')", "a|b|c"),
    ("array_upper('1 2'::int2vector, 1)", 1),
    ("('1 2'::int2vector)[0]", 1),
    ("'b' = ANY ('{a,b}'::text[])", True),
    ("2 = ANY (ARRAY[1, 3])", False),
    ("'x' <> ALL (ARRAY['a', 'b'])", True),
    ("current_setting('server_version_num')::int", 160000),
    ("current_setting('nothing.here', true)", None),
    ("pg_encoding_to_char(6) || '/' || current_database()", "UTF8/pond"),
    ("quote_ident('Odd \"name')", '"Odd ""name"'),
    ("quote_literal('it''s')", "'it''s'"),
    ("format('%I.%s = %L', 'Public', 'x', NULL)", '"Public".x = NULL'),
    ("CASE WHEN pg_is_in_recovery() THEN 'a' ELSE 'b' END", "b"),
    ("pg_catalog.pg_get_expr(NULL, 0) IS NULL", True),
    ("col_description(1259, 1) IS NOT DISTINCT FROM NULL", True),
    ("pg_size_pretty(pg_database_size('pond'))", "0 bytes"),
    ("pg_typeof(pg_backend_pid())", "integer"),
    ("set_config('application_name', 'probe', false) || current_setting('application_name')", "probeprobe"),
]


@pytest.mark.parametrize(("expression", "wanted"), VALUES, ids=[text for text, _ in VALUES])
def test_values(asked: Asked, expression: str, wanted: object) -> None:
    assert asked(f"SELECT {expression} FROM pg_am WHERE amname = 'heap'") == [(wanted,)]


QUERIES = [
    ("SELECT relname FROM pg_class WHERE relname LIKE 'sta%' AND relkind = 'r'", [("station",)]),
    (
        "SELECT relname FROM pg_class WHERE relname ILIKE 'STATION\\_P%' ORDER BY 1 DESC LIMIT 1",
        [("station_plant_location_key",)],
    ),
    ("SELECT relname FROM pg_class WHERE relname LIKE '!%' ESCAPE '!' OR relname ~ '^(used)$'", [("used",)]),
    ("SELECT count(*) FROM pg_class c WHERE c.relname OPERATOR(pg_catalog.!~) 'a' AND c.oid > 16383", [(1,)]),
    ("SELECT nspname FROM pg_namespace ORDER BY oid = 2200 DESC, nspname FETCH FIRST 1 ROW ONLY", [("public",)]),
    (
        "SELECT x, y FROM (VALUES (1, 'a'), (2, NULL)) AS v (x, y), pg_am WHERE amname = 'heap' ORDER BY y",
        [(1, "a"), (2, None)],
    ),
    (
        "SELECT i.indisprimary, a.attname FROM pg_index i"
        " CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k(n, ord)"
        " JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.n ORDER BY i.indisprimary, k.ord",
        [(False, "plant"), (False, "location"), (True, "id")],
    ),
    (
        "SELECT unnest(indkey) AS n, generate_subscripts(indkey, 1) AS at FROM pg_index WHERE NOT indisprimary",
        [(2, 0), (3, 1)],
    ),
    (
        "SELECT (k).x, (k).n FROM (SELECT information_schema._pg_expandarray(conkey) AS k FROM pg_constraint"
        " WHERE contype = 'u') s",
        [("2", "1"), ("3", "2")],
    ),
    (
        "SELECT c.relname, array_agg(a.attname ORDER BY a.attnum DESC) FROM pg_class c JOIN pg_attribute a ON"
        " a.attrelid = c.oid WHERE c.relkind = 'v' AND c.relnamespace = 2200 GROUP BY c.relname ORDER BY c.relname",
        [("sparta", ["location", "id"]), ("used", ["n", "part"])],
    ),
    (
        "SELECT string_agg(DISTINCT typcategory::text, '') FROM pg_type WHERE typname IN ('int4', 'text', 'int8')",
        [("NS",)],
    ),
    (
        "SELECT bool_and(attnotnull), bool_or(attnotnull) FROM pg_attribute WHERE attrelid = 'station'::regclass",
        [(False, True)],
    ),
    (
        "SELECT ARRAY(SELECT nspname FROM pg_namespace ORDER BY nspname DESC)",
        [(["public", "pg_catalog", "information_schema"],)],
    ),
    (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT i FROM n, pg_am"
        " WHERE amname = 'heap'",
        [(1,), (2,), (3,)],
    ),
    ("SELECT option_name FROM pg_foreign_table, pg_options_to_table(ftoptions)", [("capacity",), ("durability",)]),
    (
        "SELECT relname, row_number() OVER (ORDER BY relname) FROM pg_class WHERE relkind = 'v' AND oid >= 16384",
        [("sparta", 1), ("used", 2)],
    ),
    (
        "SELECT relkind AS kind, count(*) FROM pg_class WHERE oid >= 16384 GROUP BY kind ORDER BY kind",
        [("f", 1), ("i", 2), ("r", 1), ("v", 2)],
    ),
    ("SELECT oid FROM pg_class WHERE relname = 'used' UNION SELECT 1::oid ORDER BY 1", [(1,), (16387,)]),
    (
        "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'FOREIGN'",
        [("part_usage",)],
    ),
    ("SELECT tableoid::regclass, relname FROM pg_class WHERE oid = 16387", [("pg_class", "used")]),
    ("SELECT rolname, rolcanlogin FROM pg_roles ORDER BY 1", [("clerk", False), ("millpond", True), ("tester", True)]),
    ("SELECT EXISTS (SELECT FROM pg_class WHERE relname = 'used')", [(True,)]),
]


@pytest.mark.parametrize(("query", "rows"), QUERIES, ids=[text[:60] for text, _ in QUERIES])
def test_queries(asked: Asked, query: str, rows: list[tuple[object, ...]]) -> None:
    assert asked(query) == rows


def test_types_of_columns(asked: Asked) -> None:
    assert asked.types("SELECT oid, relname, relkind, relnatts, reltuples, relhasindex, reloptions FROM pg_class") == [
        "oid", "name", '"char"', "smallint", "real", "boolean", "text[]",
    ]  # fmt: skip
    assert asked.types(
        "SELECT count(*), min(relname), max(oid), array_agg(relkind), string_agg(relname, ','), sum(relnatts),"
        " coalesce(relname, 'x'), relname || '', relnatts + 1, oid::regclass, NULL, indkey FROM pg_class, pg_index"
    ) == [
        "bigint", "text", "oid", '"char"[]', "text", "bigint", "name", "text", "integer", "text", "text", "int2vector",
    ]  # fmt: skip


ERRORS = [
    ("SELECT nothing FROM pg_class", "42703", 'column "nothing" does not exist', 8),
    ("SELECT c.nothing FROM pg_class c", "42703", "column c.nothing does not exist", 8),
    ("SELECT oid FROM pg_class, pg_type", "42702", 'column reference "oid" is ambiguous', 8),
    ("SELECT x.oid FROM pg_class", "42P01", 'missing FROM-clause entry for table "x"', 8),
    ("SELECT pg_nothing(oid) FROM pg_class", "42883", "function pg_nothing(oid) does not exist", 8),
    ("SELECT 'nothing'::regclass", "42P01", 'relation "nothing" does not exist', None),
    ("SELECT oid FROM pg_class WHERE oid = 'x'", "22P02", 'invalid input syntax for type oid: "x"', None),
    ("SELECT relname::nothing FROM pg_class", "42704", 'type "nothing" does not exist', 17),
    ("SELECT 1 FROM pg_class WHERE relname ~ '('", "2201B", None, None),
    ("SELECT oid FROM pg_class ORDER BY 2", "42P10", "ORDER BY position 2 is not in select list", 35),
    ("SELECT current_setting('nothing') FROM pg_am", "42704", 'unrecognized configuration parameter "nothing"', None),
    ("SELECT n FROM pg_am, generate_series(1, 1000000000) n", "54000", None, None),
    ("SELECT 1 FROM pg_class WHERE count(*) > 1", "0A000", None, None),
    ("SELECT relnatts / 0 FROM pg_class", "22012", "division by zero", None),
    ("SELECT oid::smallint FROM pg_class WHERE oid > 100000", "22003", None, None),
    ("SELECT lpad(relname) FROM pg_class", "42883", None, None),
    ("SELECT unnest() FROM pg_class", "42883", "function unnest() does not exist", None),
    ("SELECT array_agg() FROM pg_class", "42883", "function array_agg() does not exist", None),
    ("SELECT abs() FROM pg_class", "42883", "function abs() does not exist", 8),
]


@pytest.mark.parametrize(("query", "sqlstate", "message", "position"), ERRORS, ids=[one[0] for one in ERRORS])
def test_errors(asked: Asked, query: str, sqlstate: str, message: str | None, position: int | None) -> None:
    with pytest.raises(MillpondError) as caught:
        asked(query)
    assert caught.value.sqlstate == sqlstate
    assert message is None or caught.value.message == message
    assert caught.value.position == position


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 1",
        "SELECT now(), version(), current_user",
        "SELECT * FROM station",
        "SELECT * FROM station JOIN pg_class ON relname = plant",
        "SELECT * FROM generate_series(1, 3)",
        "SELECT pg_class FROM pg_class",
        "SELECT DISTINCT ON (relkind) relname FROM pg_class",
        "SELECT relkind, count(*) FROM pg_class GROUP BY ROLLUP (relkind)",
    ],
)
def test_what_sqlite_is_not_asked(query: str) -> None:
    assert catalog_query(parse_query(query)) is None


def test_a_new_state_of_the_catalog_is_seen(asked: Asked) -> None:
    text = "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace"
    before = asked.objects
    assert asked(text) == [(6,)]
    asked.objects = replace(before, relations={})
    assert asked(text) == [(0,)]
    asked.objects = before
    assert asked(text) == [(6,)]


def test_a_long_query_is_canceled(asked: Asked) -> None:
    def canceled() -> None:
        raise MillpondError(SqlState.QUERY_CANCELED, "canceling statement due to user request")

    asked.check_canceled = canceled
    try:
        with pytest.raises(MillpondError, match="user request"):
            asked("SELECT count(*) FROM pg_attribute a, pg_attribute b, pg_attribute c, pg_attribute d")
    finally:
        asked.check_canceled = lambda: None


@pytest.mark.parametrize("schema", ["pg_catalog", "information_schema"])
def test_every_relation_can_be_read_and_given_to_spark(asked: Asked, schema: str) -> None:
    names = [name for owner, name in DECLARED if owner == schema]
    assert len(names) > 30
    for name in names:
        _, table = asked.table(f'SELECT * FROM {schema}."{name}"')
        relation = system_relation(schema, name)
        assert relation is not None
        assert table.rename_columns(relation.arrow_schema.names).cast(relation.arrow_schema).num_rows == table.num_rows


def test_every_type_is_consistent() -> None:
    by_oid = {kind.oid: kind for kind in TYPES}
    assert len(by_oid) == len(TYPES)
    for kind in TYPES:
        assert not kind.array_oid or by_oid[kind.array_oid].element_oid == kind.oid


@given(st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))))
def test_arrays_survive_their_text(elements: list[str | None]) -> None:
    assert read_array(write_array(elements, SqlType("text[]")), SqlType("text")) == elements

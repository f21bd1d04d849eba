"""What binding finds: columns and their types, relations, casts written out; and what it leaves alone."""

from __future__ import annotations

import pytest
from sqlglot import exp

from millpond.errors import MillpondError
from millpond.relation import Column
from millpond.sql.bind import bind, bind_expression
from millpond.sql.coercion import assignment
from millpond.sql.dialect import PostgresText, parse_query, parse_scalar
from millpond.sql.nodes import is_typed, type_of
from millpond.types import BIGINT, BOOLEAN, DATE, INTEGER, NUMERIC, TEXT, SqlType, char, numeric, varchar
from tests.unit.sql.catalog import SPARK_NAMES, Names, P, T, bound, spark

# Query, and its output columns as PostgreSQL names them, with their types.
COLUMNS: tuple[tuple[str, str], ...] = (
    ("select 1, 'x', null, 1.50, 99999999999", "?column? integer, ?column? text, ?column? text, ?column? numeric(3,2)"),
    ("select count(*), sum(a), sum(x), avg(a), avg(f) from t", "count bigint, sum bigint, sum numeric(29,0)"),
    ("select a::text, '1'::int, a + 1 from t", "a text, int4 integer, ?column? integer"),
    ("select case when true then a end, case when true then 1 else b::int end from t", "case integer, b integer"),
    (
        "select coalesce(a, 1), nullif(a, 1), greatest(a, 2) from t",
        "coalesce integer, nullif integer, greatest integer",
    ),
    ("select (select a from t), exists (select 1)", "a integer, exists boolean"),
    ("select t.a, t.a from t", "a integer, a integer"),
    ('select a as "X y", b label from t', "X y integer, label text"),
    ("select * from s", "a integer, c text"),
    ("select s.*, tid from s", "a integer, c text, tid bigint"),
    ("select * from t join s using (a)", "a integer, b text, n numeric(10,2)"),
    ("select * from v", "a integer, total bigint"),
    ("select v.* from v as v(k)", "k integer, total bigint"),
    ("select a / 2, n / 3, n * n, d - d, d + 1, ts - ts from t", "?column? integer, ?column? numeric(28,20)"),
    ("select 1 union select 2.5", "?column? numeric(11,1)"),
    ("select * from (values (1, 'a')) q(i)", "i integer, column2 text"),
    (
        "select extract(year from d), date_part('year', d), now() from t",
        "extract numeric(10,0), date_part double precision",
    ),
    (
        "select lower(b), row_number() over (), trim(b), substring(b, 1) from t",
        "lower text, row_number bigint, btrim text",
    ),
    ("select g from generate_series(1, 2) g", "g integer"),
    ("select interval '1 day', current_date, current_user", "interval interval, current_date date, current_user text"),
    ("select name, code from p group by id", "name character varying(10), code character(4)"),
    ("select window_start, a from tumble(s, interval '1 minute')", "window_start timestamp with time zone, a integer"),
    ("select window_end from hop(s, 10, 100)", "window_end bigint"),
)


@pytest.mark.parametrize(("sql", "expected"), COLUMNS, ids=[sql for sql, _ in COLUMNS])
def test_columns(sql: str, expected: str) -> None:
    columns = ", ".join(f"{column.name} {column.type}" for column in bound(sql).columns)
    assert columns.startswith(expected)


def test_the_input_is_not_changed() -> None:
    tree = parse_query("select *, a + 1 from t join s using (a) where b = 'x' group by 1 order by 2")
    before = tree.sql(PostgresText)
    with pytest.raises(MillpondError):
        bind(tree, Names())
    assert tree.sql(PostgresText) == before


def test_each_occurrence_of_a_relation_is_found() -> None:
    query = bound("select 1 from t, v, s where exists (select 1 from t x) and s.a in (select id from p)")
    assert sorted(reference.key for reference in query.relations) == ["p", "s", "t", "t", "t"]


def test_a_relation_of_another_schema_has_its_schema_in_its_key() -> None:
    query = bound("select * from information_schema.columns")
    assert [reference.key for reference in query.relations] == ["information_schema.columns"]


def test_every_expression_of_a_bound_tree_has_a_type() -> None:
    tree = bound("select a + 1, count(*) filter (where b = 'x') from t where d > '2024-01-01' group by a").tree
    untyped = {
        type(node) for node in tree.find_all(exp.Column, exp.Binary, exp.Anonymous, exp.Cast) if not is_typed(node)
    }
    assert untyped == set()


def test_a_bound_tree_is_still_postgresql() -> None:
    tree = bound("select a / 2 as half from t where now() - interval '1 day' < ts order by 1 desc").tree
    assert tree.sql(PostgresText) == (
        'SELECT "t"."a" / 2 AS "half" FROM "public"."t" AS "t" '
        'WHERE NOW() - CAST(\'1 day\' AS INTERVAL) < "t"."ts" ORDER BY "half" DESC'
    )


def test_an_alias_that_is_also_a_column_is_renamed_for_spark() -> None:
    text = spark("select x.a from t x where exists (select 1 from t y where y.a = x.a)")
    assert "FROM `t_data` AS `x@` WHERE EXISTS" in text


def test_windows_of_streams_are_left_to_the_planner() -> None:
    query = bound("select window_start, count(*) from tumble(s, interval '1 minute') group by window_start")
    assert [reference.key for reference in query.relations] == ["s"]
    with pytest.raises(MillpondError, match="TUMBLE in a query that is not a view is not supported"):
        query.to_spark(SPARK_NAMES)


def test_a_statement_nested_too_deeply_is_an_error() -> None:
    tree = parse_query("select 1")
    node = tree.expressions[0]
    for _ in range(3000):
        node = exp.Paren(this=node)
    tree.set("expressions", [node])
    with pytest.raises(MillpondError, match="nested too deeply"):
        bind(tree, Names())


def test_long_arguments_are_not_copied_over_and_over() -> None:
    text = "b"
    for _ in range(12):
        text = f"right({text}, a)"
    assert len(spark(f"select {text} from t")) < 20_000


# -- assignment -----------------------------------------------------------------------------------------------


def stored(expression: str, target: SqlType, source: str = "t") -> str:
    """What an INSERT of an expression stores, in Spark SQL."""
    columns = [Column("target", target)]
    return bind(parse_query(f"select {expression} from {source}"), Names(), targets=columns).to_spark(SPARK_NAMES)


@pytest.mark.parametrize(
    ("expression", "target", "expected"),
    [
        ("'5'", INTEGER, "CAST(5 AS INT)"),
        ("n", INTEGER, "CAST(ROUND(`t`.`n`, 0) AS INT)"),
        ("f", BIGINT, "CAST(RINT(`t`.`f`) AS BIGINT)"),
        ("a", TEXT, "CAST(`t`.`a` AS STRING)"),
        ("a", numeric(5, 2), "CAST(`t`.`a` AS DECIMAL(5,2))"),
        ("ts", DATE, "CAST(`t`.`ts` AS DATE)"),
        ("n", NUMERIC, "CAST(`t`.`n` AS DECIMAL(38,18))"),
        ("null", DATE, "CAST(NULL AS DATE)"),
    ],
)
def test_assignment(expression: str, target: SqlType, expected: str) -> None:
    assert stored(expression, target) == f"SELECT {expected} AS `c0` FROM `t_data` AS `t`"


def test_text_that_is_too_long_is_an_error_when_stored() -> None:
    text = stored("b", varchar(3))
    assert "RAISE_ERROR('22001:value too long for type character varying(3)')" in text
    assert "RAISE_ERROR" in stored("b", char(3))
    assert "RAISE_ERROR" not in spark("select b::varchar(3) from t")


@pytest.mark.parametrize(
    ("expression", "target", "message"),
    [
        ("b", INTEGER, 'column "target" is of type integer but expression is of type text'),
        ("a", DATE, 'column "target" is of type date but expression is of type integer'),
        ("a > 1", INTEGER, 'column "target" is of type integer but expression is of type boolean'),
        ("n", BOOLEAN, 'column "target" is of type boolean but expression is of type numeric'),
    ],
)
def test_assignment_of_another_type_is_refused(expression: str, target: SqlType, message: str) -> None:
    with pytest.raises(MillpondError) as caught:
        stored(expression, target)
    assert (caught.value.sqlstate, caught.value.message) == ("42804", message)
    assert caught.value.hint == "You will need to rewrite or cast the expression."


def test_assignment_of_one_expression() -> None:
    node = bound("select a from t").tree.expressions[0].this
    assert assignment(node, INTEGER, INTEGER) is node
    assert type_of(assignment(node, INTEGER, BIGINT)) == BIGINT


# -- expressions over one relation ----------------------------------------------------------------------------


def test_a_check() -> None:
    check = bind_expression(parse_scalar("a > 0 and b <> ''"), T.columns, relation_name="t", clause="check constraints")
    assert check.type == BOOLEAN
    assert check.to_spark() == "CAST((`t`.`a` > 0) AND (`t`.`b` <> '') AS BOOLEAN)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sum(a) > 0", "aggregate functions are not allowed in check constraints"),
        ("row_number() over () > 0", "window functions are not allowed in check constraints"),
        ("a in (select 1)", "cannot use subquery in check constraint"),
        ("nope > 0", 'column "nope" does not exist'),
    ],
)
def test_what_a_check_may_not_contain(text: str, message: str) -> None:
    with pytest.raises(MillpondError) as caught:
        bind_expression(parse_scalar(text), T.columns, relation_name="t", clause="check constraints")
    assert caught.value.message == message


def test_an_expression_for_a_column_is_cast_to_it() -> None:
    name = next(column for column in P.columns if column.name == "name")
    value = bind_expression(parse_scalar("id + 1"), P.columns, Names(), relation_name="p", target=name)
    assert value.type == varchar(10)
    assert "CAST(`p`.`id` + 1 AS STRING)" in value.to_spark()

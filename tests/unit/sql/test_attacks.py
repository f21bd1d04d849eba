"""What must never reach Spark: refused while parsing or binding, or printed so that it is only data."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp
from sqlglot.errors import SqlglotError

from millpond.errors import InternalError, MillpondError
from millpond.sql.spark_text import name_text, spark_text, string_text
from tests.unit.sql.catalog import bound, spark

REFUSED = (
    "select reflect('java.lang.Runtime', 'getRuntime')",
    "select java_method('java.lang.System', 'getenv', 'PATH')",
    "select try_reflect('java.lang.System', 'exit', 1)",
    "select \"reflect\"('java.lang.System', 'getenv')",
    "select pg_catalog.reflect('a', 'b')",
    "select system.builtin.reflect('a', 'b')",
    "select input_file_name()",
    "select spark_partition_id()",
    "select current_catalog() || current_database('x')",
    "select assert_true(false)",
    "select raise_error('22012:division by zero')",
    "select transform(a, x -> x + 1) from t",
    "select aggregate(a, 0, (acc, x) -> acc + x) from t",
    "select array(1, 2)",
    "select map('a', 1)",
    "select named_struct('a', 1)",
    "select struct(1, 2)",
    "select explode(a) from t",
    "select from_json('{}', 'a int')",
    "select from_csv('1', 'a int')",
    "select schema_of_json('{}')",
    "select read_files('/etc/passwd')",
    "select * from read_files('/etc/passwd')",
    "select * from range(10)",
    "select * from explode(array[1])",
    "select * from csv.`/etc/passwd`",
    'select * from "csv"."/etc/passwd"',
    'select * from parquet."/tmp/x"',
    'select * from delta."/tmp/x"',
    "select * from text./etc/passwd",
    "select * from sql_keywords()",
    "select * from python_worker_logs()",
    "select * from variant_explode(a)",
    "select * from json_tuple('a', 'b')",
    "select * from stack(2, 1, 2)",
    "select * from t lateral view explode(a) e as x",
    "select * from t distribute by a",
    "select * from t cluster by a",
    "select * from t sort by a",
    "select * from t tablesample (10 percent)",
    "select * from t pivot (sum(a) for b in ('x'))",
    "select * from t unpivot (v for n in (a, f))",
    "select * from t version as of 1",
    "select * from t timestamp as of '2024-01-01'",
    "select * from t for version as of 1",
    "select * from s for system_time as of '2024-01-01'",
    "select transform (a) using 'cat' from t",
    "select transform(a) using 'cat' as (b) from t",
    "select * from (transform (a) using 'x')",
    "select * from t qualify row_number() over () = 1",
    "select * except (a) from t",
    "select * replace (1 as a) from t",
    "select a->'b' from t",
    "select a->>'b' from t",
    "select a #> '{b}' from t",
    "select a @> b from t",
    "select a ?| b from t",
    "select a::variant from t",
    "select a::struct<x int> from t",
    "select a::map<int,int> from t",
    "select try_cast(a as int) from t",
    "select cast(a as string format 'x') from t",
    "select identifier('t')",
    "select * from identifier('t')",
    "select * from t natural semi join s",
    "select * from t left semi join s on true",
    "select * from t left anti join s on true",
    "select * from t asof join s on true",
    "select * from t connect by prior a = b",
    "select * from t match_recognize (pattern (a) define a as true)",
    "select * from t limit 10 by a",
    "select top 5 * from t",
    "select sequence(1, 1000000000)",
    "select version(1)",
    "select uuid()",
    "select gen_random_uuid()",
    "select ai_query('x')",
    "select http_request('x')",
    "select session_window(ts, '1 min') from t",
    "select window(ts, '1 min') from t",
    "select input_file_block_start()",
    "select monotonically_increasing_id()",
    "select secret('a', 'b')",
    "select * from t, lateral explode(a)",
    "select * from t join lateral flatten(a)",
    "select count(*) from t group by all",
    "select * from t order by all",
    "select if(true, 1, 2)",
    "select a div b from t",
    "select a rlike 'x' from t",
    "select a regexp 'x' from t",
    "select a <=> b from t",
    "select * from `t`",
    'select "a`b" from t',
    "select 1; drop table t",
    "insert into t values (1)",
    "create view x as select 1",
    'select "${env:HOME}" from t',
    "select '\\'' ",
    "select '\\' or 1=1 --'",
    "select @@version",
    "select @x",
    "select %(a)s",
    "select {{ x }}",
    "select #temp from t",
    "select a from t where b = b'101'",
    "select x'1F'",
    "select vector[1]",
    "select {'a': 1}",
    "select date_format(ts, 'yyyy') from t",
    "select unhex('ff')",
    "select concat_ws from t",
)

# Query, and what its Spark SQL must be: the payload is a comment that is gone, or a literal.
INERT: tuple[tuple[str, str], ...] = (
    ("select /*+ broadcast(t) */ a from t", "SELECT `t`.`a` AS `c0` FROM `t_data` AS `t`"),
    ("select a /* sqlglot.meta millpond=x */ from t", "SELECT `t`.`a` AS `c0` FROM `t_data` AS `t`"),
    ("select a from t --' or 1=1", "SELECT `t`.`a` AS `c0` FROM `t_data` AS `t`"),
    ("select '${env:HOME}'", "SELECT CAST('\\u0024{env:HOME}' AS STRING) AS `c0`"),
    ('select 1 as "${env:HOME}"', "SELECT CAST(1 AS INT) AS `c0`"),
    ("select E'\\'; drop table t; --'", "SELECT CAST('\\'; drop table t; --' AS STRING) AS `c0`"),
    ("select '\\'", "SELECT CAST('\\\\' AS STRING) AS `c0`"),
    ("select ':name ? {fn now()}'", "SELECT CAST(':name ? {fn now()}' AS STRING) AS `c0`"),
    ('select 1 as "x` y"', "SELECT CAST(1 AS INT) AS `c0`"),
)


@pytest.mark.parametrize("sql", REFUSED)
def test_refused(sql: str) -> None:
    with pytest.raises((MillpondError, SqlglotError)) as caught:
        bound(sql)
    assert not isinstance(caught.value, InternalError)


@pytest.mark.parametrize(("sql", "expected"), INERT)
def test_inert(sql: str, expected: str) -> None:
    assert spark(sql) == expected


def test_a_name_in_a_subquery_is_quoted() -> None:
    text = spark('select q."x` y" from (select a as "x` y" from t) as q')
    assert "AS `x`` y`" in text
    assert "`q`.`x`` y`" in text


def test_a_name_with_a_variable_is_refused() -> None:
    with pytest.raises(MillpondError, match="is not supported"):
        spark('select q."${env:HOME}" from (select a as "${env:HOME}" from t) as q')


def test_a_cte_cannot_take_the_place_of_a_relation() -> None:
    text = spark("with t_data as (select 1 as a) select t.a from t, t_data")
    assert text.startswith("WITH `with t_data`(`a`)")
    assert "FROM `t_data` AS `t`, `with t_data` AS `t_data`" in text


def test_a_node_without_a_printer_is_an_error_of_ours() -> None:
    with pytest.raises(InternalError):
        spark_text(exp.JSONExtract(this=exp.Null(), expression=exp.Null()))


def test_functions_in_generated_text_are_ours() -> None:
    """Only the function table can name a function: a call by any other name does not bind."""
    with pytest.raises(MillpondError, match="does not exist"):
        bound('select "LOWER"(b) from t')


_STRING = re.compile(r"'(?:[^'\\]|\\.)*'", re.DOTALL)


@given(st.text())
def test_a_string_stays_one_literal(value: str) -> None:
    text = string_text(value)
    assert _STRING.fullmatch(text)
    assert "${" not in text


@given(st.text(st.characters(exclude_characters="$\0", exclude_categories=["Cs"]), min_size=1))
def test_a_name_stays_one_name(value: str) -> None:
    text = name_text(value)
    assert re.fullmatch(r"`(?:[^`]|``)*`", text, re.DOTALL)


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_any_text_binds_to_itself(value: str) -> None:
    quoted = value.replace("'", "''")
    tree = bound(f"select '{quoted}'").tree
    assert tree.expressions[0].this.this == value

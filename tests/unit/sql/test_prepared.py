"""Parameters of prepared statements: counted, written as literals, and typed by where they stand."""

from __future__ import annotations

import time

import pytest
from sqlglot import exp

from millpond import types
from millpond.sql.parameters import TypedText
from millpond.sql.parse import parse_query
from millpond.sql.prepared import insert_template, parameter_count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("SELECT 1", 0),
        ("SELECT $2, $1", 2),
        ("SELECT '$1', \"$2\", $$ $3 $$, $x$ $4 $x$ -- $5\n, $1 /* $6 */", 1),
        ("SELECT E'\\'$1', $2", 2),
        ("SELECT a$1 FROM t", 0),
        ("INSERT INTO t VALUES ($1,$2,$3)", 3),
    ],
)
def test_parameters_are_counted_outside_of_quotes(text: str, count: int) -> None:
    assert parameter_count(text) == count


@pytest.mark.parametrize("part", ["x", "9", "'", '"', "e'", "/*", "$a", "$a$", "-", "x$", "1$ "])
def test_long_texts_are_read_once(part: str) -> None:
    """Whatever is repeated, and whatever has no end: if places were looked at again and again, this took minutes."""
    started = time.perf_counter()
    parameter_count("SHOW " + part * 200_000)
    assert time.perf_counter() - started < 5


def test_what_has_no_end_hides_what_follows() -> None:
    assert [parameter_count(text) for text in ("'$1", '"$1', "e'$1", "/*$1", "$a$ $1", "$a$1")] == [0] * 6


@pytest.mark.parametrize("text", ["SELECT $1,$2", "SELECT f($1,$2)", "VALUES ($1,$2,'$3')", "SELECT $$a$1,$2$$, $1,$2"])
def test_parameters_may_stand_close_together(text: str) -> None:
    assert {node.name for node in parse_query(text).find_all(exp.Parameter)} == {"1", "2"}


def test_an_insert_of_parameters_becomes_one_of_literals() -> None:
    template = insert_template("INSERT INTO t (a, b, c, d) VALUES ($1, $2, $3, '$1')")
    assert template is not None
    values = [TypedText("it's"), TypedText(None, types.INTEGER), TypedText("1.5", types.DOUBLE)]
    statement = template.statement([values, values])
    assert statement is not None
    bound = statement.values
    assert bound.literals == (
        ("'it''s'",) * 2,
        ("NULL",) * 2,
        ("'1.5'::double precision",) * 2,
        ("'$1'",) * 2,
    )
    assert (bound.row_count, bound.columns, bound.position(0, 0)) == (2, ("a", "b", "c", "d"), None)


@pytest.mark.parametrize(
    "text",
    ["SELECT $1", "INSERT INTO t VALUES ($1 + 1)", "INSERT INTO t VALUES ($1, DEFAULT)", "INSERT INTO t SELECT $1"],
)
def test_other_statements_are_no_templates(text: str) -> None:
    assert insert_template(text) is None


@pytest.mark.parametrize(
    ("written", "value", "literal"),
    [
        ("$1::varchar", TypedText("x"), "'x'::varchar"),
        ("$1::INTEGER", TypedText("1", types.SMALLINT), "'1'::integer"),
        ("$1::text", TypedText("x", types.VARCHAR), "'x'::text"),
        ("$1::text", TypedText(None, types.VARCHAR), "NULL"),
        ("$1::integer", TypedText("1.5", types.DOUBLE), None),
    ],
)
def test_parameters_may_have_a_cast(written: str, value: TypedText, literal: str | None) -> None:
    template = insert_template(f"INSERT INTO t VALUES ({written})")
    assert template is not None
    statement = template.statement([[value]])
    assert (statement.values.literals if statement else None) == (None if literal is None else ((literal,),))


def test_a_parameter_behind_a_type_is_no_literal() -> None:
    assert insert_template("INSERT INTO t VALUES (date $1)") is None

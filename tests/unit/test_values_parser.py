"""The fast INSERT parser: what it takes, what it leaves to the general parser, and that the two agree."""

import time
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from millpond.errors import MillpondError
from millpond.relation import Column
from millpond.sql.values_parser import WIDTH_MAX, InsertValues, insert_table, parse_insert_values
from millpond.types import BIGINT, BOOLEAN, DATE, DOUBLE, INTEGER, SMALLINT, TEXT, TIMESTAMP, SqlType, numeric, varchar


def parsed(sql: str) -> InsertValues:
    insert = parse_insert_values(sql)
    assert insert is not None, sql
    return insert


def test_names_are_folded_unless_quoted() -> None:
    insert = parsed('insert into Public."My ""T""" ( A, "B c" )values(1,2) ; ')
    assert (insert.schema, insert.table, insert.columns) == ("public", 'My "T"', ("a", "B c"))
    assert insert.sql[insert.table_position - 1 :].startswith("Public")
    assert insert.sql[insert.column_position(1) - 1 :].startswith('"B c"')


def test_every_kind_of_literal() -> None:
    sql = (
        "INSERT INTO t VALUES (1, -2.5, +.5, 1e3, 'it''s', E'\\n\\'', TRUE, null, Default, DATE '2024-01-31', '7'::int)"
    )
    literals = [column[0] for column in parsed(sql).literals]
    assert literals == [
        *("1", "-2.5", "+.5", "1e3", "'it''s'", "E'\\n\\''", "TRUE", "null", "Default"),
        *("DATE '2024-01-31'", "'7'::int"),
    ]


def test_positions_are_those_of_the_text() -> None:
    sql = "INSERT INTO t VALUES\n  (1, 'a, (b)'),\n  (2,  'c')"
    insert = parsed(sql)
    assert (insert.row_count, insert.literals) == (2, (("1", "2"), ("'a, (b)'", "'c'")))
    assert insert.position(1, 1) == sql.index("'c')") + 1


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1",
        "INSERT INTO t SELECT 1",
        "INSERT INTO t VALUES (1 + 1)",
        "INSERT INTO t VALUES (1), (2, 3)",
        "INSERT INTO t VALUES (1),",
        "INSERT INTO t VALUES (1",
        "INSERT INTO t VALUES ()",
        "INSERT INTO t VALUES (1) (2)",
        "INSERT INTO t VALUES (1); SELECT 2",
        "INSERT INTO t VALUES (1) RETURNING a",
        "INSERT INTO t VALUES (1 -- one\n)",
        "INSERT INTO t VALUES ('a' 'b')",
        "INSERT INTO t VALUES ('a)",
        "INSERT INTO t VALUES (now())",
        "INSERT INTO t VALUES (1.2.3)",
        "INSERT INTO t VALUES (12abc)",
        "INSERT INTO t VALUES ('1'::integer[])",
        "INSERT INTO t VALUES ('1'::integers)",
        "INSERT INTO t VALUES (truely)",
        "INSERT INTO t VALUES (x'1F')",
        "INSERT INTO t AS u VALUES (1)",
        "INSERT INTO a.b.c VALUES (1)",
    ],
)
def test_anything_else_is_left_to_the_general_parser(sql: str) -> None:
    assert parse_insert_values(sql) is None


def test_very_wide_rows_are_left_to_the_general_parser() -> None:
    started = time.perf_counter()
    assert parse_insert_values(f"INSERT INTO t VALUES ({', '.join(['1'] * WIDTH_MAX)})") is not None
    assert parse_insert_values(f"INSERT INTO t VALUES ({', '.join(['1'] * 20_000)})") is None
    assert time.perf_counter() - started < 5


def test_an_unclosed_quote_in_a_long_text_is_found_at_once() -> None:
    assert parse_insert_values("INSERT INTO t VALUES (1, 'a'), (2, '" + "'b', (" * 200_000) is None


CONVERTED: list[tuple[SqlType, list[str], list[Any]]] = [
    (INTEGER, ["1", "-2", "NULL"], [1, -2, None]),
    (INTEGER, ["2.5", "-2.5", "1e3", "' 7 '"], [3, -3, 1000, 7]),
    (BIGINT, ["9223372036854775807"], [2**63 - 1]),
    (numeric(6, 2), ["1.005", "2", "'3'"], [Decimal("1.01"), Decimal(2), Decimal(3)]),
    (DOUBLE, ["1", "2.5e-1", "'NaN'::float8"], [1.0, 0.25, pytest.approx(float("nan"), nan_ok=True)]),
    (BOOLEAN, ["true", "FALSE", "'yes'", "null"], [True, False, True, None]),
    (
        TEXT,
        ["007", "1.50", "1e3", "true", "'it''s'", "E'\\x41\\u00fc\\t\\''"],
        ["7", "1.50", "1000", "true", "it's", "Aü\t'"],
    ),
    (
        DATE,
        ["'2024-01-31'", "DATE '2024-02-01'", "timestamp'2024-02-02 10:00'"],
        [date(2024, 1, 31), date(2024, 2, 1), date(2024, 2, 2)],
    ),
    (TIMESTAMP, ["'2024-01-31 10:00:00'", "'2024-01-31'::date"], [datetime(2024, 1, 31, 10), datetime(2024, 1, 31)]),
    (varchar(3), ["'abc  '", "12"], ["abc", "12"]),
    (INTEGER, ["'1'::bigint", "'-2'::bigint"], [1, -2]),
    (INTEGER, ["'1'::bigint", "'2'::INT", "'3'", "NULL"], [1, 2, 3, None]),
    (TEXT, ["'it''s'::text", "'::text'::text", "''::text"], ["it's", "::text", ""]),
    (TEXT, ["'a''::text'", "'b'"], ["a'::text", "b"]),
]


@pytest.mark.parametrize(("type", "literals", "values"), CONVERTED)
def test_literals_are_assigned(type: SqlType, literals: list[str], values: list[Any]) -> None:
    insert = parsed("INSERT INTO t VALUES " + ", ".join(f"({literal})" for literal in literals))
    column = insert_table(insert, [Column("x", type)]).column("x")
    assert column.type == type.arrow
    assert column.to_pylist() == values


REFUSED: list[tuple[SqlType, str, str, str]] = [
    (INTEGER, "true", "42804", 'column "x" is of type integer but expression is of type boolean'),
    (BOOLEAN, "1", "42804", 'column "x" is of type boolean but expression is of type integer'),
    (DATE, "20240131", "42804", 'column "x" is of type date but expression is of type integer'),
    (DATE, "1.5", "42804", 'column "x" is of type date but expression is of type numeric'),
    (SMALLINT, "99999", "22003", "smallint out of range"),
    (INTEGER, "1e300", "22003", "integer out of range"),
    (INTEGER, "'abc'", "22P02", 'invalid input syntax for type integer: "abc"'),
    (TEXT, "E'\\xff'", "22P02", 'invalid byte sequence for encoding "UTF8"'),
    (numeric(4, 2), "100", "22003", "numeric field overflow"),
    (varchar(3), "1234", "22001", "value too long for type character varying(3)"),
]


@pytest.mark.parametrize(("type", "literal", "sqlstate", "message"), REFUSED)
def test_refused_literals_are_pointed_at(type: SqlType, literal: str, sqlstate: str, message: str) -> None:
    sql = f"INSERT INTO t VALUES (1, NULL), (2, {literal}), (3, NULL)"
    with pytest.raises(MillpondError) as caught:
        insert_table(parsed(sql), [Column("id", INTEGER), Column("x", type)])
    error = caught.value
    assert (error.sqlstate, error.message) == (sqlstate, message)
    assert error.position == sql.index(literal, sql.index("(2")) + 1


@pytest.mark.parametrize(
    ("sql", "sqlstate", "message", "near"),
    [
        ("INSERT INTO t (a, c) VALUES (1, 2)", "42703", 'column "c" of relation "t" does not exist', "c)"),
        ("INSERT INTO t (a, a) VALUES (1, 2)", "42701", 'column "a" specified more than once', "a) "),
        ("INSERT INTO t VALUES (1, 2, 3)", "42601", "INSERT has more expressions than target columns", "3)"),
        ("INSERT INTO t (a, b) VALUES (1)", "42601", "INSERT has more target columns than expressions", "b)"),
    ],
)
def test_columns_are_checked(sql: str, sqlstate: str, message: str, near: str) -> None:
    with pytest.raises(MillpondError) as caught:
        insert_table(parsed(sql), [Column("a", INTEGER), Column("b", INTEGER)])
    assert (caught.value.sqlstate, caught.value.message) == (sqlstate, message)
    assert caught.value.position == sql.index(near) + 1


def test_defaults_are_filled_in_where_asked_for() -> None:
    insert = parsed("INSERT INTO t (b, a) VALUES (1, DEFAULT), (default, 'x')")
    assert insert.defaulted == (0, 1)
    columns = [Column("a", TEXT, default="'none'"), Column("b", INTEGER), Column("c", INTEGER)]
    table = insert_table(insert, columns, {"a": pa.scalar("none")})
    assert table.to_pydict() == {"b": [1, None], "a": ["none", "x"]}


LITERALS = st.one_of(
    st.integers(-(10**20), 10**20).map(str),
    st.decimals(allow_nan=False, allow_infinity=False, places=3).map(lambda value: f"{value:f}"),
    st.sampled_from(["1e5", "2.5E-3", ".5", "TRUE", "false", "NULL", "null"]),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=10).map(
        lambda text: "'" + text.replace("'", "''") + "'"
    ),
)
BLANKS = st.sampled_from(["", " ", "\n", "\t "])


@settings(deadline=None)
@given(st.data())
def test_agrees_with_the_general_parser(data: st.DataObject) -> None:
    width = data.draw(st.integers(1, 4))
    rows = data.draw(st.lists(st.lists(LITERALS, min_size=width, max_size=width), min_size=1, max_size=5))
    blank = data.draw(BLANKS)
    comma = f"{blank},{blank}"
    sql = "INSERT INTO t VALUES " + comma.join(f"({blank}{comma.join(row)}{blank})" for row in rows)
    tree = sqlglot.parse_one(sql, dialect="postgres")
    values = tree.find(exp.Values)
    assert values is not None
    general = [[value_of(node) for node in row.expressions] for row in values.expressions]
    fast = [
        [value_of(sqlglot.parse_one(text, dialect="postgres")) for text in row]
        for row in zip(*parsed(sql).literals, strict=True)
    ]
    assert fast == general


def value_of(node: exp.Expr) -> tuple[str, Any]:
    """A literal's kind and value."""
    if isinstance(node, exp.Neg):
        kind, text = value_of(node.this)
        return kind, f"-{text}"
    if isinstance(node, exp.Boolean | exp.Null):
        return "word", node.sql()
    assert isinstance(node, exp.Literal)
    return ("string" if node.is_string else "number"), node.this

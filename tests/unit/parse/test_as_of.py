"""`t AS OF CYCLE n [OF query]` and `t FOR SYSTEM_TIME AS OF time`: how they are read and bound."""

from __future__ import annotations

import pytest
from sqlglot import exp

from millpond.errors import MillpondError, SqlState
from millpond.sql.bind import bind
from millpond.sql.parse import parse, parse_query, parse_tree
from millpond.sql.prepared import decided_types, open_parameters
from millpond.types import BIGINT, TIMESTAMPTZ
from tests.unit.sql.catalog import Names, bound


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT * FROM t AS OF CYCLE 5 OF q AS x", ("CYCLE", "5", "q", "x")),
        ("SELECT * FROM t as of cycle 5 x", ("CYCLE", "5", "AS OF", "x")),
        ("SELECT * FROM t AS OF CYCLE $1::int", ("CYCLE", "CAST($1 AS INT)", "AS OF", "")),
        ("SELECT * FROM t FOR SYSTEM_TIME AS OF now() - interval '1 day' AS x", ("TIMESTAMP", None, "AS OF", "x")),
    ],
)
def test_a_table_as_it_was(text: str, expected: tuple[str, str | None, str, str]) -> None:
    table = parse_tree(text).find(exp.Table)
    assert table is not None
    version = table.args["version"]
    kind = version.args["kind"]
    assert (version.this, getattr(kind, "name", kind), table.alias) == (expected[0], expected[2], expected[3])
    assert expected[1] is None or version.expression.sql("postgres") == expected[1]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM t AS OF CYCLE",
        "SELECT * FROM t AS OF CYCLE 1 OF",
        "SELECT * FROM t FOR SYSTEM_TIME '2024-01-01'",
        "SELECT * FROM t FOR SYSTEM_TIME BETWEEN 1 AND 2",
        "SELECT * FROM t VERSION AS OF 3",
    ],
)
def test_a_past_that_cannot_be_read(text: str) -> None:
    with pytest.raises(MillpondError) as raised:
        parse(text)
    assert raised.value.sqlstate is SqlState.SYNTAX_ERROR


def test_of_is_still_an_alias() -> None:
    table = parse_tree("SELECT of.a FROM t AS of").find(exp.Table)
    assert table is not None
    assert (table.alias, table.args.get("version")) == ("of", None)


def test_a_table_and_its_past_are_two_relations() -> None:
    query = bound("SELECT a.id, b.id FROM p a JOIN p FOR SYSTEM_TIME AS OF now() - interval '1 day' b ON a.id = b.id")
    assert [one.key for one in query.relations] == ["p", "version 7.p"]
    text = query.to_spark({"p": "now_data", "version 7.p": "past_data"})
    assert "now_data" in text
    assert "past_data" in text
    assert {read.relation for read in query.reads} == {"p"}


def test_a_moment_decides_the_types_of_its_parameters() -> None:
    text = "SELECT 1 FROM p AS OF CYCLE $2 x, p FOR SYSTEM_TIME AS OF $1 y"
    tree = bind(parse_query(text, open_parameters([None, None])), Names()).tree
    assert decided_types([tree]) == {1: TIMESTAMPTZ, 2: BIGINT}

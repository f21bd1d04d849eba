"""CREATE, ALTER, DROP and EXPLAIN CONTINUOUS QUERY as records."""

from __future__ import annotations

import pytest

from millpond.errors import MillpondError
from millpond.sql.parameters import Parameters
from millpond.sql.parse import parse, parse_insert
from millpond.sql.statements import (
    AlterContinuousQuery,
    ChangeOwner,
    CreateContinuousQuery,
    DropContinuousQuery,
    ExplainContinuousQuery,
    Name,
    RoleName,
    Statement,
)

CREATE = "CREATE CONTINUOUS QUERY q AS INSERT INTO t (a, b) SELECT x, y FROM s WHERE x > 1"


def test_create() -> None:
    made = parse(CREATE)
    assert isinstance(made, CreateContinuousQuery)
    assert (made.name, made.or_replace, made.if_not_exists, made.options) == (Name("q", None, 25), False, False, {})
    assert made.text == CREATE[CREATE.index("INSERT") :]
    assert (made.insert.target.name, made.insert.columns) == ("t", ("a", "b"))
    assert made.insert.target.position == CREATE.index("t (a") + 1, "places are those in the whole statement"
    assert parse_insert(made.text).source == made.insert.source, "its text is enough to make it again"


def test_create_with_everything() -> None:
    made = parse(
        "CREATE OR REPLACE CONTINUOUS QUERY IF NOT EXISTS public.\"Q\" WITH (start = 'earliest')"
        " AS INSERT INTO t WITH w AS (SELECT 1 FROM s) SELECT * FROM w"
    )
    assert isinstance(made, CreateContinuousQuery)
    assert (made.name.name, made.name.schema, made.or_replace, made.if_not_exists) == ("Q", "public", True, True)
    assert made.options == {"start": "earliest"}


@pytest.mark.parametrize(
    ("text", "record"),
    [
        ("ALTER CONTINUOUS QUERY q PAUSE", AlterContinuousQuery(Name("q", None, 24), "pause")),
        ("ALTER CONTINUOUS QUERY IF EXISTS q RESUME", AlterContinuousQuery(Name("q", None, 34), "resume", "", True)),
        ("alter continuous query q rename to r;", AlterContinuousQuery(Name("q", None, 24), "rename", "r")),
        ("ALTER CONTINUOUS QUERY q OWNER TO bob", ChangeOwner("query", Name("q", None, 24), RoleName("bob"))),
        ("DROP CONTINUOUS QUERY q", DropContinuousQuery((Name("q", None, 23),), False)),
        (
            "DROP CONTINUOUS QUERY IF EXISTS q, r CASCADE",
            DropContinuousQuery((Name("q", None, 33), Name("r", None, 36)), True),
        ),
        ("EXPLAIN CONTINUOUS QUERY q", ExplainContinuousQuery(Name("q", None, 26))),
    ],
)
def test_the_others(text: str, record: Statement) -> None:
    assert parse(text) == record


def test_explain_of_one_that_is_not_created() -> None:
    text = "EXPLAIN CREATE CONTINUOUS QUERY q AS INSERT INTO t SELECT * FROM s"
    explained = parse(text)
    assert isinstance(explained, ExplainContinuousQuery)
    assert explained.new is not None
    assert explained.name == explained.new.name == Name("q", None, 33)
    assert explained.new.insert.target.position == text.index("t SELECT") + 1


@pytest.mark.parametrize(
    ("text", "sqlstate", "near"),
    [
        ("EXPLAIN ANALYZE CREATE CONTINUOUS QUERY q AS INSERT INTO t SELECT 1", "0A000", "CREATE CONTINUOUS"),
        ("CREATE CONTINUOUS QUERY q AS SELECT 1", "42601", "SELECT 1"),
        ("CREATE CONTINUOUS QUERY q INSERT INTO t SELECT 1", "42601", "INSERT INTO"),
        ("CREATE CONTINUOUS QUERY AS INSERT INTO t SELECT 1", "42601", "INSERT INTO"),
        ("ALTER CONTINUOUS QUERY q STOP", "42601", "STOP"),
        ("ALTER CONTINUOUS QUERY q PAUSE now", "42601", "now"),
        ("DROP CONTINUOUS QUERY", "42601", ""),
        ("CREATE CONTINUOUS QUERY q AS INSERT INTO t SELECT 1 ON CONFLICT DO NOTHING", "0A000", None),
    ],
)
def test_what_is_wrong_is_pointed_at(text: str, sqlstate: str, near: str | None) -> None:
    with pytest.raises(MillpondError) as caught:
        parse(text)
    assert caught.value.sqlstate == sqlstate
    if near is not None:
        assert caught.value.position is not None
        assert text[caught.value.position - 1 :].startswith(near)


def test_a_definition_has_no_parameters() -> None:
    text, given = Parameters.of("CREATE CONTINUOUS QUERY q AS INSERT INTO t SELECT $1 FROM s", [1])
    with pytest.raises(MillpondError) as caught:
        parse(text, given)
    assert caught.value.sqlstate == "42P02"

"""CREATE, ALTER, DROP and EXPLAIN CONTINUOUS QUERY as records."""

from __future__ import annotations

import pytest

from millpond.errors import MillpondError
from millpond.sql.parameters import Parameters
from millpond.sql.parse import parse, parse_definition
from millpond.sql.split import split
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
    assert (made.defined.inserts[0].target.name, made.defined.inserts[0].columns) == ("t", ("a", "b"))
    assert made.defined.inserts[0].target.position == CREATE.index("t (a") + 1, (
        "places are those in the whole statement"
    )
    assert parse_definition(made.text).inserts[0].source == made.defined.inserts[0].source, (
        "its text is enough to make it again"
    )


def test_create_with_everything() -> None:
    made = parse(
        "CREATE OR REPLACE CONTINUOUS QUERY IF NOT EXISTS public.\"Q\" WITH (start = 'earliest')"
        " AS INSERT INTO t WITH w AS (SELECT 1 FROM s) SELECT * FROM w"
    )
    assert isinstance(made, CreateContinuousQuery)
    assert (made.name.name, made.name.schema, made.or_replace, made.if_not_exists) == ("Q", "public", True, True)
    assert made.options == {"start": "earliest"}


SEVERAL = """CREATE CONTINUOUS QUERY q AS {before}WITH c AS (SELECT * FROM s), d AS (SELECT a FROM c), e AS (SELECT 1)
  INSERT INTO a SELECT * FROM c; INSERT INTO b (x) WITH f AS (SELECT * FROM d) SELECT a FROM f{after}"""


@pytest.mark.parametrize(("before", "after"), [("", ""), ("(", ")"), ("(", ";)")])
def test_several_inserts_share_the_first_with(before: str, after: str) -> None:
    """Each takes what it needs of it; what nobody needs stays with the first."""
    text = SEVERAL.format(before=before, after=after)
    (source, other) = split(f"{text}; SELECT 1;")
    assert (source.text, other.text) == (text, "SELECT 1"), "it is one statement"
    made = parse(source.text)
    assert isinstance(made, CreateContinuousQuery)
    assert [(one.target.name, one.columns) for one in made.defined.inserts] == [("a", None), ("b", ("x",))]
    assert [one.target.position for one in made.defined.inserts] == [
        text.index("a SELECT") + 1,
        text.index("b (x)") + 1,
    ]
    shared = [one.source.ctes for one in made.defined.inserts if one.source is not None]
    assert [[cte.alias for cte in one] for one in shared] == [["c", "e"], ["c", "d", "f"]]
    again = parse_definition(made.text).inserts
    assert [one.source for one in again] == [one.source for one in made.defined.inserts]


@pytest.mark.parametrize(
    ("first", "following"),
    [
        ("INSERT INTO a SELECT * FROM s", "INSERT INTO b SELECT * FROM s"),
        ("WITH c AS (SELECT * FROM s) INSERT INTO a SELECT * FROM c", "INSERT INTO c SELECT * FROM s"),
        ("WITH c AS (SELECT * FROM s) INSERT INTO a SELECT * FROM c", "INSERT INTO b WITH c AS (TABLE s) TABLE c"),
        ("WITH c AS (SELECT * FROM s) INSERT INTO a SELECT * FROM c", "SELECT * FROM c"),
        ("(WITH c AS (SELECT * FROM s) INSERT INTO a SELECT * FROM c)", "INSERT INTO b SELECT * FROM c"),
    ],
)
def test_what_follows_and_does_not_read_the_with_is_a_statement_of_its_own(first: str, following: str) -> None:
    texts = [source.text for source in split(f"CREATE CONTINUOUS QUERY q AS {first}; {following}")]
    assert texts == [f"CREATE CONTINUOUS QUERY q AS {first}", following]


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
    assert explained.new.defined.inserts[0].target.position == text.index("t SELECT") + 1


@pytest.mark.parametrize(
    ("text", "sqlstate", "near"),
    [
        ("EXPLAIN ANALYZE CREATE CONTINUOUS QUERY q AS INSERT INTO t SELECT 1", "0A000", "CREATE CONTINUOUS"),
        ("CREATE CONTINUOUS QUERY q AS SELECT 1", "42601", "SELECT 1"),
        ("CREATE CONTINUOUS QUERY q AS (SELECT 1)", "42601", "SELECT 1"),
        ("CREATE CONTINUOUS QUERY q AS (INSERT INTO t SELECT 1; SELECT 2)", "42601", "SELECT 2"),
        ("CREATE CONTINUOUS QUERY q AS (INSERT INTO t SELECT 1) x", "42601", "x"),
        ("CREATE CONTINUOUS QUERY q AS (INSERT INTO t SELECT 1", "42601", ""),
        ("CREATE CONTINUOUS QUERY q AS ()", "42601", ")"),
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


def test_what_a_query_emits_is_a_branch_of_its_own() -> None:
    shared = "WITH c AS (SELECT * FROM CYCLE(s, 5))"
    made = parse(f"CREATE CONTINUOUS QUERY q AS ({shared} EMIT SELECT a FROM c; INSERT INTO t SELECT b FROM c)")
    assert isinstance(made, CreateContinuousQuery)
    assert [one.target.name for one in made.defined.inserts] == ["t"]
    assert made.defined.emit is not None
    assert [len(one.ctes) for one in made.defined.sources] == [1, 1]
    assert parse_definition(made.text).emit == made.defined.emit
    for wrong, state in {
        "CREATE CONTINUOUS QUERY q AS (EMIT SELECT a FROM s)": "0A000",
        "CREATE CONTINUOUS QUERY q AS (EMIT SELECT a FROM s; EMIT SELECT b FROM s; INSERT INTO t SELECT 1)": "0A000",
        "CREATE CONTINUOUS QUERY q AS (EMIT INSERT INTO t SELECT 1)": "42601",
        "CREATE CONTINUOUS QUERY q AS (INSERT INTO t SELECT 1; EMIT)": "42601",
    }.items():
        with pytest.raises(MillpondError) as raised:
            parse(wrong)
        assert raised.value.sqlstate.value == state, wrong

"""Flows: which queries let the rows of a stream pass one by one, and what is said of those that do not."""

from __future__ import annotations

import pytest

from millpond.errors import MillpondError
from millpond.plan.row_flow import ARRIVAL, row_flow
from tests.unit.sql.catalog import SPARK_NAMES, bound


def text(query: str) -> str:
    return row_flow(bound(query)).query.to_spark(SPARK_NAMES)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT a, c FROM s WHERE a > 1",
        "SELECT s.a, t.b FROM s JOIN t ON t.a = s.a",
        "SELECT s.a, t.b FROM t RIGHT JOIN s ON t.a = s.a",
        "SELECT q.a, v.total FROM (SELECT * FROM s WHERE c IS NOT NULL) AS q LEFT JOIN v ON v.a = q.a",
        "WITH w AS (SELECT a AS k FROM s) SELECT k FROM w UNION ALL SELECT a FROM s WHERE a < 0",
        "SELECT a, now(), random() FROM s WHERE a IN (SELECT a FROM t) AND EXISTS (SELECT 1 FROM p WHERE p.id = s.a)",
        "SELECT a, (SELECT max(b) FROM t WHERE t.a = s.a) FROM s",
        "SELECT s.a, n FROM s, generate_series(1, 3) AS n",
    ],
)
def test_rows_flow(query: str) -> None:
    asked = bound(query)
    made = row_flow(asked)
    assert [stream.name for stream in made.streams] == ["s"]
    assert made.query.columns == (*asked.columns, ARRIVAL)
    assert made.query.reads == asked.reads, "to be put in order needs no privilege"
    assert text(query).count(f"c{len(asked.columns)}"), "the tid is the last output"


def test_the_tid_comes_from_the_stream_itself() -> None:
    assert text("SELECT a FROM s AS r") == (
        "SELECT `r`.`a` AS `c0`, CAST(`r`.`tid` AS BIGINT) AS `c1` FROM `s_data` AS `r`"
    )
    assert "`s`.`tid` AS `arrival tid` FROM `s_data` AS `s`) AS `q`" in text("SELECT a FROM (SELECT a FROM s) AS q")


def test_planning_leaves_the_query_as_it_was() -> None:
    asked = bound("WITH w AS (SELECT a FROM s) SELECT a FROM w")
    before = asked.tree.copy()
    row_flow(asked)
    assert asked.tree == before


@pytest.mark.parametrize(
    ("query", "what", "near"),
    [
        ("SELECT count(*) FROM s", "an aggregate function", "count(*)"),
        ("SELECT a FROM s GROUP BY a", "GROUP BY", "a"),
        ("SELECT 1 FROM s HAVING true", "HAVING", "true"),
        ("SELECT DISTINCT a FROM s", "DISTINCT", "a FROM"),
        ("SELECT DISTINCT ON (a) a FROM s", "DISTINCT", "a FROM"),
        ("SELECT a FROM s ORDER BY c", "ORDER BY", "c"),
        ("SELECT a FROM s LIMIT 3", "LIMIT", "3"),
        ("SELECT a FROM s OFFSET 3", "OFFSET", "3"),
        ("SELECT row_number() OVER (ORDER BY tid) FROM s", "a window function", "row_number"),
        ("SELECT a FROM s UNION SELECT a FROM s", "UNION", "a FROM"),
        ("SELECT a FROM s EXCEPT SELECT a FROM t", "EXCEPT", "a FROM"),
        ("SELECT a FROM s UNION ALL SELECT a FROM t", "UNION ALL of a stream and a table", "a FROM t"),
        ("SELECT n FROM (SELECT count(*) AS n FROM s) AS q", "an aggregate function", "count(*)"),
        ("SELECT a FROM (SELECT a FROM s LIMIT 3) AS q", "LIMIT", "3"),
        ("SELECT s.a FROM s JOIN s AS r ON r.a = s.a", 'reading the stream "s" beside the stream "s"', "s.a FROM"),
        ("SELECT a FROM s WHERE a IN (SELECT a FROM s)", 'reading the stream "s" beside the stream "s"', "a FROM s)"),
        ("SELECT t.a FROM t LEFT JOIN s ON s.a = t.a", "the optional side of a LEFT JOIN", "s.a"),
        ("SELECT t.a FROM s FULL JOIN t ON s.a = t.a", "the optional side of a FULL JOIN", "s.a"),
        ("SELECT s.a FROM s, information_schema.columns", 'system relation "columns"', "s.a"),
        ("SELECT pg_notify('x', c) FROM s", "the function pg_notify", "pg_notify"),
        (
            "WITH RECURSIVE w AS (SELECT a FROM s UNION ALL SELECT a FROM w) SELECT a FROM w",
            "WITH RECURSIVE",
            "a FROM s",
        ),
    ],
)
def test_what_does_not_flow_is_refused(query: str, what: str, near: str) -> None:
    with pytest.raises(MillpondError) as caught:
        row_flow(bound(query))
    error = caught.value
    assert error.sqlstate == "0A000"
    assert what in error.message
    assert error.position is not None
    assert query[error.position - 1 :].startswith(near)


def test_groupings_are_for_views() -> None:
    with pytest.raises(MillpondError) as caught:
        row_flow(bound("SELECT a, count(*) FROM s GROUP BY a"))
    assert caught.value.message == 'GROUP BY over the stream "s" is not supported in a continuous query'
    assert caught.value.hint is not None
    assert "CREATE VIEW" in caught.value.hint


def test_without_a_stream_nothing_flows() -> None:
    with pytest.raises(MillpondError) as caught:
        row_flow(bound("SELECT a FROM t"))
    assert (caught.value.sqlstate, caught.value.message) == ("42809", "a continuous query must read a stream")

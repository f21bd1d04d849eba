"""Calls that remember, cut out of cycle queries: what feeds them, and what is left."""

from __future__ import annotations

from millpond.plan.cycle import CycleQuery, cycle_queries
from millpond.plan.plain_tuples import Comparison, PlainTuples
from tests.unit.sql.catalog import SPARK_NAMES, bound

COMMON = """
    WITH grouped AS (SELECT a, count(*) AS n FROM CYCLE(s, 10) GROUP BY a),
    moved AS (SELECT a, n, moving_sum(n, 3) OVER (PARTITION BY a) AS total FROM grouped),
    changed AS (SELECT a, total, change_point(total > 5) OVER (PARTITION BY a) AS flips FROM moved)
"""


def cut(*queries: str) -> tuple[CycleQuery, ...]:
    made = cycle_queries([bound(query) for query in queries])
    assert made is not None
    return made


def texts(query: CycleQuery) -> list[str]:
    names = {**SPARK_NAMES, **{one.key: one.relation.name for one in query.cuts}}
    feeds = [query.to_spark(names, query=one.feed) for one in query.cuts]
    return [text.replace("`", "") for text in (*feeds, query.to_spark(names))]


def test_what_is_cut_reads_what_was_cut_before() -> None:
    (query,) = cut(f"{COMMON} SELECT a FROM changed WHERE flips ORDER BY total LIMIT 3")
    first, second, rest = texts(query)
    assert first.endswith(" FROM with grouped AS grouped")
    assert "GROUP BY" in first
    assert "FROM history_0 AS q" in second
    assert "s_data" not in second + rest
    assert "history_1" in rest
    assert rest.endswith("LIMIT 3")


def test_branches_share_what_they_cut_alike() -> None:
    one, other, third = cut(
        f"{COMMON} SELECT a FROM changed WHERE flips",
        f"{COMMON} SELECT a, total FROM moved",
        "SELECT a, lag_cycle(c) OVER (PARTITION BY a) FROM CYCLE(s, 10)",
    )
    assert other.cuts == one.cuts[:1]
    assert len(one.cuts) == 2
    assert [cut.relation.name for cut in (*one.cuts, *third.cuts)] == ["history_0", "history_1", "history_2"]
    assert third.cuts[0].tuples == PlainTuples(("a", "c", "tid"))


def test_tuples_as_they_are_need_no_spark() -> None:
    """Through WITH, subqueries and comparisons with integers; anything else is for Spark."""
    (plain,) = cut(
        "WITH r AS (SELECT a AS k, c, tid AS t FROM CYCLE(s, 10) WHERE a <> 3 AND c IS NOT NULL),"
        " q AS (SELECT k, c, t FROM (SELECT a AS k, c, tid AS t FROM CYCLE(s, 10) WHERE a >= 2) e WHERE t < 7)"
        " SELECT k, change_point(c) OVER (PARTITION BY k ORDER BY t) FROM q"
    )
    conditions = (Comparison("a", ">=", 2), Comparison("tid", "<", 7))
    assert plain.cuts[0].tuples == PlainTuples(("a", "c", "tid"), conditions)
    for condition in ("c = '3'", "a = NULL", "a > tid", "a = 1 OR a = 2", "a = 1.5", "a + 1 = 2"):
        query = f"SELECT lag_cycle(a) OVER (PARTITION BY c) FROM CYCLE(s, 10) WHERE {condition}"
        assert cut(query)[0].cuts[0].tuples is None, condition


def test_expressions_around_a_call_stay_above_it() -> None:
    (query,) = cut(
        "SELECT s.a + 1, CASE WHEN change_point(s.c) OVER (PARTITION BY s.a ORDER BY upper(s.c)) THEN t.n ELSE 2 * s.a"
        " END, row_number() OVER (ORDER BY s.a) FROM CYCLE(s, 10) s JOIN t ON t.a = s.a WHERE t.n > 3"
    )
    feed, rest = texts(query)
    assert "ROW_NUMBER()" in feed
    assert "WHERE t.n > 3" in feed
    assert "CASE WHEN q.h0 THEN" in rest
    assert " JOIN " not in rest

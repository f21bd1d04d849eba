"""Joins of windows: of which pairs of rows are kept, and of which only the rows."""

from __future__ import annotations

import pytest

from millpond.plan.explain import describe
from millpond.plan.split import Choices, SplitPlan, split
from millpond.sql.bind import bind
from millpond.sql.dialect import parse_query
from tests.plans.catalog import Names

A = "HOP(part_usage, 10, 100) a"
B = "HOP(part_usage, 20, 60) b"


def plan(query: str, choices: Choices | None = None) -> SplitPlan:
    return split(bind(parse_query(query), Names()), choices=choices or Choices())


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT max(a.cost), count(*) FROM {A}, {B} WHERE a.part = b.part AND a.cost > 1",
        f"SELECT a.part, count(DISTINCT b.worker), a.window_end FROM {A} JOIN {B} ON a.part = b.part GROUP BY a.part",
        f"SELECT a.part, count(*) FROM {A} CROSS JOIN {B} GROUP BY ROLLUP (a.part) HAVING count(*) > 1",
        f"SELECT DISTINCT a.part, b.worker FROM {A} JOIN {B} ON a.cost < b.cost",
        f"SELECT max(n) FROM (SELECT a.part, count(*) AS n FROM {A} JOIN {B} ON a.part = b.part GROUP BY a.part) x",
        "SELECT count(*), now() FROM TUMBLE(part_usage, 10) a, TUMBLE(part_usage, 10) b WHERE a.tid < b.tid",
    ],
)
def test_pairs_are_kept_of_two_windows_that_are_joined_and_grouped(query: str) -> None:
    made = plan(query)
    assert made.pairs is not None
    assert [reference.key for reference in made.upper.relations] == [made.pairs.state.key]
    assert made.groupings == made.pairs.groupings
    assert made.groupings[0].concatenated, "the rows of the windows are kept as well"
    assert any(line.startswith("pairs pairs_0 of rows of state_0") for line in describe(made))


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT a.part, b.part AS other FROM {A} JOIN {B} ON a.part = b.part",
        f"SELECT a.part, count(b.part) FROM {A} LEFT JOIN {B} ON a.part = b.part GROUP BY a.part",
        f"SELECT count(*) FROM {A}, {B}, HOP(part_usage, 10, 20) c WHERE a.part = b.part AND b.part = c.part",
        f"SELECT count(*) FROM {A}, {B}, worker w WHERE a.part = b.part AND w.id = a.worker",
        f"SELECT count(*) FROM {A}, {B} WHERE a.part = b.part AND a.worker IN (SELECT id FROM worker)",
        f"SELECT count(*) FROM {A}, {B} WHERE a.part = b.part AND a.tid - b.tid < a.window_start",
        f"SELECT sum(a.cost + random()) FROM {A}, {B} WHERE a.part = b.part",
        "SELECT count(*) FROM LANDMARK(part_usage, 10) a, LANDMARK(part_usage, 10) b WHERE a.part = b.part",
        f"SELECT x.n, y.m FROM (SELECT count(*) AS n FROM {A}, {B} WHERE a.part = b.part) x,"
        " (SELECT count(*) AS m FROM TUMBLE(part_usage, 5) c) y",
    ],
)
def test_else_rows_are_joined_anew(query: str) -> None:
    made = plan(query)
    assert made.pairs is None
    assert made.windows


def test_nothing_is_kept_of_pairs_that_are_evaluated_anew() -> None:
    query = f"SELECT count(*) FROM {A}, {B} WHERE a.part = b.part"
    assert plan(query, Choices(reevaluate=True)).pairs is None


def test_partners_are_found_by_equal_values_of_one_type() -> None:
    made = plan(f"SELECT count(*) FROM {A}, {B} WHERE a.cost > b.cost AND b.part = a.part")
    assert made.pairs is not None
    assert [side.equal for side in made.pairs.sides] == ["part", "part"]
    other = plan(f"SELECT count(*) FROM {A}, {B} WHERE a.cost = b.worker")
    assert other.pairs is not None
    assert [side.equal for side in other.pairs.sides] == [None, None]

"""The key that is found in a query's outputs."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from millpond.plan.output_key import output_key
from millpond.plan.split import split
from millpond.relation import Relation
from millpond.sql.bind import bind
from millpond.sql.dialect import parse_query
from tests.plans.catalog import Names


def primary_key(relation: Relation) -> Sequence[str] | None:
    return next((key.columns for key in relation.keys if key.primary), None)


GROUPED = "SELECT part, station, count(*) AS n FROM part_usage GROUP BY part, station"


@pytest.mark.parametrize(
    ("query", "places"),
    [
        (GROUPED, (0, 1)),
        ("SELECT count(*), upper(part) FROM part_usage GROUP BY upper(part)", (1,)),
        ("SELECT sum(worker), count(*) FROM part_usage", ()),
        ("SELECT count(*) FROM part_usage GROUP BY part", None),
        (f"SELECT n, station, part FROM ({GROUPED}) u WHERE n > 3", (2, 1)),
        (f"SELECT u.part, s.plant, u.station FROM ({GROUPED}) u JOIN station s ON s.id = u.station", (0, 2)),
        (f"SELECT s.plant, sum(u.n) FROM ({GROUPED}) u JOIN station s ON s.id = u.station GROUP BY s.plant", (0,)),
        (f"SELECT plant, part FROM ({GROUPED}) u JOIN station s ON s.id = u.station", None),
        (f"SELECT part, n FROM ({GROUPED}) u WHERE n = (SELECT max(n) FROM ({GROUPED}) m)", None),
        ("SELECT part, count(*) FROM part_usage GROUP BY ROLLUP (part)", None),
        ("SELECT DISTINCT part FROM part_usage", (0,)),
        (f"{GROUPED} ORDER BY n DESC LIMIT 3", (0, 1)),
    ],
)
def test_of_a_view(query: str, places: tuple[int, ...] | None) -> None:
    plan = split(bind(parse_query(query), Names()))
    assert output_key(plan.upper.tree, primary_key) == places


@pytest.mark.parametrize(
    ("query", "places"),
    [
        ("SELECT plant, id FROM station", (1,)),
        ("SELECT plant FROM station", None),
        ("SELECT w.id, w.name, s.id FROM worker w JOIN station s ON s.id = w.shift", (0, 2)),
        ("SELECT id FROM station UNION ALL SELECT id FROM worker", None),
        ("SELECT 1 AS one", ()),
    ],
)
def test_of_a_query_over_tables(query: str, places: tuple[int, ...] | None) -> None:
    assert output_key(bind(parse_query(query), Names()).tree, primary_key) == places

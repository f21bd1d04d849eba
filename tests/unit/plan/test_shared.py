"""Groupings that share a state: which can, what is computed for all of them, and what each reads."""

from __future__ import annotations

import pytest

from millpond.plan.pipelines import Grouping
from millpond.plan.shared import SharedGrouping
from tests.unit.plan.test_split import plan

COUNTS = "SELECT part, count(*) AS n FROM part_usage GROUP BY part"


def grouping(query: str) -> Grouping:
    (made,) = plan(query).groupings
    return made


def shared(*queries: str) -> SharedGrouping:
    made = SharedGrouping({})
    for number, query in enumerate(queries):
        made = made.joined((number, "state_0"), grouping(query), ((1, 0),))
    return made


def computed(made: SharedGrouping) -> str:
    (pipeline,) = made.grouping.pipelines
    return pipeline.to_spark({pipeline.stream.name: "s"}).replace("`", "")


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ("SELECT part, sum(cost) FROM part_usage GROUP BY part", True),
        ("SELECT u.part, sum(u.cost) FROM part_usage u GROUP BY u.part", True),
        ("SELECT DISTINCT part FROM part_usage", True),
        ("SELECT part, sum(cost) FROM part_usage WHERE cost > 1 GROUP BY part", True),
        # What a condition guards from failing cannot be computed without it.
        ("SELECT part, sum(10 / station) FROM part_usage WHERE station > 0 GROUP BY part", False),
        # Spark takes no subquery in a FILTER.
        ("SELECT part, count(*) FROM part_usage WHERE station IN (SELECT id FROM station) GROUP BY part", False),
        ("SELECT station, sum(cost) FROM part_usage GROUP BY station", False),
        ("SELECT part, station, sum(cost) FROM part_usage GROUP BY part, station", False),
        ("SELECT part, count(*) FROM deliveries GROUP BY part", False),
    ],
)
def test_groupings_of_the_same_rows_by_the_same_keys_share(other: str, expected: bool) -> None:
    assert shared(COUNTS).accepts(grouping(other)) is expected
    assert shared(other).accepts(grouping(COUNTS)) is expected


def test_a_condition_that_all_have_stays_and_others_become_filters() -> None:
    made = shared(
        "SELECT part, sum(station) FROM part_usage WHERE cost > 1 AND worker = 2 GROUP BY part",
        "SELECT part, max(station) FROM part_usage WHERE worker = 2 GROUP BY part",
    )
    assert computed(made) == (
        "SELECT t.part AS k0, SUM(t.station) FILTER (WHERE t.cost > 1) AS c0,"
        " COUNT(*) FILTER (WHERE t.cost > 1) AS c1, MAX(t.station) AS c2, COUNT(*) AS c3"
        " FROM s AS t WHERE t.worker = 2 GROUP BY t.part"
    )


def test_rows_that_nobody_wants_are_not_grouped() -> None:
    made = shared(
        f"{COUNTS.replace('GROUP', 'WHERE cost > 1 GROUP')}", f"{COUNTS.replace('GROUP', 'WHERE cost < 0 GROUP')}"
    )
    assert computed(made).endswith("FROM s AS t WHERE (t.cost > 1) OR (t.cost < 0) GROUP BY t.part")


def test_what_several_want_is_computed_once() -> None:
    made = shared(COUNTS, "SELECT part, count(*), avg(station) FROM part_usage GROUP BY part", COUNTS)
    assert computed(made).count("COUNT(*)") == 1
    names = [made.members[number, "state_0"].names["p0"] for number in range(3)]
    assert names == ["c0", "c0", "c0"]


def test_a_view_that_joins_later_has_columns_of_its_own() -> None:
    made = shared(COUNTS).joined((9, "state_0"), grouping(COUNTS), ((1, 50),))
    assert made.members[9, "state_0"].names == {"k0": "k0", "p0": "c1"}
    assert made.members[9, "state_0"].select("s") == "SELECT k0 AS k0, c1 AS p0 FROM s WHERE c1 > 0"


def test_keys_may_come_in_any_order() -> None:
    made = shared(
        "SELECT part, station, count(*) FROM part_usage GROUP BY part, station",
        "SELECT station, part, sum(worker) FROM part_usage GROUP BY station, part",
    )
    second = made.members[1, "state_0"]
    assert (second.names["k0"], second.names["k1"]) == ("k1", "k0")
    alone = made.left((0, "state_0"))
    assert [key.name for key in alone.grouping.keys] == ["k0", "k1"], "parts hash by the keys in one order for ever"
    assert second.keys == ("k0", "k1")


def test_columns_go_with_their_last_user_and_their_names_do_not_come_back() -> None:
    made = shared(COUNTS, "SELECT part, max(cost) FROM part_usage GROUP BY part").left((1, "state_0"))
    assert [column.name for column in made.grouping.partials] == ["c0"]
    joined = made.joined((2, "state_0"), grouping("SELECT part, min(cost) FROM part_usage GROUP BY part"), ((1, 0),))
    assert [column.name for column in joined.grouping.partials] == ["c0", "c2"]


def test_a_state_without_keys_has_one_row_for_everybody() -> None:
    made = shared("SELECT sum(cost) FROM part_usage", "SELECT count(*) FROM part_usage WHERE cost > 1")
    assert made.members[1, "state_0"].select("s").endswith("FROM s")

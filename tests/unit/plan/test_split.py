"""The split planner: what a plan promises beyond the goldens."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from millpond.errors import InternalError, MillpondError
from millpond.plan.explain import describe, mermaid
from millpond.plan.split import SplitPlan, split
from millpond.sql.bind import BoundQuery, bind
from millpond.sql.dialect import parse_query
from tests.plans.catalog import Names

COUNTS = "SELECT part, count(*) AS n FROM part_usage GROUP BY part"


def bound(query: str) -> BoundQuery:
    return bind(parse_query(query), Names())


def plan(query: str) -> SplitPlan:
    return split(bound(query))


def test_planning_changes_nothing_and_repeats() -> None:
    query = bound(f"WITH w AS ({COUNTS}) SELECT w.n FROM w JOIN w AS v ON v.n = w.n ORDER BY 1")
    before = query.tree.copy()
    assert describe(split(query)) == describe(split(query))
    assert query.tree == before


def test_merging_is_by_keys_or_of_everything() -> None:
    (grouped,) = plan(COUNTS).groupings
    assert grouped.merge_text("parts") == "SELECT k0, SUM(p0) AS p0 FROM parts GROUP BY k0"
    (single,) = plan("SELECT count(*) FROM part_usage").groupings
    assert single.merge_text("parts") == "SELECT SUM(p0) AS p0 FROM parts"


def test_states_have_names_that_no_relation_has() -> None:
    made = plan(COUNTS)
    assert [reference.key for reference in made.upper.relations] == ["millpond.state_0"]
    assert made.groupings[0].key == "millpond.state_0"
    assert "FROM `x`" in made.upper.to_spark({"millpond.state_0": "x"})


def test_the_columns_of_the_answer_are_those_of_the_query() -> None:
    query = bound("SELECT part AS p, avg(cost), count(*) AS n FROM part_usage GROUP BY part")
    assert split(query).upper.columns == query.columns


def test_equal_groupings_are_kept_once() -> None:
    made = plan(f"SELECT a.n, b.n FROM ({COUNTS}) a JOIN ({COUNTS}) b ON a.part = b.part")
    assert [grouping.name for grouping in made.groupings] == ["state_0"]
    assert "state_0" not in {relation.name for relation in (*made.live, *made.pinned)}


def test_tables_are_pinned_below_and_live_above() -> None:
    made = plan(
        "SELECT w.name, u.n FROM worker w JOIN (SELECT u.worker, count(*) AS n FROM part_usage u"
        " JOIN station s ON s.id = u.station GROUP BY u.worker) u ON u.worker = w.id"
        " WHERE u.n > (SELECT count(*) FROM station)"
    )
    assert [table.name for table in made.pinned] == ["station"]
    assert [table.name for table in made.live] == ["worker"]
    (pipeline,) = made.groupings[0].pipelines
    assert (pipeline.stream.name, [one.name for one in pipeline.statics]) == ("part_usage", ["station"])


def test_a_union_has_a_pipeline_for_each_stream() -> None:
    union = "SELECT part FROM part_usage UNION ALL SELECT part FROM deliveries UNION ALL SELECT part FROM part_usage"
    (made,) = plan(f"SELECT part, count(*) FROM ({union}) e GROUP BY part").groupings
    assert [pipeline.stream.name for pipeline in made.pipelines] == ["part_usage", "deliveries"]


def test_the_drawing_shows_every_part() -> None:
    drawing = mermaid(plan("SELECT s.plant, count(*) FROM part_usage u JOIN station s ON s.id = u.station GROUP BY 1"))
    assert drawing.startswith("flowchart BT\n")
    for text in ('["upper pipeline"]', "state_0", '("stream<br/>part_usage")', '("table<br/>station")', "p0: rows of"):
        assert text in drawing


# -- any query is planned or refused --------------------------------------------------------------------------

_COLUMNS = st.sampled_from(["part", "station"])
_AGGREGATES = st.sampled_from(["count(*)", "sum(station)", "count(DISTINCT part)", "max(part)", "stddev(station)"])


@st.composite
def _sources(draw: st.DrawFn, depth: int) -> str:
    """Something in FROM with the columns part and station, under the alias x."""
    if depth == 0:
        return draw(
            st.sampled_from(["part_usage x", "deliveries x", "(SELECT plant AS part, id AS station FROM station) x"])
        )
    return f"({draw(_queries(depth - 1))}) x"


@st.composite
def _queries(draw: st.DrawFn, depth: int) -> str:
    """A query with the columns part and station."""
    source = draw(_sources(depth))
    column, other = draw(_COLUMNS), draw(_COLUMNS)
    inner = draw(_sources(0))
    return draw(
        st.sampled_from(
            [
                f"SELECT x.part, x.station FROM {source} WHERE x.{column} IS NOT NULL",
                f"SELECT x.part, x.station FROM {source} ORDER BY x.{column} LIMIT 3",
                f"SELECT DISTINCT x.part, x.station FROM {source}",
                f"SELECT x.part, count(*)::int AS station FROM {source} GROUP BY x.part HAVING max(x.station) > 1",
                f"SELECT max(x.part) AS part, x.station FROM {source} GROUP BY ROLLUP (x.station)",
                f"SELECT x.part, x.station FROM {source} JOIN worker w ON w.id = x.station",
                f"SELECT w.name AS part, x.station FROM worker w LEFT JOIN {source} ON w.id = x.station",
                f"SELECT x.part, x.station FROM {source} WHERE x.{column} IN (SELECT x.{column} FROM {inner})",
                f"SELECT w.name AS part, w.id AS station FROM worker w WHERE w.id < (SELECT count(*) FROM {source}"
                f" WHERE x.station = w.shift)",
                f"SELECT x.part, x.station FROM {source} UNION ALL SELECT part, station FROM deliveries",
                f"SELECT x.part, x.station FROM {source} EXCEPT SELECT name, id FROM worker",
                f"WITH c AS (SELECT * FROM {source}) SELECT x.part, y.station FROM c x JOIN c y"
                f" ON x.{other} = y.{other}",
                f"SELECT x.part, rank() OVER (ORDER BY x.{column})::int AS station FROM {source}",
            ]
        )
    )


@settings(max_examples=150, deadline=None)
@given(_queries(3), _AGGREGATES)
def test_any_query_is_planned_or_refused_with_a_reason(inner: str, aggregate: str) -> None:
    query = bound(f"SELECT x.part, {aggregate} FROM ({inner}) x GROUP BY x.part")
    try:
        made = split(query)
    except InternalError:
        raise
    except MillpondError:
        return
    assert not any(reference.relation.kind == "stream" for reference in made.upper.relations)
    assert describe(made)
    assert mermaid(made)

"""The table of aggregates: complete, and each row consistent in itself."""

from __future__ import annotations

import re

import pytest
from sqlglot import exp

from millpond.plan.aggregates import DISTINCT_TABLE, IDEMPOTENT, TABLE
from millpond.plan.partials import Aggregate
from millpond.plan.pipelines import Grouping
from millpond.plan.split import split
from millpond.sql import aggregate_functions
from millpond.sql.aggregate_calls import ARRIVAL_VALUES
from millpond.sql.bind import bind
from millpond.sql.dialect import parse_query
from millpond.sql.functions import Function
from millpond.sql.templates import parsed
from tests.plans.catalog import Names

ARGUMENTS = {
    "smallint": "station::smallint",
    "integer": "station",
    "bigint": "tid",
    "real": "weight::real",
    "double": "weight",
    "numeric": "cost",
    "number": "cost",
    "integral": "station",
    "boolean": "weight > 1",
    "text": "part",
    "date": "at::date",
    "timestamp": "at",
    "timestamptz": "arrival_timestamp",
    "interval": "at - at",
    "any": "part",
}
"""An expression of each type, over the stream `part_usage`."""

AGGREGATES = [one for one in aggregate_functions.ROWS if one.kind in ("aggregate", "ordered-set")]


def grouping(query: str) -> Grouping:
    (made,) = split(bind(parse_query(query), Names())).groupings
    return made


def written(function: Function) -> str:
    """A call of a function with one signature."""
    arguments = [ARGUMENTS[word] for word in function.overloads[0].arguments]
    if function.name in ARRIVAL_VALUES:
        arguments = arguments[:1]  # Binding adds the tid.
    if function.kind == "aggregate":
        return f"{function.name}({', '.join(arguments)})" if function.name != "string_agg" else "string_agg(part, ',')"
    direct = ["0.5"] * (len(arguments) - 1)
    return f"{function.name}({', '.join(direct)}) WITHIN GROUP (ORDER BY {arguments[-1]})"


@pytest.mark.parametrize("function", AGGREGATES, ids=lambda one: f"{one.name}({one.overloads[0].arguments})")
def test_every_aggregate_of_the_dialect_can_be_kept(function: Function) -> None:
    made = grouping(f"SELECT {written(function)} FROM part_usage")
    assert made.partials
    assert all(column.type and column.merge for column in made.partials)


@pytest.mark.parametrize("row", [*TABLE, *DISTINCT_TABLE], ids=lambda row: row.name)
def test_rows_name_only_what_they_keep(row: Aggregate) -> None:
    fields = {"sum": "INT", "result": "INT", "ascending": "TRUE", "sum_digits": "1", "unit": "1", "units": "1"}

    def names(template: str) -> set[str]:
        tree = parsed(template.format("INT", "INT", **fields))
        return {column.name for column in tree.find_all(exp.Column)}

    for partial in row.partials.values():
        assert names(partial.merge) <= set(row.partials)
        assert all(re.fullmatch(r"_\d", name) for name in names(partial.compute))
    assert names(row.finalize) <= {*row.partials, "_1"}


def test_the_names_of_aggregates_that_ignore_repetition_exist() -> None:
    assert {row.name for row in TABLE} >= IDEMPOTENT


def test_calls_share_what_they_keep() -> None:
    made = grouping("SELECT sum(cost), avg(cost), count(cost), stddev(cost), var_pop(cost) FROM part_usage")
    assert [column.holds.split()[0] for column in made.partials] == ["high", "low", "rows", "mean", "squares"]


def test_filters_keep_apart() -> None:
    made = grouping("SELECT count(*), count(*) FILTER (WHERE cost > 1) FROM part_usage")
    assert len(made.partials) == 2


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("sum(station)", "BIGINT"),
        ("sum(cost)", "BIGINT BIGINT"),
        ("sum(cost * cost)", "DECIMAL(35,4)"),
        ("sum(cost::numeric(20,2))", "DECIMAL(30,2)"),
        ("sum(weight)", "DOUBLE"),
        ("count(DISTINCT part)", "ARRAY<STRING>"),
        ("max(at)", "TIMESTAMP_NTZ"),
        ("min(arrival_timestamp)", "TIMESTAMP"),
        ("array_agg(cost ORDER BY part)", "ARRAY<STRUCT<k0: STRING, k1: BIGINT, item: DECIMAL(12,2)>>"),
        ("array_agg(DISTINCT weight)", "ARRAY<STRUCT<item: DOUBLE>>"),
        ("array_agg(at)", "ARRAY<STRUCT<k0: BIGINT, item: TIMESTAMP_NTZ>>"),
        ("array_agg(part ORDER BY tid DESC)", "ARRAY<STRUCT<k0: BIGINT, item: STRING>>"),
        ("first(part)", "STRING BIGINT"),
        ("string_agg(part, ',' ORDER BY cost)", "ARRAY<STRUCT<k0: DECIMAL(12,2), k1: BIGINT, item: STRING>>"),
    ],
)
def test_state_is_kept_in_native_types(call: str, expected: str) -> None:
    assert " ".join(column.type for column in grouping(f"SELECT {call} FROM part_usage").partials) == expected


@pytest.mark.parametrize(
    ("outputs", "expected"),
    [("count(*), sum(cost), avg(station)", True), ("count(*), max(cost)", False), ("sum(weight)", False)],
)
def test_only_exact_sums_can_be_subtracted(outputs: str, expected: bool) -> None:
    assert grouping(f"SELECT part, {outputs} FROM part_usage GROUP BY part").subtractable is expected

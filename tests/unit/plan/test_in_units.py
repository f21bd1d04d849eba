"""Numerics in units: which expressions over known values become arithmetic with bigints, and which do not."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from millpond.plan.pipelines import StreamPipeline
from millpond.plan.split import split
from millpond.sql.bind import bind
from millpond.sql.dialect import parse_query
from tests.plans.catalog import Names

GREATEST = {"lineitem": {"l_extendedprice": 10_494_950, "l_discount": 10, "l_tax": 8, "l_quantity": 5_000}}


@dataclass(frozen=True)
class Counted:
    """A pipeline as Spark SQL, without quotes and the casts of numbers, and what it reads in units."""

    text: str
    columns: set[str]


def counted(query: str, greatest: dict[str, dict[str, int]] | None = None) -> Counted:
    pipeline = _pipeline(query)
    made, columns = pipeline.in_units(GREATEST if greatest is None else greatest)
    names = {one.name: one.name for one in (pipeline.stream, *pipeline.statics)}
    text = made.to_spark(names).replace("`", "").replace("lineitem.", "")
    found = {column for names in columns.values() for column in names}
    return Counted(re.sub(r"CAST\((\d+) AS BIGINT\)", r"\1", text), found)


def _pipeline(query: str) -> StreamPipeline:
    plan = split(bind(parse_query(query), Names()))
    return plan.groupings[0].pipelines[0]


def test_sum_of_a_product_is_one_of_bigints() -> None:
    found = counted("SELECT sum(l_extendedprice * (1 - l_discount)) FROM lineitem")
    assert "SUM(l_extendedprice * ((1 * 100) - l_discount)) AS DECIMAL(27,0)) * 0.0001 AS DECIMAL(36,4)" in found.text
    assert found.columns == {"l_extendedprice", "l_discount"}


def test_sum_of_large_numbers_is_one_of_halves() -> None:
    found = counted("SELECT sum(l_extendedprice * l_extendedprice) FROM lineitem")
    assert "SUM(SHIFTRIGHT(l_extendedprice * l_extendedprice, 32))" in found.text
    assert "SUM((l_extendedprice * l_extendedprice) & 4294967295)" in found.text


def test_product_that_may_not_fit_stays_a_decimal() -> None:
    found = counted("SELECT sum(l_extendedprice * l_extendedprice * l_extendedprice) FROM lineitem")
    assert found.columns == set()
    assert "SHIFTRIGHT" not in found.text


def test_column_of_which_nothing_is_known_stays_a_decimal() -> None:
    assert counted("SELECT sum(l_quantity), sum(l_tax) FROM lineitem", {"lineitem": {"l_tax": 8}}).columns == {"l_tax"}


def test_comparisons_are_of_the_same_units() -> None:
    found = counted("SELECT count(*) FROM lineitem WHERE l_quantity < 24 AND l_discount BETWEEN 0.005 AND 0.07")
    assert "l_quantity < (24 * 100)" in found.text
    assert "(l_discount * 10) BETWEEN 5 AND (7 * 10)" in found.text


def test_list_and_null_are_asked_of_units() -> None:
    found = counted("SELECT count(*) FROM lineitem WHERE l_tax IN (0.01, 2) OR l_tax IS NULL")
    assert "l_tax IN (1, 2 * 100)" in found.text
    assert "l_tax IS NULL" in found.text
    assert found.columns == {"l_tax"}


def test_case_has_values_and_conditions_in_units() -> None:
    found = counted("SELECT sum(CASE WHEN l_tax > 0.05 THEN l_discount ELSE 0 END) FROM lineitem")
    assert "SUM(CASE WHEN l_tax > 5 THEN l_discount ELSE 0 * 100 END)" in found.text


def test_filter_is_in_units() -> None:
    found = counted("SELECT min(l_tax) FILTER (WHERE l_quantity > 1) FROM lineitem")
    assert "MIN(l_tax) FILTER (WHERE l_quantity > (1 * 100))" in found.text


def test_subquery_passes_units_on() -> None:
    found = counted("SELECT sum(v) FROM (SELECT l_tax + 1 AS v, l_discount AS d FROM lineitem) AS t WHERE d > 0")
    assert "SUM(t.v)" in found.text
    assert "l_tax + (1 * 100) AS v" in found.text
    assert "t.d > (0 * 100)" in found.text


@pytest.mark.parametrize(
    "query",
    [
        "SELECT l_tax, count(*) FROM lineitem GROUP BY l_tax",
        "SELECT sum(l_tax / 3) FROM lineitem",
        "SELECT sum(l_tax::numeric(10,1)) FROM lineitem",
        "SELECT sum(l_tax::double precision) FROM lineitem",
        "SELECT sum(round(l_tax, 1)) FROM lineitem",
        "SELECT max(l_tax::text) FROM lineitem",
        "SELECT count(DISTINCT l_tax), sum(l_tax) FROM lineitem",
        "SELECT sum(v) FROM (SELECT l_tax AS v FROM lineitem UNION ALL SELECT l_tax FROM lineitem) AS t",
    ],
)
def test_use_that_knows_no_units_leaves_the_column_as_it_is(query: str) -> None:
    assert counted(query).columns == set()


def test_column_that_is_also_a_key_does_not_keep_others_from_units() -> None:
    found = counted("SELECT l_tax, sum(l_discount), sum(l_discount * l_tax) FROM lineitem GROUP BY l_tax")
    assert found.columns == set()
    assert counted("SELECT l_tax, sum(l_discount) FROM lineitem GROUP BY l_tax").columns == {"l_discount"}

"""Where Millpond does not answer as PostgreSQL does, and why. What is not listed here must be the same."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from _pytest.mark.structures import ParameterSet

MISSING_ERRORS = (
    # Arithmetic of inexact numbers gives Infinity where PostgreSQL raises an error: a check of every operation is dear.
    "value out of range: overflow",
    "value out of range: underflow",
    # The trigonometric functions of Infinity are NaN.
    "input is out of range",
)
"""Errors of PostgreSQL, by their messages, where Millpond gives a value."""

EXTRA_ERRORS = (
    # A number has at most 38 digits, 18 of them after the point where the type does not say otherwise.
    "numeric field overflow",
)
"""Errors of Millpond where PostgreSQL gives a value."""

_MOMENT = "the value is of the moment"
_REGTYPE = "types are shown as text: there is no type regtype"
_NAME = "names are text: there is no type name"
_STREAM = "PostgreSQL has no streams"
_OURS = "PostgreSQL has no such function"

DIALECT: dict[str, str] = {
    "now()": _MOMENT,
    "current_date": _MOMENT,
    "localtimestamp": _MOMENT,
    "current_user": _NAME,
    "current_date - 1": _MOMENT,
    "now()::date": _MOMENT,
    "pg_typeof(1)": _REGTYPE,
    "pg_typeof(99999999999)": _REGTYPE,
    "pg_typeof(1.5)": _REGTYPE,
    "pg_typeof(now())": _REGTYPE,
    "pg_typeof(1 / 2.0)": _REGTYPE,
    "pg_typeof('x')": _REGTYPE,
    "pg_typeof(2 ^ 2)": _REGTYPE,
    "pg_typeof(date '2024-01-01' - date '2024-01-01')": _REGTYPE,
    "select pg_typeof(sum(a)), pg_typeof(sum(x)), pg_typeof(avg(a)), pg_typeof(avg(f)), pg_typeof(sum(n)),"
    " pg_typeof(sum(f)) from t": _REGTYPE,
    "select min_by(b, a), max_by(b, a), any_value(a) from t where a <> 2 and a = 1": _OURS,
    "select approx_count_distinct(a), approx_count_distinct(b) filter (where a > 9) from t": _OURS,
    "select tid, arrival_timestamp from s": _STREAM,
    "select first(a), last(c) from s": _STREAM,
}
"""Cases of the dialect's table that PostgreSQL cannot judge."""

_PARSER = "sqlglot accepts it, or finds the mistake at another word"
_PLACE = "the tree does not tell this place"
_WORDS = "Spark finds it, in other words"
_REFUSED = "refused before the mistake is seen"

WRONG_STATEMENTS: dict[str, str] = {
    "SELECT FROM WHERE": _PARSER,
    "SELECT * FROM station GROUP": _PARSER,
    "SELECT * station": _PARSER,
    "SELECT * FROM station WHERE id IN ()": _PARSER,
    "CREATE TABLE x (a)": _PARSER,
    "DROP station": _PARSER,
    "SELECT * FROM station WHERE AND id = 1": _PARSER,
    "SELECT DISTINCT ON id FROM station": _PARSER,
    "SELECT sum(id) OVER FROM usage": _PARSER,
    "SELECT EXTRACT(year, since) FROM station": _PARSER,
    "SELECT EXTRACT(nothing FROM since) FROM station": _PARSER,
    "INSERT INTO station (id) SELECT plant FROM station": _PLACE,
    "INSERT INTO station (since) SELECT id FROM station": _PLACE,
    "CREATE TABLE x (a int DEFAULT 'b')": _PLACE,
    "CREATE TABLE x (a int CHECK (a))": _PLACE,
    "SELECT (SELECT 1, 2)": _PLACE,
    "SELECT 1 << 2::bigint": _PLACE,
    "SELECT sum(id) OVER (nothing) FROM usage": _PLACE,
    "SELECT sum(id) OVER (w PARTITION BY id) FROM usage WINDOW w AS (PARTITION BY station)": _PLACE,
    "SELECT sum(id) OVER w FROM usage WINDOW w AS (), w AS ()": _PLACE,
    "SELECT sum(id) OVER (ROWS BETWEEN UNBOUNDED FOLLOWING AND CURRENT ROW) FROM usage": _PLACE,
    "SELECT sum(id) OVER (RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) FROM usage": _PLACE,
    "ALTER TABLE station DROP COLUMN nothing": _REFUSED,
    "SELECT count(DISTINCT nothing) OVER () FROM usage": _REFUSED,
    "SELECT sum(id) WITHIN GROUP (ORDER BY id) FROM usage": "a clearer message",
    "SELECT 'abc' ~ '('": _WORDS,
    "SELECT make_timestamp(2024, 1, 1, 25, 0, 0)": _WORDS,
    "SELECT to_date('abc', 'YYYY-MM-DD')": _WORDS,
}
"""Wrong statements for which Millpond has other words, or points to another place."""


def as_known(cases: Iterable[tuple[object, ...]]) -> list[ParameterSet]:
    """The cases of a test, each called by its text; a known difference must be there, or its line here is too many."""
    return [pytest.param(*case, id=str(case[0]), marks=_marks(str(case[0]))) for case in cases]


def _marks(text: str) -> list[pytest.MarkDecorator]:
    reason = DIALECT.get(text) or WRONG_STATEMENTS.get(text)
    return [] if reason is None else [pytest.mark.xfail(reason=reason, strict=True)]

"""Intervals in Spark SQL: their order, difference and product, which Spark lacks or gives another meaning."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from millpond.sql.casts import INTERVAL_DAYS, INTERVAL_MICROS
from millpond.sql.literals import interval_parts
from millpond.sql.nodes import type_of
from millpond.sql.templates import fill
from millpond.types import INTERVAL, TIMESTAMP, TIMESTAMPTZ

MICROS_BETWEEN = "UNIX_MICROS(CAST(_1 AS TIMESTAMP)) - UNIX_MICROS(CAST(_2 AS TIMESTAMP))"
_FROM_MICROS = (
    "MAKE_INTERVAL(0, 0, 0, CAST(_1 DIV 86400000000 AS INT), 0, 0,"
    " CAST(CAST(_1 % 86400000000 AS DECIMAL(20,0)) / 1000000 AS DECIMAL(18,6)))"
)
_MONTHS = "DATE_PART('YEAR', _1) * 12 + DATE_PART('MONTH', _1)"
INTERVAL_KEY = (
    f"(({_MONTHS}) * 30 + DATE_PART('DAY', _1)) * 86400000000"
    " + CAST(DATE_PART('HOUR', _1) * 3600000000 + DATE_PART('MINUTE', _1) * CAST(60000000 AS BIGINT)"
    " + DATE_PART('SECOND', _1) * 1000000 AS BIGINT)"
)
"""A number that orders intervals as PostgreSQL does: a month is 30 days, a day 24 hours."""


def interval_between(later: exp.Expr, earlier: exp.Expr) -> exp.Expr:
    """The difference of two timestamps: days and time of day, as PostgreSQL gives it."""
    return fill(_FROM_MICROS, fill(MICROS_BETWEEN, later, earlier))


def interval_key(node: exp.Expr) -> exp.Expr:
    """The number by which an interval is compared."""
    if is_difference(node):
        return fill(MICROS_BETWEEN, node.this, node.expression)
    if isinstance(node, exp.Cast) and isinstance(node.this, exp.Literal):
        parts = interval_parts(node.this.this)
        micros = (parts.months * 30 + parts.days) * 86_400_000_000 + parts.micros
        literal = exp.Literal.number(str(abs(micros)))
        return exp.Neg(this=literal) if micros < 0 else literal
    return fill(INTERVAL_KEY, node)


def is_difference(node: exp.Expr) -> bool:
    """Whether an interval is the difference of two moments, of which everything is known by its microseconds."""
    return isinstance(node, exp.Sub) and type_of(node.this) in (TIMESTAMP, TIMESTAMPTZ) and type_of(node) == INTERVAL


def extreme_interval(intervals: Sequence[exp.Expr], symbol: str) -> exp.Expr:
    """The greatest or least of intervals, by `>` or `<`; NULL counts as nothing."""
    found = intervals[0]
    template = f"CASE WHEN _2 IS NULL OR _3 {symbol} _4 THEN _1 ELSE _2 END"
    for one in intervals[1:]:
        found = fill(template, found, one, fill(INTERVAL_KEY, found), fill(INTERVAL_KEY, one))
    return found


def scaled_interval(interval: exp.Expr, factor: exp.Expr, symbol: str) -> exp.Expr:
    """An interval times or divided by a number: what is no whole month becomes days, what is no whole day time."""
    parts = [fill(template, interval) for template in (_MONTHS, INTERVAL_DAYS, INTERVAL_MICROS)]
    return fill(_SCALED.replace("<BY>", symbol), *parts, factor)


def _scaled_template() -> str:
    """PostgreSQL's steps, in its order of rounding; `<BY>` is the operator, `_1` to `_4` are months to factor."""
    months, days = "CAST(_1 <BY> _4 AS INT)", "CAST(_2 <BY> _4 AS INT)"
    month_days = f"(RINT((_1 <BY> _4 - {months}) * 30 * 1000000D) / 1000000D)"
    whole_days = f"CAST({month_days} AS INT)"
    seconds = f"(RINT((_2 <BY> _4 - {days} + {month_days} - {whole_days}) * 86400 * 1000000D) / 1000000D)"
    more_days = f"CAST({seconds} / 86400 AS INT)"
    micros = f"RINT(_3 <BY> _4 + ({seconds} - {more_days} * 86400) * 1000000D)"
    return (
        f"MAKE_INTERVAL(0, {months}, 0, {days} + {whole_days} + {more_days}, 0, 0,"
        f" CAST(CAST({micros} AS DECIMAL(20,0)) / 1000000 AS DECIMAL(18,6)))"
    )


_SCALED = _scaled_template()

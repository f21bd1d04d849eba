"""Rows of the function table: aggregates and window functions.

In a template, DISTINCT, FILTER and OVER of the call go to every aggregate or window function named in upper case.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from millpond.sql.casts import INTERVAL_DAYS, INTERVAL_MICROS
from millpond.sql.collected import ARRAY, HASHED, PERCENTILE, estimate
from millpond.sql.functions import Function, row
from millpond.sql.interval_math import INTERVAL_KEY
from millpond.types import NUMERIC, NUMERIC_PRECISION_MAX, SqlType, array_of, numeric

AVERAGE = numeric(38, 16)
"""The type of an average of exact numbers: 16 digits after the point, as PostgreSQL shows them."""

_SUM_DIGITS = 10
"""Digits that Spark adds to a decimal for its sum."""


def _sum_type(types: Sequence[SqlType], _nodes: Sequence[exp.Expr]) -> SqlType:
    given = types[0]
    if given.precision is None:
        return NUMERIC
    return numeric(min(given.precision + _SUM_DIGITS, NUMERIC_PRECISION_MAX), given.decimal_scale)


def _big_sum_type(_types: Sequence[SqlType], _nodes: Sequence[exp.Expr]) -> SqlType:
    return numeric(29, 0)


def _average_type(_types: Sequence[SqlType], _nodes: Sequence[exp.Expr]) -> SqlType:
    return AVERAGE


def _second_type(types: Sequence[SqlType], _nodes: Sequence[exp.Expr]) -> SqlType:
    return types[1]


def _array_type(types: Sequence[SqlType], _nodes: Sequence[exp.Expr]) -> SqlType:
    return array_of(types[0])


def _aggregate(name: str, signature: str, spark: str) -> Function:
    return row(name, signature, spark, kind="aggregate")


_EXACT_AVERAGE = "CAST(CAST(SUM(CAST(_1 AS DECIMAL(20,0))) AS DECIMAL(38,16)) / COUNT(_1) AS DECIMAL(38,16))"
_NUMERIC_AVERAGE = "CAST(CAST(SUM(_1) AS DECIMAL(38,18)) / COUNT(_1) AS DECIMAL(38,16))"
_INTERVAL_SUM = (
    "MAKE_INTERVAL(0, CAST(SUM(DATE_PART('YEAR', _1) * 12 + DATE_PART('MONTH', _1)) AS INT), 0,"
    f" CAST(SUM({INTERVAL_DAYS}) AS INT), 0, 0, CAST(CAST(SUM({INTERVAL_MICROS}) AS DECIMAL(20,0)) / 1000000"
    " AS DECIMAL(18,6)))"
)

_SUMS = (
    *(_aggregate("sum", f"{name} -> bigint", "SUM(_1)") for name in ("smallint", "integer")),
    row("sum", "bigint ->", "SUM(CAST(_1 AS DECIMAL(19,0)))", result=_big_sum_type, kind="aggregate"),
    row("sum", "numeric ->", "SUM(_1)", result=_sum_type, kind="aggregate"),
    _aggregate("sum", "real -> real", "CAST(SUM(_1) AS FLOAT)"),
    _aggregate("sum", "double -> double", "SUM(_1)"),
    *(
        row("avg", f"{name} ->", _EXACT_AVERAGE, result=_average_type, kind="aggregate")
        for name in ("smallint", "integer", "bigint")
    ),
    row("avg", "numeric ->", _NUMERIC_AVERAGE, result=_average_type, kind="aggregate"),
    *(_aggregate("avg", f"{name} -> double", "AVG(CAST(_1 AS DOUBLE))") for name in ("real", "double")),
    _aggregate("sum", "interval -> interval", _INTERVAL_SUM),
    _aggregate("avg", "interval -> interval", f"{_INTERVAL_SUM} / COUNT(_1)"),
)

_ORDERED_TYPES = ("number", "text", "date", "timestamp", "timestamptz")

_EXTREMES = (
    *(
        _aggregate(name, f"{kind} -> first", f"{name.upper()}(_1)")
        for name in ("min", "max")
        for kind in _ORDERED_TYPES
    ),
    *(_aggregate(name, "interval -> interval", f"{name.upper()}_BY(_1, {INTERVAL_KEY})") for name in ("min", "max")),
)

_DEVIATIONS = {
    "stddev": "STDDEV_SAMP",
    "stddev_samp": "STDDEV_SAMP",
    "stddev_pop": "STDDEV_POP",
    "variance": "VAR_SAMP",
    "var_samp": "VAR_SAMP",
    "var_pop": "VAR_POP",
}


def _deviation(name: str, spark: str) -> tuple[Function, ...]:
    """Exact numbers give numeric, inexact ones double precision."""
    inexact = f"{spark}(CAST(_1 AS DOUBLE))"
    exact = f"CAST({inexact} AS DECIMAL(38,16))"
    return (
        *(
            row(name, f"{kind} ->", exact, result=_average_type, kind="aggregate")
            for kind in ("smallint", "integer", "bigint", "numeric")
        ),
        *(_aggregate(name, f"{kind} -> double", inexact) for kind in ("real", "double")),
    )


_REGRESSIONS: tuple[str, ...] = (
    "corr",
    "covar_pop",
    "covar_samp",
    "regr_avgx",
    "regr_avgy",
    "regr_intercept",
    "regr_r2",
)
_REGRESSIONS += ("regr_slope", "regr_sxx", "regr_sxy", "regr_syy")

_OTHERS = (
    _aggregate("count", "any -> bigint", "COUNT(_1)"),
    _aggregate("bool_and", "boolean -> boolean", "BOOL_AND(_1)"),
    _aggregate("every", "boolean -> boolean", "BOOL_AND(_1)"),
    _aggregate("bool_or", "boolean -> boolean", "BOOL_OR(_1)"),
    _aggregate("bit_and", "integral -> first", "BIT_AND(_1)"),
    _aggregate("bit_or", "integral -> first", "BIT_OR(_1)"),
    _aggregate("bit_xor", "integral -> first", "BIT_XOR(_1)"),
    _aggregate("any_value", "any -> first", "ANY_VALUE(_1, TRUE)"),
    _aggregate("min_by", "any any -> first", "MIN_BY(_1, _2)"),
    _aggregate("max_by", "any any -> first", "MAX_BY(_1, _2)"),
    _aggregate("first", "any bigint -> first", "MIN_BY(_1, _2)"),
    _aggregate("last", "any bigint -> first", "MAX_BY(_1, _2)"),
    _aggregate("approx_count_distinct", "any -> bigint", estimate(f"HLL_SKETCH_AGG({HASHED})")),
    row("array_agg", "any ->", ARRAY, result=_array_type, kind="aggregate"),
    _aggregate("string_agg", "text text -> text", "LISTAGG(_1, _2)"),
    _aggregate("regr_count", "double double -> bigint", "REGR_COUNT(_1, _2)"),
    *(_aggregate(name, "double double -> double", f"{name.upper()}(_1, _2)") for name in _REGRESSIONS),
)

_ORDERED_SETS = (
    row("percentile_cont", "double double -> double", "PERCENTILE_CONT(_1)", kind="ordered-set"),
    row("percentile_disc", "double any ->", PERCENTILE, result=_second_type, kind="ordered-set"),
    row("mode", "any -> first", "MODE()", kind="ordered-set"),
)


def _window(name: str, signature: str, spark: str) -> Function:
    return row(name, signature, spark, kind="window")


_WINDOWS = (
    _window("row_number", "-> bigint", "CAST(ROW_NUMBER() AS BIGINT)"),
    _window("rank", "-> bigint", "CAST(RANK() AS BIGINT)"),
    _window("dense_rank", "-> bigint", "CAST(DENSE_RANK() AS BIGINT)"),
    _window("percent_rank", "-> double", "PERCENT_RANK()"),
    _window("cume_dist", "-> double", "CUME_DIST()"),
    _window("ntile", "integer -> integer", "NTILE(_1)"),
    *(_window(name, "any -> first", f"{name.upper()}(_1, 1)") for name in ("lag", "lead")),
    *(_window(name, "any integer -> first", f"{name.upper()}(_1, _2)") for name in ("lag", "lead")),
    *(_window(name, "same integer same -> same", f"{name.upper()}(_1, _2, _3)") for name in ("lag", "lead")),
    _window("first_value", "any -> first", "FIRST_VALUE(_1)"),
    _window("last_value", "any -> first", "LAST_VALUE(_1)"),
    _window("nth_value", "any integer -> first", "NTH_VALUE(_1, _2)"),
)

UNFRAMED = frozenset("row_number rank dense_rank percent_rank cume_dist ntile lag lead lag_cycle change_point".split())
"""Window functions that look at the whole partition: a frame means nothing to them, and Spark refuses it."""

SPARK_CALLS = frozenset(
    "SUM COUNT AVG MIN MAX STDDEV_SAMP STDDEV_POP VAR_SAMP VAR_POP BOOL_AND BOOL_OR BIT_AND BIT_OR BIT_XOR ANY_VALUE"
    " MIN_BY MAX_BY COLLECT_LIST COLLECT_SET HLL_SKETCH_AGG LISTAGG REGR_COUNT PERCENTILE_CONT MODE ROW_NUMBER RANK"
    " DENSE_RANK PERCENT_RANK CUME_DIST NTILE LAG LEAD FIRST_VALUE LAST_VALUE NTH_VALUE".split()
) | {name.upper() for name in _REGRESSIONS}
"""The functions in the templates above that DISTINCT, FILTER and OVER apply to."""

ROWS: tuple[Function, ...] = (
    *_SUMS,
    *_EXTREMES,
    *(one for name, spark in _DEVIATIONS.items() for one in _deviation(name, spark)),
    *_OTHERS,
    *_ORDERED_SETS,
    *_WINDOWS,
)

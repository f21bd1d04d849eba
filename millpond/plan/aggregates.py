"""The table of aggregates: for each function what is kept of a chunk, how that merges, and how it becomes the answer.

    avg(bigint)   kept:      high, low, rows       SUM(_1 >> 32), SUM(_1 & 0xffffffff), COUNT(_1)
                  merged:    each by its own rule, again to high, low, rows
                  finalized: (high * 2^32 + low) / rows, of PostgreSQL's type

`compute` is Spark SQL over the call's arguments `_1`, `_2`; `merge` and `finalize` name the kept columns, `finalize`
also the direct arguments of WITHIN GROUP as `_1`. Merging is associative and commutative, and no part at all merges to
NULLs that every `finalize` understands. `{0}` and `{1}` stand for the types of the arguments, `{sum}` for that of the
first's sum, `{result}` for that of the call; the rest is in `kept`. What is not in the table cannot be kept.
"""

from __future__ import annotations

from millpond.errors import MillpondError, SqlState
from millpond.plan import folds, statistics
from millpond.plan.calls import AggregateCall
from millpond.plan.ordered import array_agg, string_agg
from millpond.plan.partials import Aggregate, Partial, UnitTemplates, words
from millpond.plan.window_rows import ALL_ROWS, NEWEST_ROWS, all_rows, newest_rows
from millpond.sql.casts import INTERVAL_DAYS, INTERVAL_MICROS
from millpond.sql.collected import HASHED, estimate, first_reaching
from millpond.sql.interval_math import INTERVAL_KEY
from millpond.sql.nodes import position_of

_ROWS = Partial("COUNT(_1)", "SUM(rows)", "BIGINT", UnitTemplates("COUNT(_1)", "COUNT(_1)"))
_LONG = Partial("SUM(_1)", "SUM(total)", "BIGINT")
_DOUBLE = Partial("SUM(CAST(_1 AS DOUBLE))", "SUM(total)", "DOUBLE")

# A sum of bigint is numeric. Two sums of halves are exact and cheaper than one of decimals. The carry goes up when
# parts merge, so that a half overflows only if a single chunk has 2^31 rows.
_HALVES = {
    "high": Partial("SUM(SHIFTRIGHT(_1, 32))", "SUM(high) + SHIFTRIGHT(SUM(low), 32)", "BIGINT"),
    "low": Partial("SUM(_1 & 4294967295)", "SUM(low) & 4294967295", "BIGINT"),
}


def _whole(high: str, low: str) -> str:
    return f"(CAST({high} AS DECIMAL(19,0)) * CAST(4294967296 AS DECIMAL(10,0)) + CAST({low} AS DECIMAL(19,0)))"


_WHOLE = _whole("high", "low")

# A short numeric is a bigint of its smallest units: the same halves, in a fraction of the time of decimals.
_UNIT_HALVES = {
    "high": Partial(
        "SUM(SHIFTRIGHT(CAST(_1 * {units} AS BIGINT), 32))",
        _HALVES["high"].merge,
        "BIGINT",
        UnitTemplates("SHIFTRIGHT(SUM(_1), 32)", _HALVES["high"].compute),
    ),
    "low": Partial(
        "SUM(CAST(_1 * {units} AS BIGINT) & 4294967295)",
        _HALVES["low"].merge,
        "BIGINT",
        UnitTemplates("SUM(_1) & 4294967295", _HALVES["low"].compute),
    ),
}
_UNIT_WHOLE = f"CAST(CAST({_WHOLE} AS DECIMAL({{sum_digits}},0)) * {{unit}} AS {{sum}})"


def _worth(units: str, kind: str) -> str:
    """A number of units as a decimal."""
    return f"CAST(CAST({units} AS DECIMAL(27,0)) * _2 AS {kind})"


_DECIMAL = Partial(
    "SUM(_1)",
    "CAST(SUM(total) AS {sum})",
    "{sum}",
    UnitTemplates(_worth("SUM(_1)", "{sum}"), _worth(_whole(_HALVES["high"].compute, _HALVES["low"].compute), "{sum}")),
)

# The three parts of an interval never mix.
_PARTS = {
    "months": "CAST(DATE_PART('YEAR', _1) * 12 + DATE_PART('MONTH', _1) AS BIGINT)",
    "days": INTERVAL_DAYS,
    "micros": INTERVAL_MICROS,
}
_INTERVAL = {part: Partial(f"SUM({of})", f"SUM({part})", "BIGINT") for part, of in _PARTS.items()}
_INTERVAL_TOTAL = (
    "MAKE_INTERVAL(0, CAST(months AS INT), 0, CAST(days AS INT), 0, 0,"
    " CAST(CAST(micros AS DECIMAL(20,0)) / 1000000 AS DECIMAL(18,6)))"
)


def _average(total: str, scale: int, rows: str = "rows") -> str:
    return f"CAST(CAST({total} AS DECIMAL(38,{scale})) / NULLIF({rows}, 0) AS DECIMAL(38,16))"


_SUMS = (
    Aggregate("count", {"rows": _ROWS}, "COALESCE(rows, 0)", subtractable=True),
    Aggregate("sum", {"total": _LONG}, "total", words("smallint integer"), subtractable=True),
    Aggregate("sum", _HALVES, f"CAST({_WHOLE} AS {{result}})", words("bigint"), subtractable=True),
    Aggregate("sum", _UNIT_HALVES, _UNIT_WHOLE, words("short_numeric"), subtractable=True),
    Aggregate("sum", {"total": _DECIMAL}, "total", words("numeric"), subtractable=True),
    Aggregate("sum", {"total": _DOUBLE}, "CAST(total AS {result})", words("real double")),
    Aggregate("sum", _INTERVAL, _INTERVAL_TOTAL, words("interval"), subtractable=True),
    Aggregate(
        "avg", {"total": _LONG, "rows": _ROWS}, _average("total", 16), words("smallint integer"), subtractable=True
    ),
    Aggregate("avg", {**_HALVES, "rows": _ROWS}, _average(_WHOLE, 16), words("bigint"), subtractable=True),
    Aggregate(
        "avg", {**_UNIT_HALVES, "rows": _ROWS}, _average(_UNIT_WHOLE, 18), words("short_numeric"), subtractable=True
    ),
    Aggregate("avg", {"total": _DECIMAL, "rows": _ROWS}, _average("total", 18), words("numeric"), subtractable=True),
    Aggregate("avg", {"total": _DOUBLE, "rows": _ROWS}, "total / NULLIF(rows, 0)", words("real double")),
    Aggregate(
        "avg",
        {**_INTERVAL, "rows": _ROWS},
        f"{_INTERVAL_TOTAL} / NULLIF(rows, 0)",
        words("interval"),
        subtractable=True,
    ),
)


def _alike(name: str, spark: str) -> Aggregate:
    """An aggregate that merges by itself."""
    of_units = _worth(f"{spark}(_1)", "{0}")
    value = Partial(f"{spark}(_1)", f"{spark}(value)", "{0}", UnitTemplates(of_units, of_units))
    return Aggregate(name, {"value": value}, "value")


def _beside(name: str, spark: str, extreme: str) -> Aggregate:
    """The value beside an extreme, which is kept too: it decides between parts."""
    value = Partial(f"{spark}(_1, _2)", f"{spark}(value, extreme)", "{0}")
    kept = {"value": value, "extreme": Partial(f"{extreme}(_2)", f"{extreme}(extreme)", "{1}")}
    return Aggregate(name, kept, "value")


def _interval_extreme(name: str) -> Aggregate:
    """An interval comes back as the parts of the shortest or longest, and is compared as `key`."""
    by, extreme = f"{name.upper()}_BY", name.upper()
    kept = {part: Partial(f"{by}({of}, {INTERVAL_KEY})", f"{by}({part}, key)", "BIGINT") for part, of in _PARTS.items()}
    kept["key"] = Partial(f"{extreme}(CAST({INTERVAL_KEY} AS BIGINT))", f"{extreme}(key)", "BIGINT")
    return Aggregate(name, kept, _INTERVAL_TOTAL, words("interval"))


_SKETCH = Partial(f"HLL_SKETCH_AGG({HASHED})", "HLL_UNION_AGG(sketch)", "BINARY")

_CHOICES = (
    _interval_extreme("min"),
    _interval_extreme("max"),
    _alike("min", "MIN"),
    _alike("max", "MAX"),
    _alike("bool_and", "BOOL_AND"),
    _alike("every", "BOOL_AND"),
    _alike("bool_or", "BOOL_OR"),
    _alike("bit_and", "BIT_AND"),
    _alike("bit_or", "BIT_OR"),
    _alike("bit_xor", "BIT_XOR"),
    Aggregate("any_value", {"value": Partial("ANY_VALUE(_1, TRUE)", "ANY_VALUE(value, TRUE)", "{0}")}, "value"),
    _beside("min_by", "MIN_BY", "MIN"),
    _beside("max_by", "MAX_BY", "MAX"),
    _beside("first", "MIN_BY", "MIN"),
    _beside("last", "MAX_BY", "MAX"),
    Aggregate("approx_count_distinct", {"sketch": _SKETCH}, estimate("sketch")),
)

IDEMPOTENT = words("min max bool_and every bool_or bit_and bit_or any_value approx_count_distinct first last")
"""Aggregates to which a value means the same however often it comes: DISTINCT changes nothing."""

# -- all values kept ------------------------------------------------------------------------------------------

_VALUES = {"items": Partial("COLLECT_LIST(_1)", "FLATTEN(COLLECT_LIST(items))", "ARRAY<{0}>")}

_ORDERED_SETS = (
    Aggregate("percentile_cont", _VALUES, folds.interpolated("SORT_ARRAY(items, {ascending})", "_1")),
    Aggregate("percentile_disc", _VALUES, first_reaching("SORT_ARRAY(items, {ascending})", "_1")),
    Aggregate("mode", _VALUES, folds.most_frequent("SORT_ARRAY(items, {ascending})")),
)

_SET = {"items": Partial("COLLECT_SET(_1)", "ARRAY_DISTINCT(FLATTEN(COLLECT_LIST(items)))", "ARRAY<{0}>")}


def _of_set(formula: str) -> str:
    """A formula over moments, with the moments of the values in the set."""
    return formula.replace("squares", folds.squares("items")).replace("rows", "SIZE(items)")


_DISTINCT = (
    Aggregate("count", _SET, "CAST(COALESCE(SIZE(items), 0) AS BIGINT)"),
    Aggregate("sum", _SET, folds.summed("items", "BIGINT"), words("smallint integer")),
    Aggregate("sum", _SET, folds.summed("items", "{result}"), words("bigint numeric short_numeric double")),
    Aggregate("sum", _SET, f"CAST({folds.summed('items', 'DOUBLE')} AS FLOAT)", words("real")),
    Aggregate(
        "avg",
        _SET,
        _average(folds.summed("items", "DECIMAL(38,0)"), 16, "SIZE(items)"),
        words("smallint integer bigint"),
    ),
    Aggregate("avg", _SET, _average(folds.summed("items", "{sum}"), 18, "SIZE(items)"), words("numeric short_numeric")),
    Aggregate("avg", _SET, f"{folds.summed('items', 'DOUBLE')} / NULLIF(SIZE(items), 0)", words("real double")),
    Aggregate("bit_xor", _SET, "AGGREGATE(items, CAST(NULL AS {result}), (a, x) -> COALESCE(a ^ x, x))"),
    *(
        Aggregate(name, _SET, f"CAST({_of_set(formula)} AS {{result}})")
        for name, formula in statistics.VARIANCES.items()
    ),
)

TABLE: tuple[Aggregate, ...] = (*_SUMS, *_CHOICES, *statistics.ROWS, *_ORDERED_SETS)
"""Every aggregate that can be kept, but for those whose ORDER BY decides what they keep."""

DISTINCT_TABLE: tuple[Aggregate, ...] = _DISTINCT
"""The same with DISTINCT, where that makes a difference: the set of values is kept."""


_BY_CALL = {"array_agg": array_agg, "string_agg": string_agg, NEWEST_ROWS: newest_rows, ALL_ROWS: all_rows}


def aggregate_for(call: AggregateCall) -> Aggregate:
    """The row for a call, or an error that says that its result cannot be kept up to date."""
    if call.name in _BY_CALL:
        return _BY_CALL[call.name](call)
    distinct = call.distinct and call.name not in IDEMPOTENT
    for one in DISTINCT_TABLE if distinct else TABLE:
        if one.name == call.name and (not one.takes or call.word in one.takes):
            return one
    written = f"{call.name}(DISTINCT ...)" if distinct else call.name
    raise MillpondError(
        SqlState.FEATURE_NOT_SUPPORTED,
        f"the aggregate {written} cannot be kept up to date over a stream",
        detail="Its results for parts of the stream cannot be merged.",
        hint="Use another aggregate, or query the stream directly.",
        position=position_of(call.node),
    )

"""Rows of the table of aggregates: variances, deviations, covariances and regressions."""

from __future__ import annotations

from millpond.plan.folds import merged_moment
from millpond.plan.partials import Aggregate, Partial

_ROWS = Partial("COUNT(_1)", "SUM(rows)", "BIGINT")
_MEAN = Partial("AVG(CAST(_1 AS DOUBLE))", "SUM(rows * mean) / NULLIF(SUM(rows), 0)", "DOUBLE")
_SQUARES = Partial(
    "VAR_POP(CAST(_1 AS DOUBLE)) * COUNT(_1)",
    merged_moment(rows="rows", means=("mean", "mean"), products="squares"),
    "DOUBLE",
)

VARIANCES = {
    "var_pop": "squares / NULLIF(rows, 0)",
    "var_samp": "squares / CASE WHEN rows > 1 THEN rows - 1 END",
    "variance": "squares / CASE WHEN rows > 1 THEN rows - 1 END",
    "stddev_pop": "SQRT(squares / NULLIF(rows, 0))",
    "stddev_samp": "SQRT(squares / CASE WHEN rows > 1 THEN rows - 1 END)",
    "stddev": "SQRT(squares / CASE WHEN rows > 1 THEN rows - 1 END)",
}
"""Each as it follows from the number of values and the sum of their squared distances from the mean."""

# PostgreSQL names the dependent variable first: regr_slope(y, x). A pair counts only if neither is NULL.
_PAIRS = {
    "rows": Partial("REGR_COUNT(_1, _2)", "SUM(rows)", "BIGINT"),
    "mean_x": Partial("REGR_AVGX(_1, _2)", "SUM(rows * mean_x) / NULLIF(SUM(rows), 0)", "DOUBLE"),
    "mean_y": Partial("REGR_AVGY(_1, _2)", "SUM(rows * mean_y) / NULLIF(SUM(rows), 0)", "DOUBLE"),
    "sxx": Partial(
        "REGR_SXX(_1, _2)", merged_moment(rows="rows", means=("mean_x", "mean_x"), products="sxx"), "DOUBLE"
    ),
    "syy": Partial(
        "REGR_SYY(_1, _2)", merged_moment(rows="rows", means=("mean_y", "mean_y"), products="syy"), "DOUBLE"
    ),
    "sxy": Partial(
        "REGR_SXY(_1, _2)", merged_moment(rows="rows", means=("mean_x", "mean_y"), products="sxy"), "DOUBLE"
    ),
}

_SLOPE = "sxy / NULLIF(sxx, 0)"
_REGRESSIONS = {
    "regr_count": ("rows", "COALESCE(rows, 0)"),
    "regr_avgx": ("rows mean_x", "mean_x"),
    "regr_avgy": ("rows mean_y", "mean_y"),
    "regr_sxx": ("rows mean_x sxx", "sxx"),
    "regr_syy": ("rows mean_y syy", "syy"),
    "regr_sxy": ("rows mean_x mean_y sxy", "sxy"),
    "regr_slope": ("rows mean_x mean_y sxx sxy", _SLOPE),
    "regr_intercept": ("rows mean_x mean_y sxx sxy", f"mean_y - ({_SLOPE}) * mean_x"),
    "regr_r2": (
        "rows mean_x mean_y sxx syy sxy",
        "CASE WHEN sxx = 0 THEN NULL WHEN syy = 0 THEN CAST(1 AS DOUBLE) ELSE sxy * sxy / (sxx * syy) END",
    ),
    "corr": ("rows mean_x mean_y sxx syy sxy", "sxy / NULLIF(SQRT(sxx * syy), 0)"),
    "covar_pop": ("rows mean_x mean_y sxy", "sxy / NULLIF(rows, 0)"),
    "covar_samp": ("rows mean_x mean_y sxy", "sxy / CASE WHEN rows > 1 THEN rows - 1 END"),
}
"""What each is made of, and how."""

ROWS: tuple[Aggregate, ...] = (
    *(
        Aggregate(name, {"rows": _ROWS, "mean": _MEAN, "squares": _SQUARES}, f"CAST({formula} AS {{result}})")
        for name, formula in VARIANCES.items()
    ),
    *(
        Aggregate(name, {kept: _PAIRS[kept] for kept in needed.split()}, formula)
        for name, (needed, formula) in _REGRESSIONS.items()
    ),
)

"""What random queries are made of besides expressions: aggregates, window functions, frames and directions."""

from __future__ import annotations

DIRECTIONS = ("", " ASC", " DESC", " NULLS FIRST", " DESC NULLS LAST")

AGGREGATES = (
    "count(*)",
    "count({text})",
    "count(DISTINCT {int})",
    "count(DISTINCT {text})",
    "sum({int})",
    "sum({big})",
    "sum({num})",
    "sum(DISTINCT {int})",
    "sum({dbl})",
    "avg({int})",
    "avg({num})",
    "avg({dbl})",
    "avg(DISTINCT {int})",
    "avg({small})",
    "min({int})",
    "max({text})",
    "min({date})",
    "max({ts})",
    "max({num})",
    "min({dbl})",
    "bool_and({bool})",
    "bool_or({bool})",
    "every({bool})",
    "string_agg({same}, ',' ORDER BY {same})",
    "string_agg(DISTINCT {same}, ',' ORDER BY {same} DESC)",
    "bit_and({int})",
    "bit_or({int})",
    "var_pop({num})",
    "stddev({int})",
    "stddev_pop({dbl})",
    "variance({dbl})",
    "corr({dbl}, {dbl})",
    "covar_pop({dbl}, {int})",
    "regr_count({dbl}, {dbl})",
    "regr_slope({dbl}, {dbl})",
    "sum({ts} - {ts})",
    "max({ts} - {ts})",
    "sum({real})",
    "max({real})",
    "coalesce(sum({int}), 0)",
    "count(*) * 2 + 1",
    "sum({int}) / count(*)",
    "round(avg({num}), 2)",
)

NOT_A_CALL = ("coalesce(", "round(")
"""Expressions over aggregates, which FILTER cannot follow."""

WINDOW_CALLS = (
    "row_number()",
    "rank()",
    "dense_rank()",
    "percent_rank()",
    "cume_dist()",
    "ntile(3)",
    "lag({int})",
    "lag({text}, 2, 'none')",
    "lead({int}, 1)",
    "lead({date})",
    "first_value({text})",
    "last_value({int})",
    "nth_value({int}, 2)",
    "sum({int})",
    "sum({num})",
    "avg({int})",
    "count(*)",
    "count({text})",
    "max({date})",
    "min({text})",
    "sum({int}) FILTER (WHERE {int} > 0)",
)

FRAMES = (
    "",
    "",
    " ROWS BETWEEN 1 PRECEDING AND CURRENT ROW",
    " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
    " ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING",
    " ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING",
    " RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    " RANGE UNBOUNDED PRECEDING",
)

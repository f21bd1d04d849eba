"""Spark SQL for statistics that merge in a numerically stable way, and for aggregates over arrays of kept values.

Moments follow Chan, Golub and LeVeque: two parts with n values, a mean and M2 (the sum of squared distances from the
mean) give

    n = a.n + b.n     d = b.mean - a.mean     mean = a.mean + d * b.n / n     M2 = a.M2 + b.M2 + d * d * a.n * b.n / n

which never subtracts two large sums from each other. In templates a field of a struct is written `x['n']`.
"""

from __future__ import annotations

from millpond.sql.collected import let

_ZERO = "CAST(0 AS DOUBLE)"


def merged_moment(*, rows: str, means: tuple[str, str], products: str) -> str:
    """The merge of a kept sum of products of distances from two means; for M2 both means are the same.

    A part from before a view began has NULLs, and counts as one without rows.
    """
    part = f"NAMED_STRUCT('n', CAST(COALESCE({rows}, 0) AS DOUBLE), 'x', {means[0]}, 'y', {means[1]}, 'm', {products})"
    start = f"NAMED_STRUCT('n', {_ZERO}, 'x', {_ZERO}, 'y', {_ZERO}, 'm', {_ZERO})"
    moved = "a['{0}'] + (b['{0}'] - a['{0}']) * b['n'] / (a['n'] + b['n'])"
    between = "(b['x'] - a['x']) * (b['y'] - a['y']) * a['n'] * b['n'] / (a['n'] + b['n'])"
    step = (
        "(a, b) -> CASE WHEN b['n'] = 0 THEN a WHEN a['n'] = 0 THEN b ELSE NAMED_STRUCT("
        f"'n', a['n'] + b['n'], 'x', {moved.format('x')}, 'y', {moved.format('y')},"
        f" 'm', a['m'] + b['m'] + {between}) END"
    )
    return f"AGGREGATE(COLLECT_LIST({part}), {start}, {step}, a -> CASE WHEN a['n'] > 0 THEN a['m'] END)"


def summed(array: str, kind: str) -> str:
    """The sum of an array's elements in a type, NULL of an empty one."""
    step = f"(a, x) -> CAST(COALESCE(a, CAST(0 AS {kind})) + CAST(x AS {kind}) AS {kind})"
    return f"AGGREGATE({array}, CAST(NULL AS {kind}), {step})"


def squares(array: str) -> str:
    """M2 of an array's elements, by the same formula with parts of one element; NULL of an empty array."""
    distance = "(CAST(x AS DOUBLE) - a['mean'])"
    step = (
        f"(a, x) -> NAMED_STRUCT('n', a['n'] + 1, 'mean', a['mean'] + {distance} / (a['n'] + 1),"
        f" 'm', a['m'] + {distance} * {distance} * a['n'] / (a['n'] + 1))"
    )
    start = f"NAMED_STRUCT('n', {_ZERO}, 'mean', {_ZERO}, 'm', {_ZERO})"
    return f"AGGREGATE({array}, {start}, {step}, a -> CASE WHEN a['n'] > 0 THEN a['m'] END)"


def interpolated(array: str, fraction: str) -> str:
    """percentile_cont: between the two sorted values around the wanted place, in proportion."""
    between = (
        "CASE WHEN GET(v, CAST(FLOOR(place) AS INT)) = GET(v, CAST(CEIL(place) AS INT))"
        " THEN GET(v, CAST(FLOOR(place) AS INT))"
        " ELSE (CEIL(place) - place) * GET(v, CAST(FLOOR(place) AS INT))"
        " + (place - FLOOR(place)) * GET(v, CAST(CEIL(place) AS INT)) END"
    )
    return let("v", array, let("place", f"{fraction} * (SIZE(v) - 1)", between))


def most_frequent(array: str) -> str:
    """mode: of the runs of equal values in a sorted array the longest, and of equally long ones the first."""
    start = "NAMED_STRUCT('value', GET(v, 0), 'run', 0, 'best', GET(v, 0), 'length', 0)"
    run = "CASE WHEN x <=> a['value'] THEN a['run'] + 1 ELSE 1 END"
    best = f"CASE WHEN {run} > a['length'] THEN x ELSE a['best'] END"
    step = f"(a, x) -> NAMED_STRUCT('value', x, 'run', {run}, 'best', {best}, 'length', GREATEST(a['length'], {run}))"
    return let("v", array, f"AGGREGATE(v, {start}, {step}, a -> a['best'])")

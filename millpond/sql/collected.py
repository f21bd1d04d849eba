"""Spark SQL for aggregates that keep values: gathered into an array, put in order, or sketched.

One-shot queries and continuous views (`plan/`) are made of the same templates, so that both give the same answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from millpond.sql.functions import OrderedTemplate

HASHED = "CASE WHEN _1 IS NOT NULL THEN XXHASH64(_1) END"
"""What a sketch is made of: one type for every argument, in which NULL does not count."""


def let(name: str, value: str, body: str) -> str:
    """The body, in which the name stands for a value that is computed once. Spark has no LET."""
    return f"ELEMENT_AT(TRANSFORM(ARRAY({value}), {name} -> {body}), 1)"


def estimate(sketch: str) -> str:
    """The number of values in a sketch.

    The estimate of a sketch depends on the order in which it was filled, unless it is the result of a union.
    """
    return let("one", sketch, "COALESCE(HLL_SKETCH_ESTIMATE(HLL_UNION(one, one)), 0)")


def first_reaching(array: str, fraction: str) -> str:
    """percentile_disc: the first sorted value that has at least the wanted fraction of all values up to it."""
    return let("v", array, f"GET(v, CAST(GREATEST(CEIL({fraction} * SIZE(v)) - 1, 0) AS INT))")


# -- arrays in order ------------------------------------------------------------------------------------------


def with_keys(count: int) -> str:
    """A value `_1` in a struct with its sort keys `_2`, `_3`, ..., where it may also be NULL."""
    fields = "".join(f"'k{place}', _{place + 2}, " for place in range(count))
    return f"NAMED_STRUCT({fields}'item', _1)"


def items(structs: str, keys: Sequence[exp.Ordered]) -> str:
    """The values of an array of such structs, sorted by their keys."""
    ordered = f"ARRAY_SORT({structs}, {_comparator(keys, [f'k{place}' for place in range(len(keys))])})"
    return f"TRANSFORM({ordered if keys else structs}, x -> x['item'])"


def distinct_items(structs: str, keys: Sequence[exp.Ordered]) -> str:
    """The values of an array of structs without keys, sorted by themselves: as PostgreSQL happens to, or as asked."""
    by_value = keys[:1] or [exp.Ordered(nulls_first=False)]
    return f"TRANSFORM(ARRAY_SORT({structs}, {_comparator(by_value, ['item'])}), x -> x['item'])"


def _comparator(keys: Sequence[exp.Ordered], fields: Sequence[str]) -> str:
    """A lambda that orders two structs by their fields."""
    body = "0"
    for key, field in reversed(list(zip(keys, fields, strict=True))):
        a, b = f"a['{field}']", f"b['{field}']"
        null_first, lower_first = bool(key.args.get("nulls_first")), not key.args.get("desc")
        body = (
            f"CASE WHEN {a} <=> {b} THEN {body} WHEN {a} IS NULL THEN {_sign(first=null_first)}"
            f" WHEN {b} IS NULL THEN {_sign(first=not null_first)}"
            f" WHEN {a} < {b} THEN {_sign(first=lower_first)} ELSE {_sign(first=not lower_first)} END"
        )
    return f"(a, b) -> {body}"


def _sign(*, first: bool) -> str:
    return "-1" if first else "1"


# -- one-shot -------------------------------------------------------------------------------------------------


def _array(keys: Sequence[exp.Ordered], *, distinct: bool) -> str:
    """array_agg: NULL of no rows, and NULLs among the values stay."""
    if distinct:
        made = distinct_items(f"COLLECT_SET({with_keys(0)})", keys)
    else:
        made = items(f"COLLECT_LIST({with_keys(len(keys))})", keys)
    return f"CASE WHEN COUNT(1) > 0 THEN {made} END"


def _percentile(keys: Sequence[exp.Ordered], *, distinct: bool) -> str:  # noqa: ARG001
    """percentile_disc of any type: the fraction is `_1`, the value its sort key."""
    ascending = "FALSE" if keys[0].args.get("desc") else "TRUE"
    return first_reaching(f"SORT_ARRAY(COLLECT_LIST(_2), {ascending})", "_1")


ARRAY = OrderedTemplate(_array)
PERCENTILE = OrderedTemplate(_percentile)

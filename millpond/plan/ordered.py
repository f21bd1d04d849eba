"""string_agg in the table of aggregates: values are kept with their sort keys, and put in order at the end."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from millpond.errors import not_supported
from millpond.plan.calls import AggregateCall
from millpond.plan.partials import Aggregate, Partial
from millpond.sql.nodes import position_of, type_of


def string_agg(call: AggregateCall) -> Aggregate:
    """`string_agg([DISTINCT] value, separator [ORDER BY keys])`, the separator being a constant."""
    separator = call.direct[0]
    if separator.find(exp.Column):
        what = "string_agg over a stream with a separator that is not a constant"
        raise not_supported(what, position=position_of(call.node))
    return _of_set(call) if call.distinct else _of_list(call)


def _of_set(call: AggregateCall) -> Aggregate:
    """Each value once; without ORDER BY in ascending order, as PostgreSQL happens to deliver them."""
    kept = Partial("COLLECT_SET(_1)", "ARRAY_DISTINCT(FLATTEN(COLLECT_LIST(items)))", "ARRAY<STRING>")
    return Aggregate("string_agg", {"items": kept}, _joined(f"SORT_ARRAY(items, {str(call.ascending).upper()})"))


def _of_list(call: AggregateCall) -> Aggregate:
    """Every value, by the keys that were asked for; those that tie, in the order of arrival."""
    keys = [*call.order, *([exp.Ordered(this=call.arrival, nulls_first=False)] if call.arrival is not None else [])]
    fields = "".join(f"'k{place}', _{place + 2}, " for place in range(len(keys)))
    compute = f"COLLECT_LIST(CASE WHEN _1 IS NOT NULL THEN NAMED_STRUCT({fields}'item', _1) END)"
    types = "".join(f"k{place}: {type_of(key.this).spark}, " for place, key in enumerate(keys))
    kept = Partial(compute, "FLATTEN(COLLECT_LIST(items))", f"ARRAY<STRUCT<{types}item: STRING>>")
    sorted_items = f"ARRAY_SORT(items, {_comparator(keys)})" if keys else "items"
    finalize = _joined(f"TRANSFORM({sorted_items}, x -> x['item'])")
    return Aggregate("string_agg", {"items": kept}, finalize, keys=tuple(key.this for key in keys))


def _joined(array: str) -> str:
    return f"CASE WHEN SIZE(items) > 0 THEN ARRAY_JOIN({array}, _1) END"


def _comparator(keys: Sequence[exp.Ordered]) -> str:
    """A lambda that orders two structs by their fields k0, k1, ..."""
    body = "0"
    for place, key in reversed(list(enumerate(keys))):
        a, b = f"a['k{place}']", f"b['k{place}']"
        null_first, lower_first = bool(key.args.get("nulls_first")), not key.args.get("desc")
        body = (
            f"CASE WHEN {a} <=> {b} THEN {body} WHEN {a} IS NULL THEN {_sign(first=null_first)}"
            f" WHEN {b} IS NULL THEN {_sign(first=not null_first)}"
            f" WHEN {a} < {b} THEN {_sign(first=lower_first)} ELSE {_sign(first=not lower_first)} END"
        )
    return f"(a, b) -> {body}"


def _sign(*, first: bool) -> str:
    return "-1" if first else "1"

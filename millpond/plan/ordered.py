"""string_agg and array_agg in the table of aggregates: values are kept with their sort keys, and put in order at the
end."""

from __future__ import annotations

from sqlglot import exp

from millpond.errors import not_supported
from millpond.plan.calls import AggregateCall
from millpond.plan.partials import Aggregate, Partial
from millpond.sql.collected import distinct_items, items, with_keys
from millpond.sql.nodes import position_of, type_of


def array_agg(call: AggregateCall) -> Aggregate:
    """`array_agg([DISTINCT] value [ORDER BY keys])`; a NULL is a value."""
    if call.distinct:
        kept = _set(f"COLLECT_SET({with_keys(0)})", "STRUCT<item: {0}>")
        return Aggregate("array_agg", {"items": kept}, _unless_empty(distinct_items("items", call.order)))
    keys = _keys(call)
    kept = _list(with_keys(len(keys)), keys)
    return Aggregate("array_agg", {"items": kept}, _unless_empty(items("items", keys)), keys=_values(keys))


def string_agg(call: AggregateCall) -> Aggregate:
    """`string_agg([DISTINCT] value, separator [ORDER BY keys])`, the separator being a constant; NULLs are left out."""
    if call.direct[0].find(exp.Column):
        what = "string_agg over a stream with a separator that is not a constant"
        raise not_supported(what, position=position_of(call.node))
    if call.distinct:
        # Without ORDER BY in ascending order, as PostgreSQL happens to deliver them.
        ordered = f"SORT_ARRAY(items, {str(call.ascending).upper()})"
        return Aggregate("string_agg", {"items": _set("COLLECT_SET(_1)", "STRING")}, _joined(ordered))
    keys = _keys(call)
    kept = _list(f"CASE WHEN _1 IS NOT NULL THEN {with_keys(len(keys))} END", keys)
    return Aggregate("string_agg", {"items": kept}, _joined(items("items", keys)), keys=_values(keys))


def _keys(call: AggregateCall) -> list[exp.Ordered]:
    """The keys that were asked for; values that tie are in the order of arrival."""
    is_known = call.arrival is None or any(key.this == call.arrival for key in call.order)
    return [*call.order, *([] if is_known else [exp.Ordered(this=call.arrival, nulls_first=False)])]


def _values(keys: list[exp.Ordered]) -> tuple[exp.Expr, ...]:
    return tuple(key.this for key in keys)


def _list(value: str, keys: list[exp.Ordered]) -> Partial:
    types = "".join(f"k{place}: {type_of(key.this).spark}, " for place, key in enumerate(keys))
    merge = "FLATTEN(COLLECT_LIST(items))"
    return Partial(f"COLLECT_LIST({value})", merge, f"ARRAY<STRUCT<{types}item: {{0}}>>")


def _set(compute: str, kind: str) -> Partial:
    return Partial(compute, "ARRAY_DISTINCT(FLATTEN(COLLECT_LIST(items)))", f"ARRAY<{kind}>")


def _unless_empty(array: str) -> str:
    return f"CASE WHEN SIZE(items) > 0 THEN {array} END"


def _joined(array: str) -> str:
    return _unless_empty(f"ARRAY_JOIN({array}, _1)")

"""The pass over function calls: each becomes its Spark template, with DISTINCT, FILTER and OVER where they belong."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from millpond.errors import SqlState, not_supported
from millpond.sql import history_functions
from millpond.sql.aggregate_functions import SPARK_CALLS, UNFRAMED
from millpond.sql.functions import OrderedTemplate
from millpond.sql.literals import interval_parts
from millpond.sql.nodes import error, note_of, position_of, type_of
from millpond.sql.templates import alike, fill, fill_prepared, parsed
from millpond.types import DATE, INTERVAL

_WRAPPERS = (exp.Filter, exp.WithinGroup, exp.Window)


def rewrite_call(node: exp.Expr) -> exp.Expr:
    """`avg(x)` -> `CAST(CAST(SUM(CAST(x AS DECIMAL(20,0))) AS DECIMAL(38,16)) / COUNT(x) AS DECIMAL(38,16))`."""
    if _is_wrapped(node):
        return node
    if isinstance(node, _WRAPPERS):
        return _modified(node)
    function = note_of(node).function
    if function is None or not isinstance(node, exp.Anonymous):
        return node
    if function.kind == "scalar":
        return alike(node, _scalar(node))
    return alike(node, _aggregated(node, _Modifiers()))


def _is_wrapped(node: exp.Expr) -> bool:
    """Whether FILTER, WITHIN GROUP or OVER stands around the call and will be rewritten together with it."""
    parent = node.parent
    return isinstance(parent, _WRAPPERS) and parent.this is node


def _scalar(node: exp.Anonymous) -> exp.Expr:
    overload = note_of(node).overload
    assert overload is not None
    if callable(overload.spark):
        return overload.spark(node)
    assert isinstance(overload.spark, str)
    return fill(overload.spark, *node.expressions)


@dataclass(frozen=True)
class _Modifiers:
    """What stands around an aggregate or window call."""

    window: exp.Window | None = None
    condition: exp.Expr | None = None
    order: exp.Order | None = None


def _modified(node: exp.Expr) -> exp.Expr:
    window, condition, order = None, None, None
    inner = node
    while isinstance(inner, _WRAPPERS):
        if isinstance(inner, exp.Window):
            window = inner
        elif isinstance(inner, exp.Filter):
            condition = inner.expression.this
        else:
            order = inner.expression
        inner = inner.this
    if note_of(inner).function is None or not isinstance(inner, exp.Anonymous):
        # Spark's own call, made by an earlier pass.
        return node
    return alike(node, _aggregated(inner, _Modifiers(window, condition, order)))


def _aggregated(call: exp.Anonymous, modifiers: _Modifiers) -> exp.Expr:
    note = note_of(call)
    assert note.function is not None
    assert note.overload is not None
    if history_functions.is_stateful(note.function):
        hint = "Call it in a CREATE CONTINUOUS QUERY that reads FROM CYCLE(...)."
        what = f"the stateful function {note.function.name} outside of a cycle query"
        raise not_supported(what, hint=hint, position=position_of(call))
    if callable(note.overload.spark):
        return note.overload.spark(call)
    arguments, distinct = list(call.expressions), False
    if arguments and isinstance(arguments[0], exp.Distinct):
        distinct, arguments = True, list(arguments[0].expressions)
    if arguments and isinstance(arguments[-1], exp.Order):
        modifiers = replace(modifiers, order=arguments[-1])
        arguments[-1] = arguments[-1].this
    if modifiers.window is not None and modifiers.condition is not None:
        if note.function.name in _KEEPS_NULLS:
            raise not_supported(f"{note.function.name} with FILTER over a window", hint="Filter in a subquery.")
        arguments = [_where(modifiers.condition, argument) for argument in arguments[:1]] + arguments[1:]
        modifiers = replace(modifiers, condition=None)
    spelling = note.overload.spark
    if isinstance(spelling, OrderedTemplate):
        keys = modifiers.order.expressions if modifiers.order is not None else []
        spelling, arguments = spelling.of(keys, distinct=distinct), [*arguments, *(key.this for key in keys)]
        modifiers, distinct = replace(modifiers, order=None), False
    assert isinstance(spelling, str)
    made = _dressed(parsed(spelling).copy(), modifiers, distinct=distinct, name=note.function.name)
    return fill_prepared(made, arguments)


_KEEPS_NULLS = frozenset({"array_agg", "first", "last", "min_by", "max_by"})
"""Aggregates to which a NULL is a value: a row cannot be left out by making it NULL."""


def _make_bounds_literal(window: exp.Window) -> None:
    """An interval as the offset of a frame must be a literal to Spark: `INTERVAL '1' DAY`."""
    spec, order = window.args["spec"], window.args.get("order")
    by_days = order is not None and type_of(order.expressions[0].this) == DATE
    for end in ("start", "end"):
        bound = spec.args.get(end)
        if isinstance(bound, exp.Cast) and type_of(bound) == INTERVAL:
            spec.set(end, _interval_literal(bound.this.this, by_days=by_days))


def _interval_literal(text: str, *, by_days: bool) -> exp.Interval:
    """Months, whole days for a sort key that is a date, or days and a time."""
    parts = interval_parts(text)
    if parts.months and (parts.days or parts.micros):
        raise not_supported("a window frame offset of months and days", hint="Use either.")
    if parts.months:
        return exp.Interval(this=exp.Literal.string(str(parts.months)), unit=exp.Var(this="MONTH"))
    if by_days and not parts.micros:
        return exp.Interval(this=exp.Literal.string(str(parts.days)), unit=exp.Var(this="DAY"))
    seconds, micros = divmod(parts.micros, 1_000_000)
    clock = f"{parts.days} {seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{micros:06}"
    return exp.Interval(this=exp.Literal.string(clock), unit=exp.Var(this="DAY TO SECOND"))


def _where(condition: exp.Expr, argument: exp.Expr) -> exp.Expr:
    """Spark has no FILTER over a window; a NULL is left out just as well."""
    value = exp.Literal.number(1) if isinstance(argument, exp.Star) else argument
    return alike(argument, fill("CASE WHEN _1 THEN _2 END", condition, value))


def _dressed(template: exp.Expr, modifiers: _Modifiers, *, distinct: bool, name: str) -> exp.Expr:
    """The template with the modifiers around each aggregate or window function in it."""
    calls = [one for one in template.find_all(exp.Anonymous) if one.name in SPARK_CALLS]
    for one in calls:
        parent = one.parent
        wrapped: exp.Expr = exp.Anonymous(this=one.this, expressions=one.expressions)
        if distinct:
            wrapped.set("expressions", [exp.Distinct(expressions=list(one.expressions))])
        if modifiers.order is not None:
            wrapped = exp.WithinGroup(this=wrapped, expression=modifiers.order.copy())
        if modifiers.condition is not None:
            wrapped = exp.Filter(this=wrapped, expression=exp.Where(this=modifiers.condition.copy()))
        if modifiers.window is not None:
            wrapped = _over(wrapped, modifiers.window, name)
        if parent is None:
            return wrapped
        one.replace(wrapped)
    return template


def _over(call: exp.Expr, window: exp.Window, name: str) -> exp.Window:
    made = window.copy()
    made.set("this", call)
    if name in history_functions.NAMES and not made.args.get("order"):
        raise error(SqlState.WINDOWING_ERROR, f"{name} needs ORDER BY where rows have no order of arrival", window)
    if made.args.get("spec"):
        _make_bounds_literal(made)
    if name in UNFRAMED:
        made.set("spec", None)
        if not made.args.get("order"):
            # Spark wants an order where PostgreSQL takes any: all rows are equal in this one.
            unordered = exp.Ordered(this=fill("CAST(NULL AS INT)"), nulls_first=False)
            made.set("order", exp.Order(expressions=[unordered]))
    return made

"""Binding of aggregate calls with what may stand in and around them: DISTINCT, ORDER BY, FILTER, WITHIN GROUP."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from sqlglot import exp

from millpond.errors import MillpondError, SqlState, not_supported
from millpond.sql import functions
from millpond.sql.context import FILTER, Context, Rule
from millpond.sql.functions import Function
from millpond.sql.nodes import annotate, error, note_of, position_of, type_of, typed
from millpond.sql.signatures import function_name, matched, undefined
from millpond.sql.windows import bind_order, ordered
from millpond.types import BIGINT, INTERVAL

ARRIVAL_VALUES = {"first": "min_by", "last": "max_by"}
"""Aggregates that go by the order of a stream's arrival, and those that go by a key."""

INTERVAL_HINT = "Use their length: extract(epoch FROM ...)."


def bind_aggregate(node: exp.Expr, function: Function, context: Context) -> exp.Expr:
    """An aggregate call: `count(*)`, `sum(DISTINCT x)`, `string_agg(x, ',' ORDER BY y)`."""
    if context.inside_aggregate:
        raise error(SqlState.GROUPING_ERROR, "aggregate function calls cannot be nested", node)
    if not context.clause.aggregates:
        message = f"aggregate functions are not allowed in {context.clause.words}"
        raise error(SqlState.GROUPING_ERROR, message, node)
    # An aggregate under OVER runs after the grouping, so its arguments may aggregate in turn.
    inner = replace(context, inside_aggregate=not context.under_over, under_over=False)
    if len(node.expressions) == 1 and isinstance(node.expressions[0], exp.Star):
        return _aggregate_star(node, function)
    arguments, distinct, order = _taken_apart(node)
    if order is not None and context.under_over:
        raise error(SqlState.FEATURE_NOT_SUPPORTED, "aggregate ORDER BY is not implemented for window functions", node)
    bound = inner.bind_all(arguments)
    if function.name in ARRIVAL_VALUES:
        bound = _with_arrival(bound, function, order, node, context)
    call = matched(node, function, bound)
    _check_element(call)
    keys = [] if order is None else bind_order(order, inner)
    if function.name == "array_agg" and not distinct and not context.under_over:
        keys += _by_arrival(context, keys)
    if keys:
        call.expressions[-1].replace(exp.Order(this=call.expressions[-1].copy(), expressions=keys))
    if distinct:
        _check_distinct(call)
        call.set("expressions", [exp.Distinct(expressions=call.expressions)])
    return call


def _by_arrival(context: Context, keys: Sequence[exp.Expr]) -> list[exp.Expr]:
    """The last sort key: what nobody sorts is delivered in the order of arrival, if it is known."""
    arrival = context.scope.arrival()
    if arrival is None or any(key.this == arrival for key in keys):
        return []
    return [exp.Ordered(this=arrival, desc=False, nulls_first=False)]


def _with_arrival(
    bound: Sequence[exp.Expr], function: Function, order: exp.Order | None, node: exp.Expr, context: Context
) -> list[exp.Expr]:
    """The argument of `first` or `last`, and what they go by: they exist only where one stream says what came first."""
    if len(bound) != 1:
        raise undefined(function.name, [type_of(argument) for argument in bound], node)
    arrival = context.scope.arrival()
    by = ARRIVAL_VALUES[function.name]
    hint = f"Use {by}(value, key), or array_agg(value ORDER BY key)."
    if order is not None:
        raise not_supported(f"{function.name} with ORDER BY", hint=hint, position=position_of(node))
    if arrival is None:
        raise MillpondError(
            SqlState.FEATURE_NOT_SUPPORTED,
            f"{function.name} is not supported where rows have no order of arrival",
            detail="The rows of exactly one stream have one, in a query that reads it in FROM.",
            hint=hint,
            position=position_of(node),
        )
    return [*bound, arrival]


def _check_element(call: exp.Anonymous) -> None:
    """Raises what an array cannot hold."""
    kind = type_of(call)
    if kind.is_array and kind.element.is_array:
        raise not_supported("an array of arrays", hint="Use one row for each element.", position=position_of(call))
    if kind.is_array and kind.element == INTERVAL:
        raise not_supported("an array of intervals", hint=INTERVAL_HINT, position=position_of(call))


def _aggregate_star(node: exp.Expr, function: Function) -> exp.Expr:
    if function.name != "count":
        raise undefined(function.name, [], node)
    made = exp.Anonymous(this="count", expressions=[exp.Star()])
    annotate(made, type=BIGINT, function=function, overload=function.overloads[0])
    position = position_of(node)
    return made if position is None else made.update_positions(start=position - 1)


def _taken_apart(node: exp.Expr) -> tuple[list[exp.Expr], bool, exp.Order | None]:
    """Arguments, whether DISTINCT, and ORDER BY: the parser hangs both onto the arguments."""
    arguments, distinct = list(node.expressions), False
    order = None
    if arguments and isinstance(arguments[0], exp.Distinct):
        distinct, arguments = True, [*arguments[0].expressions, *arguments[1:]]
    if arguments and isinstance(arguments[-1], exp.Order):
        order = arguments[-1]
        arguments = [*arguments[:-1], order.this]
        if isinstance(order.this, exp.Distinct):
            distinct, arguments = True, [*arguments[:-1], *order.this.expressions]
    return arguments, distinct, order


def _check_distinct(call: exp.Anonymous) -> None:
    """With DISTINCT, ORDER BY may only name what is aggregated, else the order would not be defined."""
    last = call.expressions[-1]
    if isinstance(last, exp.Order):
        arguments = [*call.expressions[:-1], last.this]
        if any(key.this not in arguments for key in last.expressions):
            message = "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list"
            raise error(SqlState.INVALID_COLUMN_REFERENCE, message, last.expressions[0])


def _filter(node: exp.Expr, context: Context) -> exp.Expr:
    """`aggregate(...) FILTER (WHERE condition)`."""
    inner = context.bind(node.this)
    function = note_of(_innermost(inner)).function
    if function is None or function.kind not in ("aggregate", "ordered-set"):
        message = f"FILTER specified, but {function_name(node.this)} is not an aggregate function"
        raise error(SqlState.WRONG_OBJECT_TYPE, message, node)
    condition = context.within(FILTER).condition(node.expression.this, "FILTER")
    made = exp.Filter(this=inner, expression=exp.Where(this=condition))
    return typed(made, type_of(inner))


def _innermost(node: exp.Expr) -> exp.Expr:
    while isinstance(node, (exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)):
        node = node.this
    return node


def _within_group(node: exp.Expr, context: Context) -> exp.Expr:
    """`percentile_cont(0.5) WITHIN GROUP (ORDER BY x)`: the sort key is the last argument."""
    written = node.this
    function = functions.find(function_name(written))
    if function is None or function.kind != "ordered-set":
        message = f"{function_name(written)} is not an ordered-set aggregate, so it cannot have WITHIN GROUP"
        raise error(SqlState.WRONG_OBJECT_TYPE, message, node)
    keys = node.expression.expressions
    if context.under_over:
        message = f"OVER is not supported for ordered-set aggregate {function.name}"
        raise error(SqlState.FEATURE_NOT_SUPPORTED, message, node)
    if len(keys) != 1:
        raise not_supported("WITHIN GROUP with several sort keys", position=position_of(node))
    _check_fractions(written)
    plain = exp.Anonymous(this=written.this, expressions=[*written.expressions, keys[0].this])
    call = bind_aggregate(plain, function, context)
    key = call.expressions[-1].pop()
    if function.name == "percentile_disc" and type_of(key) == INTERVAL:
        raise not_supported("percentile_disc of intervals", hint=INTERVAL_HINT, position=position_of(node))
    made = exp.WithinGroup(this=call, expression=exp.Order(expressions=[ordered(key, keys[0])]))
    return typed(made, type_of(call))


def _check_fractions(call: exp.Expr) -> None:
    for fraction in call.expressions:
        negative = isinstance(fraction, exp.Neg)
        number = fraction.this if negative else fraction
        if not (isinstance(number, exp.Literal) and number.is_number):
            continue
        if Decimal(number.name) > 1 or (negative and Decimal(number.name) > 0):
            message = f"percentile value {'-' if negative else ''}{number.name} is not between 0 and 1"
            raise error(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, message, fraction)


RULES: dict[type[exp.Expr], Rule] = {exp.Filter: _filter, exp.WithinGroup: _within_group}

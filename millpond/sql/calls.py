"""Binding of function calls: those with rules of their own, scalar ones and window calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from millpond.errors import MillpondError, SqlState, not_supported
from millpond.sql import functions
from millpond.sql.aggregate_calls import bind_aggregate
from millpond.sql.coercion import coerce
from millpond.sql.context import WINDOW_CALL, Context, Rule
from millpond.sql.defined_functions import callable_function
from millpond.sql.history_functions import framed, is_history
from millpond.sql.nodes import annotate, error, fold, placed, position_of, type_of, typed, unwrapped
from millpond.sql.operators import comparable, no_operator
from millpond.sql.signatures import NO_FUNCTION, function_name, matched, undefined
from millpond.sql.sql_types import UNKNOWN, type_name
from millpond.sql.windows import bind_window
from millpond.types import DOUBLE, INTEGER, TEXT, SqlType

_REFUSED = {
    "json_agg": "Use array_agg, or one row for each element.",
    "jsonb_agg": "Use array_agg, or one row for each element.",
    "gen_random_uuid": "Make the identifier in the client.",
    "unnest": "Use VALUES or generate_series in FROM.",
    "age": "Subtract the timestamps.",
    "array_to_string": "Use string_agg.",
    "regexp_match": "Use regexp_substr or substring.",
    "regexp_matches": "Use regexp_substr or substring.",
    "string_to_array": "Use split_part.",
}
"""Functions of PostgreSQL that are asked for and are not here, and what to use instead."""


def _call(node: exp.Expr, context: Context) -> exp.Expr:
    name = function_name(node)
    if name == "nullif" and len(node.expressions) == 2:
        return _nullif(node, context)
    if name == "grouping":
        return _grouping(node, context)
    if name == "pg_typeof" and len(node.expressions) == 1:
        return _type_name(node, context)
    if name == "make_interval":
        node = _positional(node, _INTERVAL_PARTS)
    function = _found(name, context)
    if function is None:
        if name in _REFUSED:
            raise not_supported(f"the function {name}", hint=_REFUSED[name], position=position_of(node))
        types = [type_of(bound) for bound in _plain_arguments(node, context)]
        raise undefined(name, types, node)
    if function.kind in ("aggregate", "ordered-set"):
        return bind_aggregate(node, function, context)
    if function.kind == "window":
        message = f"window function {name} requires an OVER clause"
        raise error(SqlState.WRONG_OBJECT_TYPE, message, node)
    return matched(node, function, _plain_arguments(node, context))


def _found(name: str, context: Context) -> functions.Function | None:
    """The function of that name: one of SQL, or else one that somebody has defined."""
    function = functions.find(name)
    if function is None:
        defined = context.scope.names.function(name)
        return None if defined is None else callable_function(defined)
    return function


def _type_name(node: exp.Expr, context: Context) -> exp.Expr:
    """`pg_typeof(x)`: the type without its precision or length, as a second argument. `x` stays: it may aggregate."""
    argument = context.bind(node.expressions[0])
    name = typed(exp.Literal.string(type_name(type_of(argument))), TEXT)
    function = functions.find("pg_typeof")
    assert function is not None
    return matched(node, function, [argument, name])


_INTERVAL_PARTS = ("years", "months", "weeks", "days", "hours", "mins", "secs")


def _positional(node: exp.Expr, names: Sequence[str]) -> exp.Expr:
    """`make_interval(days => 3)` with an argument in every place, 0 where none was given."""
    given = dict(zip(names, node.expressions, strict=False))
    for argument in node.expressions:
        if isinstance(argument, exp.Kwarg):
            name = argument.this.name.lower()
            if name not in names:
                message = f"function {function_name(node)}({name} => ...) does not exist"
                raise error(SqlState.UNDEFINED_FUNCTION, message, node, hint=NO_FUNCTION)
            given = {key: value for key, value in given.items() if value is not argument} | {name: argument.expression}
    arguments = [given[name].copy() if name in given else exp.Literal.number(0) for name in names]
    made = exp.Anonymous(this=node.this, expressions=arguments)
    position = position_of(node)
    return made if position is None else made.update_positions(start=position - 1)


def _plain_arguments(node: exp.Expr, context: Context) -> list[exp.Expr]:
    for argument in node.expressions:
        if isinstance(argument, (exp.Distinct, exp.Order)):
            clause = "DISTINCT" if isinstance(argument, exp.Distinct) else "ORDER BY"
            message = f"{clause} specified, but {function_name(node)} is not an aggregate function"
            raise error(SqlState.WRONG_OBJECT_TYPE, message, node)
    return context.bind_all(node.expressions)


def _nullif(node: exp.Expr, context: Context) -> exp.Expr:
    """`NULLIF(a, b)` has the type of `a`, compared as `a = b` compares."""
    first, second = context.bind_all(node.expressions)
    if type_of(first) == UNKNOWN:
        first = coerce(first, TEXT if type_of(second) == UNKNOWN else type_of(second))
    first, second = comparable(exp.EQ(this=node), first, second)
    made = exp.Anonymous(this="nullif", expressions=[first, second])
    function = functions.find("nullif")
    assert function is not None
    return annotate(made, type=type_of(first), function=function, overload=function.overloads[0])


def _grouping(node: exp.Expr, context: Context) -> exp.Expr:
    function = functions.find("grouping")
    assert function is not None
    made = exp.Anonymous(this="grouping", expressions=context.bind_all(node.expressions))
    return annotate(made, type=INTEGER, function=function, overload=function.overloads[0])


def _window(node: exp.Expr, context: Context) -> exp.Expr:
    """`f(...) OVER (...)`: a window function, or an aggregate run over a window."""
    if not context.clause.windows or context.inside_aggregate:
        raise _misplaced_window(node, context)
    call = _windowed_call(node.this, replace(context, clause=WINDOW_CALL, under_over=True))
    made = bind_window(node, context)
    made.set("this", call)
    return typed(framed(made) if is_history(made) else made, type_of(call))


def _misplaced_window(node: exp.Expr, context: Context) -> MillpondError:
    if context.inside_aggregate:
        message = "aggregate function calls cannot contain window function calls"
        return error(SqlState.GROUPING_ERROR, message, node)
    if context.clause == WINDOW_CALL:
        return error(SqlState.WINDOWING_ERROR, "window function calls cannot be nested", node)
    message = f"window functions are not allowed in {context.clause.words}"
    return error(SqlState.WINDOWING_ERROR, message, node)


def _windowed_call(node: exp.Expr, context: Context) -> exp.Expr:
    if isinstance(node, (exp.IgnoreNulls, exp.RespectNulls)):
        raise not_supported("IGNORE NULLS", position=position_of(node))
    if not isinstance(node, exp.Anonymous):
        return context.bind(node)
    name = function_name(node)
    function = _found(name, context)
    if function is not None and function.kind == "window":
        if name == "change_point" and len(node.expressions) == 1 and isinstance(node.expressions[0], exp.Tuple):
            node = placed(exp.Anonymous(this=name, expressions=node.expressions[0].expressions), node)
        return _checked_window(matched(node, function, _plain_arguments(node, context)))
    if function is not None and function.kind == "scalar":
        message = f"OVER specified, but {name} is not a window function nor an aggregate function"
        raise error(SqlState.WRONG_OBJECT_TYPE, message, node)
    if any(isinstance(argument, exp.Distinct) for argument in node.expressions):
        raise not_supported("DISTINCT in a window function", position=position_of(node))
    return context.bind(node)


def _checked_window(call: exp.Anonymous) -> exp.Expr:
    """A number of buckets or of a row must be positive; Spark wants a constant."""
    count = unwrapped(call.expressions[-1]) if call.name in _POSITIVE else None
    if isinstance(count, exp.Neg) or (isinstance(count, exp.Literal) and count.name == "0"):
        raise error(_POSITIVE[call.name], f"argument of {call.name} must be greater than zero", call)
    return call


_POSITIVE = {
    "ntile": SqlState.INVALID_ARGUMENT_FOR_NTILE,
    "nth_value": SqlState.INVALID_ARGUMENT_FOR_NTH_VALUE,
}


def _as_function(name: str, operand: SqlType | None = None) -> Rule:
    """An operator that is a function by another name: `a ^ b` is power(a, b), and `|/ a` is sqrt(a) of a double."""

    def rule(node: exp.Expr, context: Context) -> exp.Expr:
        arguments = context.bind_all(list(node.iter_expressions()))
        types = [type_of(argument) for argument in arguments]
        if not all(sql_type.is_number or sql_type == UNKNOWN for sql_type in types):
            raise no_operator(node, *types)
        function = functions.find(name)
        assert function is not None
        return matched(node, function, [coerce(one, operand) for one in arguments] if operand else arguments)

    return rule


def _qualified_call(node: exp.Expr, context: Context) -> exp.Expr:
    """`pg_catalog.lower(x)` is `lower(x)`."""
    if not (isinstance(node.this, exp.Identifier) and isinstance(node.expression, exp.Anonymous)):
        raise not_supported("selecting a field of a value", position=position_of(node))
    if fold(node.this) != "pg_catalog":
        message = f'schema "{fold(node.this)}" does not exist'
        raise error(SqlState.UNDEFINED_OBJECT, message, node)
    return context.bind(node.expression)


RULES: dict[type[exp.Expr], Rule] = {
    exp.Anonymous: _call,
    exp.Window: _window,
    exp.Dot: _qualified_call,
    exp.Pow: _as_function("power"),
    exp.Sqrt: _as_function("sqrt", DOUBLE),
}

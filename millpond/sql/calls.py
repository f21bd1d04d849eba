"""Binding of function calls: choosing the signature, aggregates and their modifiers, window calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from sqlglot import exp

from millpond.errors import MillpondError, SqlState, not_supported
from millpond.sql import functions
from millpond.sql.coercion import coerce, common_type
from millpond.sql.context import FILTER, WINDOW_CALL, Context, Rule
from millpond.sql.functions import CONSTANTS, Function
from millpond.sql.nodes import annotate, error, fold, note_of, position_of, type_of, typed, unwrapped
from millpond.sql.operators import comparable, no_operator
from millpond.sql.sql_types import UNKNOWN, type_name
from millpond.sql.windows import bind_order, bind_window, ordered
from millpond.types import BIGINT, DOUBLE, INTEGER, TEXT, SqlType

_NO_FUNCTION = "No function matches the given name and argument types. You might need to add explicit type casts."

_REFUSED = {
    "array_agg": "Use string_agg, or one row for each element.",
    "json_agg": "Use string_agg, or one row for each element.",
    "jsonb_agg": "Use string_agg, or one row for each element.",
    "gen_random_uuid": "Make the identifier in the client.",
    "unnest": "Use VALUES or generate_series in FROM.",
    "age": "Subtract the timestamps.",
    "regexp_match": "Use regexp_substr or substring.",
    "regexp_matches": "Use regexp_substr or substring.",
    "string_to_array": "Use split_part.",
}
"""Functions of PostgreSQL that are asked for and are not here, and what to use instead."""

_SAME_TYPE_WORDS = {"coalesce": "COALESCE", "greatest": "GREATEST", "least": "LEAST"}
"""Functions that PostgreSQL's grammar knows, and whose type errors name them so."""


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
    function = functions.find(name)
    if function is None:
        if name in _REFUSED:
            raise not_supported(f"the function {name}", hint=_REFUSED[name], position=position_of(node))
        types = [type_of(bound) for bound in _plain_arguments(node, context)]
        raise _undefined(name, types, node)
    if function.kind in ("aggregate", "ordered-set"):
        return _aggregate(node, function, context)
    if function.kind == "window":
        message = f"window function {name} requires an OVER clause"
        raise error(SqlState.WRONG_OBJECT_TYPE, message, node)
    return _matched(node, function, _plain_arguments(node, context))


def _type_name(node: exp.Expr, context: Context) -> exp.Expr:
    """`pg_typeof(x)`: the type without its precision or length, as a second argument. `x` stays: it may aggregate."""
    argument = context.bind(node.expressions[0])
    name = typed(exp.Literal.string(type_name(type_of(argument))), TEXT)
    function = functions.find("pg_typeof")
    assert function is not None
    return _matched(node, function, [argument, name])


_INTERVAL_PARTS = ("years", "months", "weeks", "days", "hours", "mins", "secs")


def _positional(node: exp.Expr, names: Sequence[str]) -> exp.Expr:
    """`make_interval(days => 3)` with an argument in every place, 0 where none was given."""
    given = dict(zip(names, node.expressions, strict=False))
    for argument in node.expressions:
        if isinstance(argument, exp.Kwarg):
            name = argument.this.name.lower()
            if name not in names:
                message = f"function {function_name(node)}({name} => ...) does not exist"
                raise error(SqlState.UNDEFINED_FUNCTION, message, node, hint=_NO_FUNCTION)
            given = {key: value for key, value in given.items() if value is not argument} | {name: argument.expression}
    arguments = [given[name].copy() if name in given else exp.Literal.number(0) for name in names]
    made = exp.Anonymous(this=node.this, expressions=arguments)
    position = position_of(node)
    return made if position is None else made.update_positions(start=position - 1)


def function_name(node: exp.Expr) -> str:
    """The function's name: as quoted, or folded to lower case."""
    name = node.this
    return fold(name) if isinstance(name, exp.Identifier) else str(name).lower()


def _plain_arguments(node: exp.Expr, context: Context) -> list[exp.Expr]:
    for argument in node.expressions:
        if isinstance(argument, (exp.Distinct, exp.Order)):
            clause = "DISTINCT" if isinstance(argument, exp.Distinct) else "ORDER BY"
            message = f"{clause} specified, but {function_name(node)} is not an aggregate function"
            raise error(SqlState.WRONG_OBJECT_TYPE, message, node)
    return context.bind_all(node.expressions)


def _matched(node: exp.Expr, function: Function, arguments: Sequence[exp.Expr]) -> exp.Anonymous:
    """The call with the signature that fits, its arguments cast to it."""
    types = [type_of(argument) for argument in arguments]
    found = functions.match(function, types, arguments)
    if found is None:
        raise _undefined(function.name, types, node)
    cast = [coerce(argument, target) for argument, target in zip(arguments, found.arguments, strict=True)]
    made = exp.Anonymous(this=function.name, expressions=cast)
    annotate(made, type=found.result, function=function, overload=found.overload)
    position = position_of(node)
    if position is not None:
        made.update_positions(start=position - 1)
    _check_formats(made)
    return made


def _check_formats(call: exp.Anonymous) -> None:
    """Raises what is wrong with the literals among the arguments that decide the spelling in Spark."""
    note = note_of(call)
    if note.overload is None or not callable(note.overload.spark) or call.name in CONSTANTS:
        return
    try:
        note.overload.spark(call)
    except MillpondError as raised:
        raised.position = position_of(call)
        raise


def _undefined(name: str, types: Sequence[SqlType], node: exp.Expr) -> MillpondError:
    if name in _SAME_TYPE_WORDS and types:
        odd = next((place for place, one in enumerate(types) if common_type([types[0], one]) is None), -1)
        pair = f"{type_name(types[0])} and {type_name(types[odd])}"
        message = f"{_SAME_TYPE_WORDS[name]} types {pair} cannot be matched"
        return error(SqlState.DATATYPE_MISMATCH, message, node.expressions[odd])
    words = ", ".join(type_name(sql_type) for sql_type in types)
    return error(SqlState.UNDEFINED_FUNCTION, f"function {name}({words}) does not exist", node, hint=_NO_FUNCTION)


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


def _aggregate(node: exp.Expr, function: Function, context: Context) -> exp.Expr:
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
    call = _matched(node, function, inner.bind_all(arguments))
    if order is not None:
        ordered = bind_order(order, inner)
        call.expressions[-1].replace(exp.Order(this=call.expressions[-1].copy(), expressions=ordered))
    if distinct:
        _check_distinct(call)
        call.set("expressions", [exp.Distinct(expressions=call.expressions)])
    return call


def _aggregate_star(node: exp.Expr, function: Function) -> exp.Expr:
    if function.name != "count":
        raise _undefined(function.name, [], node)
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
    if len(keys) != 1:
        raise not_supported("WITHIN GROUP with several sort keys", position=position_of(node))
    _check_fractions(written)
    plain = exp.Anonymous(this=written.this, expressions=[*written.expressions, keys[0].this])
    call = _aggregate(plain, function, context)
    key = call.expressions[-1].pop()
    made = exp.WithinGroup(this=call, expression=exp.Order(expressions=[ordered(key, keys[0])]))
    return typed(made, type_of(call))


def _check_fractions(call: exp.Expr) -> None:
    for fraction in call.expressions:
        if isinstance(fraction, exp.Literal) and fraction.is_number and Decimal(fraction.name) > 1:
            message = f"percentile value {fraction.name} is not between 0 and 1"
            raise error(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, message, fraction)


def _window(node: exp.Expr, context: Context) -> exp.Expr:
    """`f(...) OVER (...)`: a window function, or an aggregate run over a window."""
    if not context.clause.windows or context.inside_aggregate:
        raise _misplaced_window(node, context)
    call = _windowed_call(node.this, replace(context, clause=WINDOW_CALL, under_over=True))
    made = bind_window(node, context)
    made.set("this", call)
    return typed(made, type_of(call))


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
    function = functions.find(name)
    if function is not None and function.kind == "window":
        return _checked_window(_matched(node, function, _plain_arguments(node, context)))
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
        return _matched(node, function, [coerce(one, operand) for one in arguments] if operand else arguments)

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
    exp.Filter: _filter,
    exp.WithinGroup: _within_group,
    exp.Window: _window,
    exp.Dot: _qualified_call,
    exp.Pow: _as_function("power"),
    exp.Sqrt: _as_function("sqrt", DOUBLE),
}

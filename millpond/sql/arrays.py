"""Binding of arrays as values: `ARRAY[1, 2]` and `a[1]`. They come from array_agg, and go into results."""

from __future__ import annotations

from sqlglot import exp

from millpond.errors import SqlState, not_supported
from millpond.sql.coercion import coerce, common_type
from millpond.sql.context import Context, Rule
from millpond.sql.functions import Function, Overload
from millpond.sql.nodes import annotate, error, position_of, type_of
from millpond.sql.sql_types import UNKNOWN, type_name
from millpond.types import INTEGER, INTERVAL, array_of

_MADE = Function("array", "scalar", (Overload(("same",), "same", "ARRAY(_all)", variadic=True),))

# PostgreSQL counts from 1, and outside of the array there is NULL.
_SUBSCRIPT = Function("subscript", "scalar", (Overload(("array", "integer"), "first", "GET(_1, _2 - 1)"),))


def _array(node: exp.Expr, context: Context) -> exp.Expr:
    """`ARRAY[a, b]`, its elements of their common type."""
    elements = context.bind_all(node.expressions)
    if not elements:
        hint = "Explicitly cast to the desired type, for example ARRAY[]::integer[]."
        message = "cannot determine type of empty array"
        raise error(SqlState.INDETERMINATE_DATATYPE, message, node, hint=hint)
    kind = common_type([type_of(element) for element in elements])
    if kind is None:
        first = type_of(elements[0])
        odd = next(one for one in elements if common_type([first, type_of(one)]) is None)
        message = f"ARRAY types {type_name(first)} and {type_name(type_of(odd))} cannot be matched"
        raise error(SqlState.DATATYPE_MISMATCH, message, odd)
    if kind.is_array or kind == INTERVAL:
        raise not_supported(f"an array of {'arrays' if kind.is_array else 'intervals'}", position=position_of(node))
    made = exp.Anonymous(this="array", expressions=[coerce(element, kind) for element in elements])
    return annotate(made, type=array_of(kind), function=_MADE, overload=_MADE.overloads[0])


def _subscript(node: exp.Expr, context: Context) -> exp.Expr:
    """`a[i]`, an element or NULL."""
    array = context.bind(node.this)
    kind = type_of(array)
    if not kind.is_array:
        message = f"cannot subscript type {type_name(kind)} because it does not support subscripting"
        raise error(SqlState.DATATYPE_MISMATCH, message, node)
    written = node.expressions[0]
    if len(node.expressions) != 1 or isinstance(written, exp.Slice):
        raise not_supported("a slice of an array", hint="Name its elements.", position=position_of(node))
    place = context.bind(written)
    if not (type_of(place).is_integer or type_of(place) == UNKNOWN):
        raise error(SqlState.DATATYPE_MISMATCH, "array subscript must have type integer", written)
    made = exp.Anonymous(this="subscript", expressions=[array, coerce(place, INTEGER)])
    return annotate(made, type=kind.element, function=_SUBSCRIPT, overload=_SUBSCRIPT.overloads[0])


RULES: dict[type[exp.Expr], Rule] = {exp.Array: _array, exp.Bracket: _subscript}

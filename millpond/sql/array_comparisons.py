"""Binding of `x = ANY (array)` and its like: over elements that are written out, and over arrays that are computed."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from millpond.errors import SqlState, not_supported
from millpond.sql.array_literals import split_array
from millpond.sql.coercion import coerce
from millpond.sql.context import Context
from millpond.sql.functions import Function, Overload
from millpond.sql.nodes import (
    annotate,
    cast,
    conjunction,
    disjunction,
    error,
    position_of,
    type_of,
    typed,
    unwrapped,
    wrapped,
)
from millpond.sql.operators import comparable
from millpond.sql.sql_types import UNKNOWN, to_sql_type
from millpond.types import BOOLEAN, TEXT, SqlType, array_of


def compare(kind: type[exp.Expr], left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """Two bound values compared."""
    return typed(kind(this=wrapped(left.copy()), expression=wrapped(right.copy())), BOOLEAN)


def elements_of(operand: exp.Expr, context: Context) -> list[exp.Expr] | None:
    """The elements of `ARRAY[...]`, `'{1,2}'` or `'{1,2}'::integer[]`."""
    if isinstance(operand, exp.Array):
        return context.bind_all(operand.expressions)
    target: SqlType | None = None
    if isinstance(operand, exp.Cast) and isinstance(operand.to, exp.DataType) and operand.to.this == _ARRAY:
        target = to_sql_type(operand.to.expressions[0], position=position_of(operand))
        if isinstance(operand.this, exp.Array):
            return [coerce(element, target) for element in context.bind_all(operand.this.expressions)]
        operand = operand.this
    if not (isinstance(operand, exp.Literal) and operand.is_string):
        return None
    position = position_of(operand)
    literals = [_element(text, position) for text in split_array(operand.this, position)]
    return [coerce(literal, target) for literal in literals] if target else literals


_ARRAY = exp.DataType.Type.ARRAY


def _element(text: str | None, position: int | None) -> exp.Expr:
    node: exp.Expr = exp.Null() if text is None else exp.Literal.string(text)
    return typed(node, UNKNOWN) if position is None else typed(node, UNKNOWN).update_positions(start=position - 1)


def over_elements(node: exp.Expr, left: exp.Expr, elements: Sequence[exp.Expr], *, is_any: bool) -> exp.Expr:
    """A comparison with the elements of an array, written out."""
    if not elements:
        return typed(exp.Boolean(this=not is_any), BOOLEAN)
    pairs = [comparable(node, left, element) for element in elements]
    if is_any and isinstance(node, exp.EQ):
        return typed(exp.In(this=pairs[0][0], expressions=[right for _, right in pairs]), BOOLEAN)
    compared = [compare(type(node), *pair) for pair in pairs]
    return disjunction(compared) if is_any else conjunction(compared)


_CONTAINS = Function("array_contains", "scalar", (Overload(("array", "any"), "boolean", "ARRAY_CONTAINS(_1, _2)"),))


def over_array(node: exp.Expr, operand: exp.Expr, context: Context, *, is_any: bool) -> exp.Expr:
    """`x = ANY (a)` and `x <> ALL (a)` for an array that is computed; a parameter is an array of what `x` is."""
    left, array = context.bind(node.this), context.bind(operand)
    if type_of(array) == UNKNOWN:
        array = cast(unwrapped(array), array_of(TEXT if type_of(left) == UNKNOWN else type_of(left)))
    if not type_of(array).is_array:
        message = "op ANY/ALL (array) requires array on right side"
        raise error(SqlState.WRONG_OBJECT_TYPE, message, operand)
    if not isinstance(node, exp.EQ if is_any else exp.NEQ):
        hint = "Write = ANY or <> ALL."
        raise not_supported("this comparison with a computed array", hint=hint, position=position_of(node))
    left, _ = comparable(node, left, typed(exp.Null(), type_of(array).element))
    if type_of(left) != type_of(array).element:
        array = cast(array, array_of(type_of(left)))
    found = exp.Anonymous(this="array_contains", expressions=[array, left])
    annotate(found, type=BOOLEAN, function=_CONTAINS, overload=_CONTAINS.overloads[0])
    return found if is_any else typed(exp.Not(this=found), BOOLEAN)

"""An aggregate call of a bound tree taken apart: what is computed for each row, and what for each group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from millpond.errors import InternalError
from millpond.plan.trees import AGGREGATE_WRAPPERS
from millpond.sql.functions import Overload
from millpond.sql.nodes import note_of, type_of
from millpond.types import NUMERIC_PRECISION_MAX, SqlType

SUM_DIGITS = 10
"""Digits that Spark adds to a decimal for its sum."""

_LONG_DIGITS = 18
"""Digits that always fit into a bigint."""


@dataclass(frozen=True)
class AggregateCall:
    """`name(DISTINCT arguments, direct ORDER BY order) FILTER (WHERE condition)`.

    In `name(direct) WITHIN GROUP (ORDER BY order)` the sort keys are the arguments.

    `arguments`, `order` and `condition` are evaluated for each row, `direct` arguments for each group. `word` is the
    type of the first argument (see `argument_word`); `arrival` tells the order in which rows came, where
    that is still known.
    """

    node: exp.Expr
    name: str
    arguments: tuple[exp.Expr, ...]
    direct: tuple[exp.Expr, ...]
    order: tuple[exp.Ordered, ...]
    distinct: bool
    condition: exp.Expr | None
    word: str
    arrival: exp.Expr | None

    @property
    def result(self) -> SqlType:
        return type_of(self.node)

    @property
    def ascending(self) -> bool:
        """The direction of the first sort key."""
        return not (self.order and self.order[0].args.get("desc"))


def taken_apart(node: exp.Expr, arrival: exp.Expr | None = None) -> AggregateCall:
    """The parts of a call, given with the FILTER and WITHIN GROUP around it."""
    condition, within, inner = None, None, node
    while isinstance(inner, AGGREGATE_WRAPPERS):
        if isinstance(inner, exp.Filter):
            condition = inner.expression.this
        else:
            within = inner.expression
        inner = inner.this
    note = note_of(inner)
    if note.function is None or note.overload is None:
        raise InternalError(f"{inner.name} is not an aggregate call")
    arguments, distinct, order = _arguments(inner)
    direct: tuple[exp.Expr, ...] = ()
    if within is not None:
        direct, order = arguments, tuple(within.expressions)
        arguments = tuple(key.this for key in order)
    elif note.function.name == "string_agg":
        arguments, direct = arguments[:1], arguments[1:]
    word = argument_word(note.overload, arguments)
    return AggregateCall(node, note.function.name, arguments, direct, order, distinct, condition, word, arrival)


def argument_word(overload: Overload, arguments: Sequence[exp.Expr]) -> str:
    """The type of the first argument in the function table's words; `short_numeric` is one that a bigint can hold.

    Its sum must also be a decimal after the multiplication by its unit.
    """
    word = overload.arguments[0] if overload.arguments else ""
    kind = note_of(arguments[0]).type if arguments else None
    if word != "numeric" or kind is None:
        return word
    digits, scale = kind.decimal_precision, kind.decimal_scale
    fits = digits <= _LONG_DIGITS and digits + SUM_DIGITS + scale < NUMERIC_PRECISION_MAX
    return "short_numeric" if fits else word


def _arguments(call: exp.Expr) -> tuple[tuple[exp.Expr, ...], bool, tuple[exp.Ordered, ...]]:
    """Arguments, whether DISTINCT, and the ORDER BY that binding hangs onto the last argument."""
    arguments, distinct = list(call.expressions), False
    if arguments and isinstance(arguments[0], exp.Distinct):
        distinct, arguments = True, list(arguments[0].expressions)
    if arguments and isinstance(arguments[-1], exp.Order):
        order = arguments[-1]
        return (*arguments[:-1], order.this), distinct, tuple(order.expressions)
    return tuple(arguments), distinct, ()

"""An aggregate call of a bound tree taken apart: what is computed for each row, and what for each group."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from millpond.errors import InternalError
from millpond.plan.trees import AGGREGATE_WRAPPERS
from millpond.sql.nodes import note_of, type_of
from millpond.types import SqlType


@dataclass(frozen=True)
class AggregateCall:
    """`name(DISTINCT arguments, direct ORDER BY order) FILTER (WHERE condition)`; in `name(direct) WITHIN GROUP (ORDER BY
    order)` the sort keys are the arguments.

    `arguments`, `order` and `condition` are evaluated for each row, `direct` arguments for each group. `word` is the
    type of the first argument in the words of the function table; `arrival` tells the order in which rows came, where
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
    word = note.overload.arguments[0] if note.overload.arguments else ""
    return AggregateCall(node, note.function.name, arguments, direct, order, distinct, condition, word, arrival)


def _arguments(call: exp.Expr) -> tuple[tuple[exp.Expr, ...], bool, tuple[exp.Ordered, ...]]:
    """Arguments, whether DISTINCT, and the ORDER BY that binding hangs onto the last argument."""
    arguments, distinct = list(call.expressions), False
    if arguments and isinstance(arguments[0], exp.Distinct):
        distinct, arguments = True, list(arguments[0].expressions)
    if arguments and isinstance(arguments[-1], exp.Order):
        order = arguments[-1]
        return (*arguments[:-1], order.this), distinct, tuple(order.expressions)
    return tuple(arguments), distinct, ()

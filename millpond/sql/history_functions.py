"""Rows of the function table that remember: window functions over the rows of a key in whatever cycle they came.

    moving_avg(x, n), moving_sum(x, n)    over the last n rows of the key, this one included
    lag_cycle(x, n)                       the value n rows of the key before
    change_point(x, ...)                  whether any of the values differs from the row of the key before

Over rows that are all there they are ordinary window functions with a frame of their own, which is what their
spelling in Spark says. In a cycle query, `millpond.plan.history_cut` cuts them out.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from millpond.errors import SqlState
from millpond.sql.aggregate_functions import ROWS as AGGREGATES
from millpond.sql.functions import Function, row
from millpond.sql.nodes import error, note_of, unwrapped

MOVING = {"moving_avg": "avg", "moving_sum": "sum"}
"""Aggregates over the last rows, by those that they are of all."""

NAMES = frozenset({*MOVING, "lag_cycle", "change_point"})

ROWS_MAX = 10_000
"""How many rows of a key a call may remember."""

VALUES_MAX = 16
"""How many values one change point may watch."""


def _moving() -> tuple[Function, ...]:
    """Those of the aggregates, with the number of rows as a second argument; intervals are left out."""
    found = [(name, one, one.overloads[0]) for name, base in MOVING.items() for one in AGGREGATES if one.name == base]
    return tuple(
        Function(name, "window", (replace(overload, arguments=(*overload.arguments, "integer")),))
        for name, _, overload in found
        if overload.arguments != ("interval",)
    )


def _changed(values: int) -> str:
    same = " AND ".join(f"LAG(_{place}, 1) <=> _{place}" for place in range(1, values + 1))
    return f"NOT (ROW_NUMBER() > 1 AND {same})"


ROWS: tuple[Function, ...] = (
    *_moving(),
    row("lag_cycle", "any -> first", "LAG(_1, 1)", kind="window"),
    row("lag_cycle", "any integer -> first", "LAG(_1, _2)", kind="window"),
    *(
        row("change_point", f"{'any ' * values}-> boolean", _changed(values), kind="window")
        for values in range(1, VALUES_MAX + 1)
    ),
)


def is_history(node: exp.Expr) -> bool:
    """Whether a node is a call of such a function, with its OVER."""
    function = note_of(node.this).function if isinstance(node, exp.Window) else None
    return function is not None and (function.name in NAMES or is_stateful(function))


def is_stateful(function: Function) -> bool:
    """Whether it is a function in Python that keeps a state for each of its keys."""
    return function.python is not None and bool(function.python.keys)


def framed(window: exp.Window) -> exp.Window:
    """The window with the frame that its function has; raises if another was written, or the number of rows is odd."""
    name, function = window.this.name, note_of(window.this).function
    if function is not None and is_stateful(function) and window.args.get("partition_by"):
        message = f"the keys of {name} are arguments of its own"
        raise error(SqlState.WINDOWING_ERROR, message, window, hint="Leave PARTITION BY out.")
    if window.args.get("spec"):
        raise error(SqlState.WINDOWING_ERROR, f"{name} has a frame of its own", window, hint="Leave the frame out.")
    if name in MOVING:
        before = exp.Literal.number(rows_of(window) - 1)
        start = {"start": before, "start_side": "PRECEDING", "end": "CURRENT ROW", "end_side": None}
        window.set("spec", exp.WindowSpec(kind="ROWS", **start))
    elif name == "lag_cycle":
        rows_of(window)
    return window


def rows_of(window: exp.Window) -> int:
    """How many rows a call is about: the constant that it was given."""
    call = window.this
    if call.name not in (*MOVING, "lag_cycle") or (call.name == "lag_cycle" and len(call.expressions) == 1):
        return 1
    given = unwrapped(call.expressions[-1])
    while isinstance(given, exp.Cast):
        given = unwrapped(given.this)
    number = int(given.name) if isinstance(given, exp.Literal) and given.name.isdigit() else 0
    if not 1 <= number <= ROWS_MAX:
        message = f"the number of rows of {call.name} must be a constant from 1 to {ROWS_MAX}"
        raise error(SqlState.INVALID_PARAMETER_VALUE, message, call)
    return number

"""The pass that turns conditions on the age of rows into windows, so that old rows leave a view without new input.

    SELECT count(*) FROM s WHERE at > now() - interval '1 day'             ->  rows younger than a day
    SELECT count(*) FROM s WHERE date_trunc('week', at) = date_trunc('week', now())  ->  rows of the current week

What a condition says of the clock is true at one moment only. So the rows are kept by panes of their time, and at each
reading those panes are merged that pass by then.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from millpond.plan.correlation import conjuncts
from millpond.plan.trees import alias_of, raw_items, stream_of
from millpond.sql.constants import is_moment
from millpond.sql.literals import interval_parts
from millpond.sql.nodes import annotate, conjunction, type_of, unwrapped
from millpond.sql.stream_windows import window_of
from millpond.stream_window import CALENDAR_UNITS, AgeWindow, CalendarWindow, StreamWindow
from millpond.types import INTERVAL

PANES = 100
"""About as many steps a view needs to let all of its rows go."""

_SECOND = 1_000_000
_STEPS = [10_000, 100_000] + [
    factor * unit
    for unit, factors in (
        (_SECOND, (1, 2, 5, 10, 30)),
        (60 * _SECOND, (1, 2, 5, 10, 30)),
        (3600 * _SECOND, (1, 2, 6, 12)),
        (86_400 * _SECOND, (1, 7, 30)),
    )
    for factor in factors
]

_DAY_US = 86_400 * _SECOND


def lift_ages(tree: exp.Expr, step_us: int | None) -> None:
    """Take conditions on the age of a stream's rows out of the tree, which is changed, and put windows in."""
    for select in list(tree.find_all(exp.Select)):
        items = raw_items(select)
        if select.args.get("where") is not None and items and stream_of(items[0]) is not None:
            _lift(select, items[0], step_us)


def _lift(select: exp.Select, item: exp.Expr, step_us: int | None) -> None:
    kept = []
    for condition in conjuncts(select.args["where"].this):
        window = _both(window_of(item), _window(condition, alias_of(item), step_us))
        if window is None:
            kept.append(condition)
        else:
            annotate(item, window=window)
    select.set("where", exp.Where(this=conjunction([one.copy() for one in kept])) if kept else None)


def _both(known: StreamWindow | None, window: StreamWindow | None) -> StreamWindow | None:
    """The window for a condition and those that are lifted already; None if there is none for all."""
    if known is None or window is None:
        return window
    are_ages = isinstance(known, AgeWindow) and isinstance(window, AgeWindow) and known.column == window.column
    return min(known, window, key=lambda one: one.size) if are_ages else None


def default_step(age_us: int) -> int:
    """The longest step that goes into an age often enough.

    >>> default_step(86_400_000_000) // 60_000_000, default_step(7 * 86_400_000_000) // 60_000_000
    (10, 60)
    """
    fitting = [step for step in _STEPS if step * PANES <= age_us and age_us % step == 0]
    return max(fitting, default=max(1, age_us // PANES))


def _window(condition: exp.Expr, alias: str, step_us: int | None) -> StreamWindow | None:
    """The window that a condition means, if it is one on the age of a row."""
    for later, earlier, is_equal in _sides(condition):
        age = None if is_equal else _age(later, earlier, alias, step_us)
        found = age or _calendar(later, earlier, alias, is_equal=is_equal)
        if found is not None:
            return found
    return None


def _sides(condition: exp.Expr) -> Iterator[tuple[exp.Expr, exp.Expr, bool]]:
    """A comparison as what is later and what is earlier, or as both where they are equal."""
    left, right = unwrapped(condition.this), unwrapped(condition.args.get("expression") or exp.Null())
    if isinstance(condition, (exp.GT, exp.GTE)):
        yield left, right, False
    elif isinstance(condition, (exp.LT, exp.LTE)):
        yield right, left, False
    elif isinstance(condition, exp.EQ):
        yield left, right, True
        yield right, left, True


def _age(later: exp.Expr, earlier: exp.Expr, alias: str, step_us: int | None) -> AgeWindow | None:
    """`at > now() - interval '1 day'`"""
    if not _is_column(later, alias) or not isinstance(earlier, exp.Sub) or not _is_now(earlier.this):
        return None
    length = unwrapped(earlier.expression)
    if type_of(length) != INTERVAL or not isinstance(length.this, exp.Literal):
        return None
    parts = interval_parts(str(length.this.this))
    age_us = parts.days * _DAY_US + parts.micros
    if parts.months or age_us <= 0:
        return None
    step, column = step_us or default_step(age_us), _without_casts(later).name
    return AgeWindow("age", alias, column, by_rows=False, slide=step, size=-(-age_us // step) * step)


def _calendar(later: exp.Expr, earlier: exp.Expr, alias: str, *, is_equal: bool) -> CalendarWindow | None:
    """`date_trunc('day', at) = date_trunc('day', now())`, and with `>=` also of the bare column; a date is a day."""
    row_unit, moment_unit = _truncated(later), _truncated(earlier)
    if moment_unit is None or not _is_now(moment_unit[1]):
        return None
    unit, column = row_unit or (moment_unit[0] if not is_equal else "", later)
    if unit != moment_unit[0] or not _is_column(column, alias):
        return None
    name = _without_casts(column).name
    return CalendarWindow("calendar", alias, name, by_rows=False, slide=1, size=1, unit=unit, onward=not is_equal)


def _truncated(node: exp.Expr) -> tuple[str, exp.Expr] | None:
    """The unit to which an expression truncates, and what it truncates."""
    if isinstance(node, exp.Anonymous) and node.name == "date_trunc":
        unit, value = node.expressions[0], node.expressions[1]
        if isinstance(unit, exp.Literal) and str(unit.this).lower() in CALENDAR_UNITS:
            return str(unit.this).lower(), unwrapped(value)
    if type_of(node).name == "date" and (isinstance(node, exp.Cast) or is_moment(node)):
        return "day", unwrapped(node.this) if isinstance(node, exp.Cast) else node
    return None


def _is_now(node: exp.Expr) -> bool:
    return is_moment(_without_casts(node))


def _is_column(node: exp.Expr, alias: str) -> bool:
    column = _without_casts(node)
    return isinstance(column, exp.Column) and column.table == alias


def _without_casts(node: exp.Expr) -> exp.Expr:
    """A time without the casts between kinds of times, which are the same in UTC."""
    node = unwrapped(node)
    while isinstance(node, exp.Cast) and type_of(node).name in ("timestamp", "timestamptz"):
        node = unwrapped(node.this)
    return node

"""Binding of window definitions: PARTITION BY, ORDER BY and the frame, and the sort keys that aggregates share."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from millpond.errors import MillpondError, SqlState, not_supported
from millpond.sql.coercion import coerce, resolve_unknown
from millpond.sql.context import ORDER_BY, WINDOW, Context
from millpond.sql.nodes import error, fold, position_of, type_of, unwrapped
from millpond.sql.sql_types import type_name
from millpond.types import BIGINT, INTERVAL


def bind_order(order: exp.Order, context: Context) -> list[exp.Expr]:
    """The keys of an ORDER BY inside a call or a window; NULLs sort as larger than all values."""
    inner = context.within(replace(ORDER_BY, aggregates=context.clause.aggregates))
    return [ordered(resolve_unknown(inner.bind(written.this)), written) for written in order.expressions]


def ordered(key: exp.Expr, written: exp.Expr) -> exp.Ordered:
    """A sort key with the direction that was written."""
    if type_of(key).is_array:
        raise not_supported("ordering by an array", hint="Order by its elements.", position=position_of(written))
    descending = bool(written.args.get("desc"))
    nulls_first = bool(written.args.get("nulls_first"))
    return exp.Ordered(this=key, desc=descending, nulls_first=nulls_first)


def bind_window(node: exp.Expr, context: Context) -> exp.Window:
    """A window definition; a named one it builds on is copied in."""
    inner = replace(context, clause=WINDOW)
    partition = [resolve_unknown(inner.bind(key)) for key in node.args.get("partition_by") or []]
    order = node.args.get("order")
    made = exp.Window(partition_by=partition, over="OVER")
    if order is not None:
        made.set("order", exp.Order(expressions=bind_order(order, inner)))
    named = node.args.get("alias")
    if named is not None:
        _inherit(made, named, has_frame=bool(node.args.get("spec")), context=context)
    if node.args.get("spec"):
        made.set("spec", _frame(node.args["spec"], made, inner))
    return made


def _inherit(made: exp.Window, named: exp.Identifier, *, has_frame: bool, context: Context) -> None:
    base = context.windows.get(fold(named))
    if base is None:
        raise error(SqlState.UNDEFINED_OBJECT, f'window "{fold(named)}" does not exist', named)
    for part in ("partition_by", "order", "spec"):
        inherited = base.args.get(part)
        if inherited and (made.args.get(part) or (part == "spec" and has_frame)):
            clause = {"partition_by": "PARTITION BY", "order": "ORDER BY", "spec": "frame"}[part]
            message = f'cannot override {clause} clause of window "{fold(named)}"'
            raise error(SqlState.WINDOWING_ERROR, message, named)
        if inherited:
            made.set(part, [key.copy() for key in inherited] if isinstance(inherited, list) else inherited.copy())


# -- frames ---------------------------------------------------------------------------------------------------


def _frame(spec: exp.Expr, window: exp.Window, context: Context) -> exp.WindowSpec:
    kind = str(spec.args["kind"]).upper()
    if spec.args.get("exclude") or kind == "GROUPS":
        what = "GROUPS in a window frame" if kind == "GROUPS" else "EXCLUDE in a window frame"
        raise not_supported(what, position=position_of(spec))
    _check_ends(_end(spec, "start"), _end(spec, "end"), spec)
    made = exp.WindowSpec(kind=kind)
    for end, word in (("start", "starting"), ("end", "ending")):
        bound = spec.args.get(end)
        if isinstance(bound, exp.Expr):
            bound = _offset(bound, kind, word, context)
            if kind == "RANGE":
                _check_range(bound, window, spec)
        made.set(end, bound)
        made.set(f"{end}_side", spec.args.get(f"{end}_side"))
    return made


def _end(spec: exp.Expr, end: str) -> str:
    """One end of a frame: UNBOUNDED PRECEDING, PRECEDING, CURRENT ROW, FOLLOWING or UNBOUNDED FOLLOWING."""
    bound, side = spec.args.get(end), str(spec.args.get(f"{end}_side") or "").upper()
    if bound is None or str(bound).upper() == "CURRENT ROW":
        return "CURRENT ROW"
    return side if isinstance(bound, exp.Expr) else f"UNBOUNDED {side}"


def _check_ends(start: str, end: str, spec: exp.Expr) -> None:
    """A frame must not end before it starts."""
    message = None
    if start == "UNBOUNDED FOLLOWING":
        message = "frame start cannot be UNBOUNDED FOLLOWING"
    elif end == "UNBOUNDED PRECEDING":
        message = "frame end cannot be UNBOUNDED PRECEDING"
    elif start == "CURRENT ROW" and end == "PRECEDING":
        message = "frame starting from current row cannot have preceding rows"
    elif start == "FOLLOWING" and end in ("PRECEDING", "CURRENT ROW"):
        message = "frame starting from following row cannot have preceding rows"
    if message is not None:
        raise error(SqlState.WINDOWING_ERROR, message, spec)


def _offset(written: exp.Expr, kind: str, word: str, context: Context) -> exp.Expr:
    """The distance of a frame's end: a constant that is not negative."""
    if any(isinstance(part, exp.Column) for part in written.walk()):
        raise error(SqlState.INVALID_COLUMN_REFERENCE, f"argument of {kind} must not contain variables", written)
    bound = context.bind(written)
    if isinstance(unwrapped(bound), exp.Neg):
        message = f"frame {word} offset must not be negative"
        raise error(SqlState.INVALID_PRECEDING_OR_FOLLOWING_SIZE, message, written)
    if not type_of(bound).is_number and type_of(bound) != INTERVAL:
        bound = coerce(bound, BIGINT)
    if not isinstance(unwrapped(bound), (exp.Literal, exp.Cast)):
        raise not_supported("a window frame offset that is not a constant", position=position_of(written))
    return bound


def _check_range(offset: exp.Expr, window: exp.Window, spec: exp.Expr) -> None:
    """RANGE with a distance needs one sort key, of a type that the distance can be added to."""
    keys = window.args["order"].expressions if window.args.get("order") else []
    if len(keys) != 1:
        message = "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column"
        raise error(SqlState.WINDOWING_ERROR, message, spec)
    key, distance = type_of(keys[0].this), type_of(offset)
    if key.is_number or key.name in ("date", "timestamp", "timestamptz"):
        if key.is_number == distance.is_number:
            return
        raise _no_range(f"column type {type_name(key)} and offset type {type_name(distance)}", offset)
    raise _no_range(f"column type {'text' if key.is_string else type_name(key)}", offset)


def _no_range(what: str, offset: exp.Expr) -> MillpondError:
    message = f"RANGE with offset PRECEDING/FOLLOWING is not supported for {what}"
    return error(SqlState.FEATURE_NOT_SUPPORTED, message, offset)

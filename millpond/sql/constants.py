"""Values that hold still during a statement: now(), current_user and their like, put into the tree as literals."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime

from sqlglot import exp

from millpond.errors import InternalError
from millpond.sql.coercion import constant
from millpond.sql.functions import CONSTANTS
from millpond.sql.nodes import identifier, note_of, type_of, typed
from millpond.sql.stream_windows import is_bound
from millpond.sql.templates import rewrite
from millpond.types import SqlType

Constants = Callable[[str], datetime | date | str | int | None]
"""The value of a constant by its name; that of a window's bound by `bound_key`, or None to leave it as it is."""

_ASKED_AS = {"current_role": "current_user", "current_catalog": "current_database"}


def put_constants(tree: exp.Expr, constants: Constants, *, bounds: bool = True) -> exp.Expr:
    """`ts > now()` -> `ts > '2024-01-01 10:00:00+00'::timestamptz`; `bounds` of windows may be left for later."""

    def rule(node: exp.Expr) -> exp.Expr:
        function = note_of(node).function
        if is_bound(node):
            if not bounds:
                return node
            bound = constants(bound_key(node.name, node.expressions[0].name))
            unknown = typed(exp.Column(this=identifier(node.name)), type_of(node))
            return unknown if bound is None else constant_of(bound, type_of(node))
        if function is None or function.name not in CONSTANTS or not isinstance(node, exp.Anonymous):
            return node
        return constant(_value(function.name, constants), type_of(node))

    return rewrite(tree, rule)


def constant_of(value: datetime | date | str | int, kind: SqlType) -> exp.Expr:
    """A value as a literal of a type."""
    return constant(_shown(value), kind)


def is_moment(node: exp.Expr) -> bool:
    """Whether a node is the time of the statement."""
    function = note_of(node).function
    return function is not None and CONSTANTS.get(function.name, "text") != "text"


def bound_key(name: str, alias: str) -> str:
    """How a bound of the window of that alias is asked for.

    >>> bound_key("window_start", "w")
    'window_start of w'
    """
    return f"{name} of {alias}"


def _value(name: str, constants: Constants) -> str:
    if CONSTANTS[name] == "text":
        return str(constants(_ASKED_AS.get(name, name)))
    moment = constants("now")
    if not isinstance(moment, datetime):
        raise InternalError("the constant now is not a moment")
    return _instant(moment).date().isoformat() if CONSTANTS[name] == "date" else _shown(moment)


def _shown(value: datetime | date | str | int) -> str:
    return _instant(value).isoformat(sep=" ") if isinstance(value, datetime) else str(value)


def _instant(moment: datetime) -> datetime:
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)

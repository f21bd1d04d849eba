"""Values that hold still during a statement: now(), current_user and their like, put into the tree as literals."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime

from sqlglot import exp

from millpond.errors import InternalError
from millpond.sql.coercion import constant
from millpond.sql.functions import CONSTANTS
from millpond.sql.nodes import note_of, type_of
from millpond.sql.templates import rewrite

Constants = Callable[[str], datetime | date | str]

_ASKED_AS = {"current_role": "current_user", "current_catalog": "current_database"}


def put_constants(tree: exp.Expr, constants: Constants) -> exp.Expr:
    """`ts > now()` -> `ts > '2024-01-01 10:00:00+00'::timestamptz`."""

    def rule(node: exp.Expr) -> exp.Expr:
        function = note_of(node).function
        if function is None or function.name not in CONSTANTS or not isinstance(node, exp.Anonymous):
            return node
        return constant(_value(function.name, constants), type_of(node))

    return rewrite(tree, rule)


def _value(name: str, constants: Constants) -> str:
    if CONSTANTS[name] == "text":
        return str(constants(_ASKED_AS.get(name, name)))
    moment = constants("now")
    if not isinstance(moment, datetime):
        raise InternalError("the constant now is not a moment")
    instant = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    return instant.date().isoformat() if CONSTANTS[name] == "date" else instant.isoformat(sep=" ")

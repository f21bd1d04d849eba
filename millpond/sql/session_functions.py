"""Rows of the function table for functions of the session, which are called once for a statement, before it runs.

They read or change what a session has, so Spark cannot call them. Their arguments must be constants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from millpond.errors import not_supported
from millpond.sql.coercion import constant
from millpond.sql.functions import Function, row
from millpond.sql.nodes import cast, note_of, position_of, type_of, unwrapped
from millpond.sql.templates import rewrite

Calls = Callable[[str, Sequence[str | None]], str | None]
"""What a function gives for constant arguments, all as texts; None is NULL."""


_SIGNATURES = (
    ("current_setting", "text -> text"),
    ("current_setting", "text boolean -> text"),
    ("set_config", "text text boolean -> text"),
    ("pg_notify", "text text -> text"),
    ("pg_sleep", "double -> text"),
    ("pg_backend_pid", "-> integer"),
    ("txid_current", "-> bigint"),
    ("pg_advisory_unlock_all", "-> text"),
)
"""What PostgreSQL calls void is an empty text here."""

_NEVER_RUN = "RAISE_ERROR('XX000:a function of the session reached Spark')"

NAMES = frozenset(name for name, _ in _SIGNATURES)
ROWS: tuple[Function, ...] = tuple(row(name, signature, _NEVER_RUN, volatile=True) for name, signature in _SIGNATURES)


def put_session_calls(tree: exp.Expr, calls: Calls) -> exp.Expr:
    """`current_setting('timezone')` -> `'UTC'`."""

    def rule(node: exp.Expr) -> exp.Expr:
        function = note_of(node).function
        if function is None or function.name not in NAMES or not isinstance(node, exp.Anonymous):
            return node
        value = calls(function.name, [_constant_text(argument, function.name) for argument in node.expressions])
        return cast(exp.Null(), type_of(node)) if value is None else constant(value, type_of(node))

    return rewrite(tree, rule)


def _constant_text(node: exp.Expr, function: str) -> str | None:
    bare = unwrapped(node)
    while isinstance(bare, exp.Cast):
        bare = unwrapped(bare.this)
    sign = ""
    if isinstance(bare, exp.Neg):
        sign, bare = "-", unwrapped(bare.this)
    if isinstance(bare, exp.Null):
        return None
    if isinstance(bare, exp.Boolean):
        return "true" if bare.this else "false"
    if not isinstance(bare, exp.Literal):
        raise not_supported(
            f"the function {function} with an argument that is not a constant", position=position_of(node)
        )
    return sign + str(bare.this)

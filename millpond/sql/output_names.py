"""The names that PostgreSQL gives to output columns without an alias."""

from __future__ import annotations

from sqlglot import exp

from millpond.errors import MillpondError
from millpond.sql.nodes import fold, unwrapped
from millpond.sql.signatures import function_name
from millpond.sql.sql_types import INTERNAL_NAMES, to_sql_type


def output_name(node: exp.Expr) -> str:
    """The name PostgreSQL gives to an output column without an alias.

    >>> from millpond.sql.dialect import parse_scalar
    >>> [output_name(parse_scalar(text)) for text in ("a.b", "count(*)", "1 + 1", "x::text", "'1'::int")]
    ['b', 'count', '?column?', 'x', 'int4']
    """
    return _name(node) or _weak_name(node) or "?column?"


def _weak_name(node: exp.Expr) -> str | None:
    """The name of a cast's type or of CASE, which a name from within is better than, and another cast's type too."""
    if isinstance(node, exp.Cast):
        return _cast_name(node)
    if isinstance(node, exp.Interval):
        return "interval"
    if isinstance(node, (exp.Paren, exp.Collate)):
        return _weak_name(node.this)
    return "case" if isinstance(node, exp.Case) else None


def _name(node: exp.Expr) -> str | None:
    if isinstance(node, exp.Column):
        return fold(node.this)
    if isinstance(node, exp.Anonymous):
        return function_name(node)
    if isinstance(node, (exp.Window, exp.Filter, exp.WithinGroup, exp.Paren, exp.Collate, exp.Bracket)):
        return _name(node.this)
    if isinstance(node, exp.Dot):
        return _name(node.expression)
    if isinstance(node, exp.Cast):
        return _name(node.this)
    if isinstance(node, exp.Subquery):
        return _subquery_name(node)
    if isinstance(node, exp.Case):
        return _name(node.args["default"]) if node.args.get("default") else None
    if isinstance(node, exp.Trim):
        return {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position")).upper(), "btrim")
    return _NAMES.get(type(node))


def _cast_name(node: exp.Expr) -> str | None:
    written = node.args["to"]
    if isinstance(written, exp.ObjectIdentifier):
        return written.name.lower()
    if isinstance(written.args.get("kind"), exp.Dot):
        return fold(written.args["kind"].expression)
    try:
        target = to_sql_type(written, arrays=True)
    except MillpondError:
        return None
    return INTERNAL_NAMES.get(target.name, target.name)


def _subquery_name(node: exp.Subquery) -> str | None:
    inner = unwrapped(node.this)
    while isinstance(inner, (exp.SetOperation, exp.Subquery)):
        inner = inner.this
    if not isinstance(inner, exp.Select) or not inner.expressions:
        return None
    first = inner.expressions[0]
    return fold(first.args["alias"]) if isinstance(first, exp.Alias) else output_name(first)


_NAMES: dict[type[exp.Expr], str] = {
    exp.Extract: "extract",
    exp.Substring: "substring",
    exp.StrPosition: "position",
    exp.Overlay: "overlay",
    exp.Exists: "exists",
    exp.AtTimeZone: "timezone",
    exp.CurrentDate: "current_date",
    exp.CurrentTimestamp: "current_timestamp",
    exp.Localtimestamp: "localtimestamp",
    exp.CurrentUser: "current_user",
    exp.CurrentRole: "current_role",
    exp.SessionUser: "session_user",
    exp.CurrentSchema: "current_schema",
    exp.CurrentCatalog: "current_catalog",
    exp.Array: "array",
}

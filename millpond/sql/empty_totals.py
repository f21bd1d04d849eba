"""The pass for the total of no rows: PostgreSQL's empty grouping set gives a row even then, Spark's gives none."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from millpond.sql.grouping import is_aggregate_call
from millpond.sql.nodes import cast, identifier, note_of, type_of, typed
from millpond.types import BOOLEAN, INTEGER

_SETS = (exp.Rollup, exp.Cube, exp.GroupingSets)


def empty_total(node: exp.Expr) -> exp.Expr:
    """`SELECT a, count(*) FROM t GROUP BY ROLLUP (a)` -> the same and, if `t` has no rows, the total.

    `... UNION ALL SELECT NULL, count(*) FROM t WHERE FALSE HAVING NOT EXISTS (SELECT 1 FROM t)`
    """
    if not (isinstance(node, exp.Select) and _has_empty_set(node.args.get("group")) and _is_plain(node)):
        return node
    union = exp.Union(expression=_total(node), distinct=False)
    for part in ("with_", "order", "limit", "offset"):
        union.set(part, node.args.get(part))
        node.set(part, None)
    union.set("this", node)
    return union


def _has_empty_set(group: exp.Expr | None) -> bool:
    """Whether one of the sets is empty: with several lists of sets, each must have an empty one."""
    return group is not None and bool(_keys(group)) and all(_may_be_empty(one) for one in group.expressions)


def _may_be_empty(element: exp.Expr) -> bool:
    if isinstance(element, exp.GroupingSets):
        return any(_may_be_empty(one) for one in element.expressions)
    return isinstance(element, (exp.Rollup, exp.Cube)) or (isinstance(element, exp.Tuple) and not element.expressions)


def _is_plain(select: exp.Select) -> bool:
    """Whether a union can do the same: no window or DISTINCT above the groups, only output columns to sort by.

    Nor may it be correlated: Spark does not look outward from a subquery within a subquery.
    """
    order = select.args.get("order")
    keys = [key.this for key in order.expressions] if order else []
    sorted_by_outputs = all(isinstance(key, exp.Column) and not key.args.get("table") for key in keys)
    correlated = any(note_of(column).levels_up for column in select.find_all(exp.Column))
    breaks = correlated or select.args.get("distinct") or any(select.find_all(exp.Window))
    return sorted_by_outputs and not breaks


def _total(select: exp.Select) -> exp.Select:
    """The aggregates of no rows, a row of them, if there are no rows."""
    keys = _keys(select.args["group"])
    outputs = [
        exp.Alias(this=_without_keys(output.this, keys), alias=output.args["alias"].copy())
        for output in select.expressions
    ]
    one = exp.Alias(this=typed(exp.Literal.number("1"), INTEGER), alias=identifier("one"))
    rows = exp.Select(expressions=[one], **_copied(select, "from_", "joins", "where"))
    condition: exp.Expr = typed(exp.Not(this=typed(exp.Exists(this=rows), BOOLEAN)), BOOLEAN)
    having = select.args.get("having")
    if having is not None:
        condition = typed(exp.And(this=condition, expression=_without_keys(having.this, keys)), BOOLEAN)
    nothing = exp.Where(this=typed(exp.Boolean(this=False), BOOLEAN))
    source = _copied(select, "from_", "joins")
    return exp.Select(expressions=outputs, **source, where=nothing, having=exp.Having(this=condition))


def _keys(element: exp.Expr) -> list[exp.Expr]:
    if isinstance(element, (exp.Group, exp.Tuple, *_SETS)):
        return [key for one in element.expressions for key in _keys(one)]
    return [element]


def _without_keys(node: exp.Expr, keys: Sequence[exp.Expr]) -> exp.Expr:
    """The expression as it is in the total: keys are NULL, and GROUPING has all bits set."""

    def rule(part: exp.Expr) -> exp.Expr:
        function = note_of(part).function
        if function is not None and function.name == "grouping":
            return typed(exp.Literal.number(str(2 ** len(part.expressions) - 1)), INTEGER)
        if is_aggregate_call(part):
            # A copy, so that `transform` does not look for keys inside.
            return part.copy()
        return cast(exp.Null(), type_of(part)) if part in keys else part

    return node.transform(rule)


def _copied(select: exp.Select, *parts: str) -> dict[str, object]:
    """Parts of a query, as they are in a copy of it."""
    copy = select.copy()
    return {part: copy.args[part] for part in parts if copy.args.get(part)}

"""The pass that moves the bounds of windows, which are constants, above the groupings of their streams.

    SELECT w.window_end, count(*) FROM (SELECT * FROM TUMBLE(s, ...)) w GROUP BY w.window_end, w.a

reads a bound through a subquery, and groups by it. Afterwards the subquery does not deliver it, and it is no key:

    SELECT window_end, count(*) FROM (SELECT a FROM s) w GROUP BY w.a

Where a bound was the only key, a constant one is left: without any key, there would be a group even without rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from millpond.plan.trees import alias_of, is_grouping, is_raw, own_items, query_of, raw_items
from millpond.sql.nodes import identifier, typed, walk_own
from millpond.sql.stream_windows import is_bound
from millpond.types import BOOLEAN

_SETS = (exp.GroupingSets, exp.Rollup, exp.Cube)


def lift_bounds(tree: exp.Expr) -> exp.Expr:
    """The tree, which is changed."""
    # Inner queries come last in a walk from the top, and are lifted first.
    for select in reversed(list(tree.find_all(exp.Select))):
        for item in own_items(select):
            _lift_out_of(item, select)
        if raw_items(select) and is_grouping(select):
            _drop_keys(select)
    return tree


def has_bound(node: exp.Expr) -> bool:
    """Whether a bound of a window stands below a node."""
    return any(is_bound(one) for one in node.walk())


def is_constant_in_window(node: exp.Expr) -> bool:
    """Whether an expression has one value for all rows of a window, because it is made of its bounds."""
    return has_bound(node) and node.find(exp.Column) is None


def _lift_out_of(item: exp.Expr, select: exp.Select) -> None:
    """Put the bounds that a raw subquery delivers in the places where they are read."""
    query = query_of(item)
    if not isinstance(query, exp.Select) or not is_raw(query):
        return
    lifted = {output.alias: output.this for output in query.expressions if is_constant_in_window(output.this)}
    if not lifted:
        return
    kept = [output for output in query.expressions if output.alias not in lifted]
    # A subquery has to deliver something.
    query.set("expressions", kept or [exp.Alias(this=typed(exp.Boolean(this=True), BOOLEAN), alias=identifier("kept"))])
    for column in list(select.find_all(exp.Column)):
        if column.table == alias_of(item) and column.name in lifted:
            column.replace(lifted[column.name].copy())


def _drop_keys(select: exp.Select) -> None:
    group = select.args.get("group")
    if group is not None and not any(isinstance(one, _SETS) for one in group.expressions):
        group.set("expressions", without_bounds(group.expressions))


def without_bounds(keys: Sequence[exp.Expr]) -> list[exp.Expr]:
    """Keys without those that are constant in a window; if there were others, one constant is left."""
    kept = [key for key in keys if not is_constant_in_window(key)]
    return kept or ([typed(exp.Boolean(this=True), BOOLEAN)] if keys else [])


def bounds_below(node: exp.Expr) -> exp.Expr | None:
    """A bound among the expressions of one query, for an error that points at it."""
    return next((one for one in walk_own(node) if is_bound(one)), None)

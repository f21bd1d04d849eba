"""The pass that groups streams which EXISTS and IN look into: whether a row is there does not depend on how often.

    EXISTS (SELECT 1 FROM s WHERE s.k = t.k AND s.v > 0)    ->    EXISTS (SELECT 1 FROM s WHERE ... GROUP BY s.k)
    t.k IN (SELECT s.k FROM s WHERE s.v > 0)                ->    t.k IN (SELECT DISTINCT s.k FROM s WHERE s.v > 0)

So the keys are kept instead of the rows. What is compared otherwise than by equality is left as it is.
"""

from __future__ import annotations

from sqlglot import exp

from millpond.plan.correlation import looked_up_with
from millpond.plan.trees import free_columns, is_raw
from millpond.sql.nodes import identifier, typed
from millpond.types import INTEGER


def group_semi_joins(tree: exp.Expr) -> exp.Expr:
    """The tree, which is changed."""
    for node in list(tree.find_all(exp.Exists, exp.In)):
        query = node.this if isinstance(node, exp.Exists) else node.args.get("query")
        select = query.this if isinstance(query, exp.Subquery) else query
        if isinstance(select, exp.Select) and is_raw(select) and not _is_cut(select):
            if isinstance(node, exp.Exists):
                _group_by_looked_up(select)
            elif not free_columns(select):
                select.set("distinct", exp.Distinct())
    return tree


def _is_cut(select: exp.Select) -> bool:
    """Whether it matters which rows come first, or how many there are."""
    return any(select.args.get(clause) for clause in ("limit", "offset", "distinct"))


def _group_by_looked_up(select: exp.Select) -> None:
    keys = looked_up_with(select)
    if keys:
        found = exp.Alias(this=typed(exp.Literal.number(1), INTEGER), alias=identifier("found"))
        select.set("expressions", [found])
        select.set("group", exp.Group(expressions=keys))
        select.set("order", None)

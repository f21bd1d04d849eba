"""The conditions of a SELECT, one by one: those of WHERE and of ON, and what a disjunction implies of one relation."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlglot import exp

from millpond.plan.correlation import conjuncts
from millpond.sql.nodes import conjunction, disjunction
from millpond.sql.templates import is_volatile


def conjuncts_of(condition: exp.Expr | None) -> list[exp.Expr]:
    return [] if condition is None else list(conjuncts(condition))


def asked_of(select: exp.Select) -> list[exp.Expr]:
    """All that WHERE and ON ask."""
    where = select.args.get("where")
    asked = conjuncts_of(None if where is None else where.this)
    return asked + [one for join in select.args.get("joins") or [] for one in conjuncts_of(join.args.get("on"))]


def is_about(condition: exp.Expr, aliases: Collection[str]) -> bool:
    """Whether a condition can be asked of rows of just these items in FROM, once for all rows they are joined with."""
    columns = list(condition.find_all(exp.Column))
    own = bool(columns) and all(one.table in aliases for one in columns)
    return own and condition.find(exp.Select) is None and not is_volatile(condition)


def take_out(select: exp.Select, conditions: Sequence[exp.Expr]) -> None:
    """Ask conditions no longer, in WHERE or in ON."""
    where = select.args.get("where")
    if where is not None:
        left = [one for one in conjuncts_of(where.this) if not _is_one_of(one, conditions)]
        select.set("where", exp.Where(this=conjunction([one.copy() for one in left])) if left else None)
    for join in select.args.get("joins") or []:
        asked = conjuncts_of(join.args.get("on"))
        left = [one for one in asked if not _is_one_of(one, conditions)]
        if len(left) < len(asked):
            join.set("on", conjunction([one.copy() for one in left]) if left else exp.true())


def ask_too(select: exp.Select, conditions: Sequence[exp.Expr]) -> None:
    """Ask more in WHERE, but nothing twice."""
    where = select.args.get("where")
    before = conjuncts_of(None if where is None else where.this)
    asked = list({_sense(one): one for one in [*before, *conditions] if one != exp.true()}.values())
    if len(asked) != len(before):
        select.set("where", exp.Where(this=conjunction([one.copy() for one in asked])))


def implied(condition: exp.Expr, alias: str) -> exp.Expr | None:
    """What a disjunction implies of the rows of one item: `a.x = 1 AND b.y = 2 OR a.x = 3` that a.x is 1 or 3."""
    branches = _disjuncts(condition)
    if len(branches) < 2 or is_about(condition, {alias}):
        return None
    parts = [[one for one in conjuncts(branch) if is_about(one, {alias})] for branch in branches]
    return disjunction([conjunction([one.copy() for one in part]) for part in parts]) if all(parts) else None


def _disjuncts(condition: exp.Expr) -> list[exp.Expr]:
    if isinstance(condition, exp.Paren):
        return _disjuncts(condition.this)
    if isinstance(condition, exp.Or):
        return [*_disjuncts(condition.this), *_disjuncts(condition.expression)]
    return [condition]


def _sense(condition: exp.Expr) -> object:
    """What is the same of conditions that ask the same."""
    is_equality = isinstance(condition, exp.EQ)
    return frozenset((condition.this, condition.expression)) if is_equality else condition


def _is_one_of(node: exp.Expr, nodes: Sequence[exp.Expr]) -> bool:
    return any(node is one for one in nodes)

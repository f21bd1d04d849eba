"""Decorrelation: a subquery that groups a stream and compares it for equality with columns around it.

    ... WHERE t.x > (SELECT sum(s.v) FROM s WHERE s.k = t.k AND s.v > 0)

keeps the sums by `s.k`, and looks up that of `t.k` in the state: the equality moves above the grouping. Any other
reference to the query around would need all rows of the stream, and is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from millpond.errors import MillpondError
from millpond.plan.rules import refused
from millpond.plan.trees import aggregate_calls, free_columns, own_aliases, raw_stream
from millpond.sql.nodes import conjunction


@dataclass(frozen=True)
class Correlation:
    """`inner = outer`: an expression over the stream's rows, and one over the query around."""

    inner: exp.Expr
    outer: exp.Expr


def uncorrelated(select: exp.Expr) -> tuple[exp.Expr | None, tuple[Correlation, ...]]:
    """The condition of WHERE without its equalities with the query around, and those."""
    own = frozenset(own_aliases(select))
    kept, found = [], []
    where = select.args.get("where")
    for condition in conjuncts(where.this) if where is not None else ():
        if not free_columns(condition, own):
            kept.append(condition)
            continue
        pair = _equality(condition, own)
        if pair is None:
            raise _correlated(select, condition)
        found.append(pair)
    _refuse_elsewhere(select, own)
    return conjunction([one.copy() for one in kept]) if kept else None, tuple(found)


def looked_up_with(select: exp.Expr) -> list[exp.Expr]:
    """What the query around compares for equality with the rows of a subquery; nothing if it compares otherwise too."""
    own = frozenset(own_aliases(select))
    where = select.args.get("where")
    free = [one for one in conjuncts(where.this) if free_columns(one, own)] if where is not None else []
    pairs = [_equality(one, own) for one in free]
    return [pair.inner for pair in pairs if pair is not None] if None not in pairs else []


def _refuse_elsewhere(select: exp.Expr, own: frozenset[str]) -> None:
    """FROM, the keys and the arguments of aggregates are computed below the grouping: they see the stream only."""
    group = select.args.get("group")
    joins = select.args.get("joins") or []
    for part in (select.args["from_"], *joins, *([group] if group else []), *aggregate_calls(select)):
        free = free_columns(part, own)
        if free:
            raise _correlated(select, free[0])


def _correlated(select: exp.Expr, place: exp.Expr) -> MillpondError:
    message = f'a correlated subquery over the stream "{raw_stream(select).name}" is not supported in a continuous view'
    detail = "Only equality with columns of the query around it can be looked up in what is kept."
    hint = "Group the stream by the columns that are compared, in a subquery in FROM, and join that."
    return refused(message, place, detail=detail, hint=hint)


def conjuncts(condition: exp.Expr) -> Iterator[exp.Expr]:
    """The conditions that AND joins."""
    if isinstance(condition, exp.Paren):
        yield from conjuncts(condition.this)
    elif isinstance(condition, exp.And):
        yield from conjuncts(condition.this)
        yield from conjuncts(condition.expression)
    else:
        yield condition


def _equality(condition: exp.Expr, own: frozenset[str]) -> Correlation | None:
    if not isinstance(condition, exp.EQ):
        return None
    for inner, outer in (
        (condition.this, condition.expression),
        (condition.expression, condition.this),
    ):
        if not free_columns(inner, own) and not _uses(outer, own) and not outer.find(exp.Query):
            return Correlation(inner.copy(), outer.copy())
    return None


def _uses(node: exp.Expr, aliases: frozenset[str]) -> bool:
    return any(column.table in aliases for column in node.find_all(exp.Column))

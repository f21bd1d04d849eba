"""Lifts expressions over a grouping: keys and aggregate calls become columns of the state and finalized results."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from millpond.errors import InternalError, not_supported
from millpond.plan.kept import Kept
from millpond.plan.pipelines import StateColumn
from millpond.plan.shown import shown
from millpond.plan.trees import own_aliases
from millpond.sql.nodes import identifier, position_of, type_of, typed
from millpond.types import INTERVAL, SqlType


class Lift:
    """Rewrites expressions that stand above one grouping to read its state under an alias."""

    def __init__(self, keys: Sequence[exp.Expr], kept: Kept, own: set[str], alias: str, *, regroups: bool) -> None:
        self.keys = list(keys)
        self._kept, self._own, self._alias, self._regroups = kept, own, alias, regroups

    def __call__(self, node: exp.Expr) -> exp.Expr:
        """A copy of the expression, lifted."""
        return self._lift(node.copy(), frozenset(), inside=False)

    def key(self, key: exp.Expr) -> exp.Column:
        """The column of the state that holds a key."""
        name = f"k{self.keys.index(key)}"
        return typed(exp.Column(this=identifier(name), table=identifier(self._alias)), type_of(key))

    def _lift(self, node: exp.Expr, hidden: frozenset[str], *, inside: bool) -> exp.Expr:
        """`hidden` are aliases that a subquery defines anew; inside one, aggregates are the subquery's own."""
        if not isinstance(node, exp.Literal) and node in self.keys and not _uses(node, hidden):
            return self.key(node)
        call = None if inside else self._kept.find(node)
        if call is not None:
            direct = [self._lift(one.copy(), hidden, inside=False) for one in call.call.direct]
            return call.finalized(self._alias, direct, merging=self._regroups)
        if isinstance(node, exp.Column) and node.table in self._own - hidden:
            raise InternalError(f"{shown(node)} stands above a grouping and is none of its keys")
        if isinstance(node, exp.Select):
            hidden, inside = hidden | own_aliases(node), True
        for name, value in list(node.args.items()):
            if isinstance(value, list):
                node.set(name, [self._lift(v, hidden, inside=inside) if isinstance(v, exp.Expr) else v for v in value])
            elif isinstance(value, exp.Expr):
                node.set(name, self._lift(value, hidden, inside=inside))
        return node

    def columns(self) -> tuple[StateColumn, ...]:
        """The keys as columns of the state."""
        return tuple(_key_column(place, key) for place, key in enumerate(self.keys))

    def types(self) -> tuple[SqlType, ...]:
        return tuple(type_of(key) for key in self.keys)


def _key_column(place: int, key: exp.Expr) -> StateColumn:
    if type_of(key) == INTERVAL:
        hint = "Group by its length: extract(epoch FROM ...)."
        raise not_supported("grouping a stream by an interval", hint=hint, position=position_of(key))
    return StateColumn(f"k{place}", type_of(key).spark, shown(key))


def _uses(node: exp.Expr, aliases: frozenset[str]) -> bool:
    return bool(aliases) and any(column.table in aliases for column in node.find_all(exp.Column))

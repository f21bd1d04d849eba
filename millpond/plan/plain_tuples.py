"""Queries that deliver tuples of a stream as they are, some of them: Arrow can do what they do, and Spark need not.

WITH r AS (SELECT s.k, s.v FROM s WHERE s.kind = 0) SELECT r.v AS f0 FROM r WHERE r.v > 3
->    column v of those with kind = 0 and v > 3
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from millpond.plan.conditions import asked_of
from millpond.plan.ctes import cte_of
from millpond.plan.trees import alias_of, query_of, stream_of
from millpond.sql.nodes import note_of, type_of, unwrapped

Operator = Literal["==", "!=", "<", "<=", ">", ">="]

_OPERATORS: Mapping[type[exp.Expr], Operator] = {
    exp.EQ: "==",
    exp.NEQ: "!=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}

_MORE = ("joins", "group", "having", "distinct", "order", "limit", "offset")
"""Clauses that do something else."""


@dataclass(frozen=True)
class Comparison:
    """A column of a stream that is compared with an integer."""

    column: str
    operator: Operator
    value: int


@dataclass(frozen=True)
class PlainTuples:
    """Columns of a stream, one for each output of a query, and what is asked of its tuples."""

    columns: tuple[str, ...]
    conditions: tuple[Comparison, ...] = ()


def plain_tuples(query: exp.Expr, known: Mapping[str, exp.CTE] | None = None) -> PlainTuples | None:
    """What a query delivers of a stream, if it does nothing else than that."""
    from_ = query.args.get("from_")
    if not isinstance(query, exp.Select) or from_ is None or any(query.args.get(part) for part in _MORE):
        return None
    with_ = query.args.get("with_")
    own = {cte.args["alias"].this.this: cte for cte in with_.expressions} if with_ is not None else {}
    found = _read(from_.this, {**(known or {}), **own})
    if found is None:
        return None
    columns, below = found
    outputs = [_column(output.this, columns) for output in query.expressions]
    asked = [_comparison(one, columns) for one in asked_of(query)]
    if None in outputs or None in asked:
        return None
    return PlainTuples(tuple(map(str, outputs)), (*below, *(one for one in asked if one is not None)))


_Read = tuple[Mapping[str, str], tuple[Comparison, ...]]
"""The stream's column behind each column that FROM shows, and what was asked below."""


def _read(item: exp.Expr, known: Mapping[str, exp.CTE]) -> _Read | None:
    stream = stream_of(item)
    if stream is not None:
        return {f"{alias_of(item)}.{one.name}": one.name for one in stream.columns}, ()
    cte = cte_of(item, known)
    inner = query_of(item) if cte is None else cte.this
    made = None if inner is None or isinstance(item, exp.Lateral) else plain_tuples(inner, known)
    if made is None or inner is None:
        return None
    given = (item if cte is None else cte).args["alias"].args.get("columns")
    names = [one.this for one in given] if given else [output.alias for output in inner.expressions]
    shown = {f"{alias_of(item)}.{name}": column for name, column in zip(names, made.columns, strict=True)}
    return shown, made.conditions


def _column(node: exp.Expr, columns: Mapping[str, str]) -> str | None:
    node = unwrapped(node)
    return columns.get(f"{node.table}.{node.name}") if isinstance(node, exp.Column) else None


def _comparison(node: exp.Expr, columns: Mapping[str, str]) -> Comparison | None:
    node = unwrapped(node)
    operator = _OPERATORS.get(type(node))
    if operator is None:
        return None
    column, value = _column(_uncast(node.this), columns), _integer(_uncast(node.expression))
    return None if column is None or value is None else Comparison(column, operator, value)


def _uncast(node: exp.Expr) -> exp.Expr:
    """The node without casts between integers: they do not change a value, and an overflow would be an error."""
    node = unwrapped(node)
    while isinstance(node, exp.Cast) and note_of(node).type is not None and type_of(node).is_integer:
        inner = unwrapped(node.this)
        if note_of(inner).type is None or not type_of(inner).is_integer:
            break
        node = inner
    return node if note_of(node).type is not None and type_of(node).is_integer else exp.Null()


def _integer(node: exp.Expr) -> int | None:
    is_number = isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit()
    return int(node.name) if is_number else None

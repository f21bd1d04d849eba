"""Passes over the part of a query below its grouping: orders that mean nothing, and unions taken apart by stream."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from millpond.plan.trees import is_raw, query_of, raw_items, streams_in
from millpond.relation import Relation
from millpond.sql.nodes import identifier

TOP_ORDER = "ORDER BY is dropped: ask for the order when you query the view"
INNER_ORDER = "ORDER BY below a grouping is dropped: it has no effect"


def drop_orders(tree: exp.Expr, *, kept: bool) -> list[str]:
    """Drops every ORDER BY without LIMIT below groupings and, of a view that is kept, at the top of the query; says so.
    The tree is changed."""
    notices = []
    if kept and drop_order(tree):
        notices.append(TOP_ORDER)
    inner = [query for query in tree.find_all(exp.Select, exp.SetOperation) if query is not tree and is_raw(query)]
    dropped = [query for query in inner if drop_order(query)]
    if dropped:
        notices.append(INNER_ORDER)
    return notices


def drop_order(query: exp.Expr) -> bool:
    """Drop an ORDER BY that does not choose rows; whether there was one."""
    if not query.args.get("order") or query.args.get("limit") or query.args.get("offset"):
        return False
    distinct = query.args.get("distinct")
    if isinstance(distinct, exp.Distinct) and distinct.args.get("on") is not None:
        return False  # DISTINCT ON keeps the first row by this order.
    query.set("order", None)
    return True


def by_stream(select: exp.Expr) -> list[exp.Expr]:
    """The SELECT once for each stream that a UNION ALL below it combines, reading from that one only.

    `SELECT a FROM (SELECT a FROM s UNION ALL SELECT b FROM r) u` ->
    `SELECT a FROM (SELECT a FROM s) u`, `SELECT a FROM (SELECT b AS a FROM r) u`
    """
    streams = {stream.oid: stream for stream in streams_in(raw_items(select)[0])}
    return [_restricted(select.copy(), stream) for stream in streams.values()]


def _restricted(query: exp.Expr, stream: Relation) -> exp.Expr:
    """The query with only those branches of its unions that read the stream. It is changed."""
    if isinstance(query, exp.Subquery):
        return _restricted(query.this, stream)
    if isinstance(query, exp.SetOperation):
        return _restricted_union(query, stream)
    inner = query_of(raw_items(query)[0])
    if inner is not None:
        inner.replace(_restricted(inner, stream))
    return query


def _restricted_union(query: exp.SetOperation, stream: Relation) -> exp.Expr:
    names = [output.alias for output in _first_select(query).expressions]
    sides = [side for side in (query.this, query.expression) if stream in streams_in(side)]
    kept = [_restricted(side, stream) for side in sides]
    if len(kept) == 2:
        query.set("this", _renamed(kept[0], names))
        query.set("expression", kept[1])
        return query
    return _with_ctes_of(query, _renamed(kept[0], names))


def _first_select(query: exp.Expr) -> exp.Expr:
    """The SELECT that names the columns of a query."""
    while not isinstance(query, exp.Select):
        query = query.this
    return query


def _renamed(query: exp.Expr, names: Sequence[str]) -> exp.Expr:
    """A union takes the names of its columns from its first query, even if that reads another stream."""
    for output, name in zip(_first_select(query).expressions, names, strict=True):
        output.set("alias", identifier(name))
    return query


def _with_ctes_of(union: exp.Expr, branch: exp.Expr) -> exp.Expr:
    """CTEs over tables that stood in front of the union, in front of the branch that is left of it."""
    outer, own = union.args.get("with_"), branch.args.get("with_")
    if outer is not None:
        definitions = [*outer.expressions, *(own.expressions if own else [])]
        branch.set("with_", exp.With(expressions=definitions, recursive=outer.args.get("recursive")))
    return branch

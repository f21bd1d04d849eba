"""Questions that the planner asks of a bound tree: where its streams are, what groups them, which names are free.

Words: a query is *raw* if its rows are those of a stream that nothing has grouped yet. A *breaker* has to see all rows
before it delivers one; the first above a stream must be a grouping.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from millpond.errors import InternalError
from millpond.relation import Relation
from millpond.sql.grouping import has_aggregate, is_aggregate_call, is_windowed
from millpond.sql.nodes import note_of, walk_own
from millpond.sql.stream_windows import window_of

ABOVE_GROUPING = ("expressions", "having", "order")
"""The clauses of a SELECT that see groups, not rows."""

AGGREGATE_WRAPPERS = (exp.Filter, exp.WithinGroup)


def stream_of(node: exp.Expr) -> Relation | None:
    """The stream that a table in FROM is, if it is one."""
    relation = note_of(node).relation if isinstance(node, exp.Table) else None
    return relation if relation is not None and relation.kind == "stream" else None


def streams_in(node: exp.Expr) -> list[Relation]:
    """The streams below a node, one for each mention."""
    found = (stream_of(table) for table in node.find_all(exp.Table))
    return [stream for stream in found if stream is not None]


def has_windows(tree: exp.Expr) -> bool:
    """Whether a stream is under a window."""
    return any(window_of(table) for table in tree.find_all(exp.Table))


def mentions_stream(node: exp.Expr) -> bool:
    return bool(streams_in(node))


# -- FROM -----------------------------------------------------------------------------------------------------


def own_items(select: exp.Expr) -> list[exp.Expr]:
    """The tables, subqueries and functions in FROM; those of nested joins too."""
    from_ = select.args.get("from_")
    if from_ is None:
        return []
    return _leaves([from_.this, *(join.this for join in select.args.get("joins") or [])])


def _leaves(items: Sequence[exp.Expr]) -> list[exp.Expr]:
    return [leaf for item in items for leaf in leaves(item)]


def leaves(item: exp.Expr) -> list[exp.Expr]:
    """The item itself, or what a nested join `(a JOIN b ON ...)` consists of."""
    nested = nested_join(item)
    if nested is None:
        return [item]
    return _leaves([nested.this, *(join.this for join in nested.args.get("joins") or [])])


def nested_join(item: exp.Expr) -> exp.From | None:
    inner = item.this if isinstance(item, exp.Paren) else None
    return inner if isinstance(inner, exp.From) else None


def alias_of(item: exp.Expr) -> str:
    """The name by which the columns of an item are qualified."""
    holder = item.this if isinstance(item, exp.Lateral) else item
    return str(holder.args["alias"].this.this)


def own_aliases(select: exp.Expr) -> set[str]:
    return {alias_of(item) for item in own_items(select)}


def query_of(item: exp.Expr) -> exp.Expr | None:
    """The query that an item in FROM is, if it is one."""
    holder = item.this if isinstance(item, exp.Lateral) else item
    return holder.this if isinstance(holder, exp.Subquery) else None


# -- raw and grouped ------------------------------------------------------------------------------------------


def is_grouping(select: exp.Expr) -> bool:
    """Whether a SELECT groups what its FROM delivers. DISTINCT does; DISTINCT ON keeps whole rows and does not."""
    if select.args.get("group") or select.args.get("having"):
        return True
    return is_distinct(select) or any(has_aggregate(part) for part in _above(select))


def is_distinct(select: exp.Expr) -> bool:
    distinct = select.args.get("distinct")
    return distinct is not None and distinct.args.get("on") is None


def _above(select: exp.Expr) -> list[exp.Expr]:
    return [part for clause in ABOVE_GROUPING for part in parts_of(select, clause)]


def parts_of(select: exp.Expr, clause: str) -> list[exp.Expr]:
    """The nodes of one clause of a SELECT."""
    value = select.args.get(clause)
    if value is None:
        return []
    return list(value) if isinstance(value, list) else [value]


def is_raw(query: exp.Expr) -> bool:
    """Whether the query delivers rows of a stream that nothing has grouped."""
    if isinstance(query, exp.SetOperation):
        return is_raw(query.this) or is_raw(query.expression)
    if isinstance(query, exp.Subquery):
        return is_raw(query.this)
    return isinstance(query, exp.Select) and not is_grouping(query) and bool(raw_items(query))


def raw_items(select: exp.Expr) -> list[exp.Expr]:
    """The items in FROM that deliver rows of an ungrouped stream."""
    return [item for item in own_items(select) if is_raw_item(item)]


def is_raw_item(item: exp.Expr) -> bool:
    """Whether an item in FROM is a stream, a window over one, or a raw subquery."""
    if isinstance(item, exp.Table):
        return stream_of(item) is not None or mentions_stream(item)
    query = query_of(item)
    return query is not None and is_raw(query)


def raw_stream(query: exp.Expr) -> Relation:
    """The stream whose rows a raw query delivers; the first if there are several."""
    found = streams_in(query)
    if not found:
        raise InternalError("a query without a stream was taken for a raw one")
    return found[0]


# -- expressions ----------------------------------------------------------------------------------------------


def whole_call(call: exp.Expr) -> exp.Expr:
    """The aggregate call with the FILTER and WITHIN GROUP around it."""
    while isinstance(call.parent, AGGREGATE_WRAPPERS) and call.parent.this is call:
        call = call.parent
    return call


def aggregate_calls(select: exp.Expr) -> list[exp.Expr]:
    """The aggregate calls of a grouping SELECT, each once, with FILTER and WITHIN GROUP around them."""
    found: list[exp.Expr] = []
    for part in _above(select):
        for node in walk_own(part):
            if is_grouped_call(node) and whole_call(node) not in found:
                found.append(whole_call(node))
    return found


def is_grouped_call(node: exp.Expr) -> bool:
    """Whether the node aggregates the rows of its own SELECT; an aggregate under OVER does not."""
    return is_aggregate_call(node) and not is_windowed(node)


def free_columns(node: exp.Expr, bound: frozenset[str] = frozenset()) -> list[exp.Column]:
    """The columns below a node that belong to none of its own FROM clauses: it is correlated by them."""
    if isinstance(node, exp.Column):
        table = node.args.get("table")
        return [node] if table is not None and node.table not in bound else []
    if isinstance(node, exp.Select):
        bound = bound | own_aliases(node)
    return [column for child in node.iter_expressions() for column in free_columns(child, bound)]

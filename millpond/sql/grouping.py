"""The rule of GROUP BY: above a grouping, a column stands only inside an aggregate or as part of a group key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from millpond.errors import SqlState
from millpond.sql.nodes import annotate, error, note_of, walk_own
from millpond.sql.scope import FromItem


def is_aggregate_call(node: exp.Expr) -> bool:
    """Whether the node is a call of an aggregate (an aggregate under OVER is one too: ask its parent)."""
    function = note_of(node).function
    return function is not None and function.kind in ("aggregate", "ordered-set")


def has_aggregate(node: exp.Expr) -> bool:
    """Whether the expression aggregates the rows of its own query; an aggregate over a window does not."""
    return any(is_aggregate_call(part) and not is_windowed(part) for part in walk_own(node))


def is_windowed(node: exp.Expr) -> bool:
    """Whether the call is the function of an OVER clause."""
    child: exp.Expr = node
    parent: exp.Expr | None = node.parent
    while isinstance(parent, (exp.Filter, exp.WithinGroup)) and parent.this is child:
        child, parent = parent, parent.parent
    return isinstance(parent, exp.Window) and parent.this is child


def check_grouped(
    above: Sequence[exp.Expr], keys: Sequence[exp.Expr], determining: Sequence[exp.Expr], items: Sequence[FromItem]
) -> list[exp.Column]:
    """Raises PostgreSQL's error for the first column that is neither grouped nor aggregated.

    `determining` are the keys that every group has. Columns that a primary key among them determines may stand
    ungrouped; they are returned, since grouping by them as well changes nothing, and Spark wants it.
    """
    determined = _determined_aliases(determining, items)
    found: list[exp.Column] = []
    for expression in above:
        for column in _ungrouped(expression, keys):
            if column.table in determined:
                own = annotate(column.copy(), levels_up=0)
                found += [own] if own not in found else []
                continue
            name = f"{column.table}.{column.name}"
            message = f'column "{name}" must appear in the GROUP BY clause or be used in an aggregate function'
            if note_of(column).levels_up > 0:
                message = f'subquery uses ungrouped column "{name}" from outer query'
            raise error(SqlState.GROUPING_ERROR, message, column)
    return found


def _ungrouped(node: exp.Expr, keys: Sequence[exp.Expr]) -> Iterator[exp.Column]:
    if node in keys or (is_aggregate_call(node) and not is_windowed(node)):
        return
    function = note_of(node).function
    if function is not None and function.name == "grouping":
        _check_grouping_call(node, keys)
        return
    if isinstance(node, exp.Column):
        if note_of(node).levels_up == 0 and node.args.get("table"):
            yield node
        return
    if isinstance(node, (exp.Filter, exp.WithinGroup)) and not is_windowed(node):
        return
    for child in node.iter_expressions():
        yield from _outer_columns(child, keys) if isinstance(child, exp.Query) else _ungrouped(child, keys)


def _check_grouping_call(call: exp.Expr, keys: Sequence[exp.Expr]) -> None:
    odd = next((argument for argument in call.expressions if argument not in keys), None)
    if odd is not None:
        message = "arguments to GROUPING must be grouping expressions of the associated query level"
        raise error(SqlState.GROUPING_ERROR, message, odd)


def _outer_columns(query: exp.Expr, keys: Sequence[exp.Expr]) -> Iterator[exp.Column]:
    """The columns of the grouped query that a subquery in it refers to: only keys will do."""
    names = {(key.table, key.name) for key in keys if isinstance(key, exp.Column)}
    for column in outer_columns(query):
        if (column.table, column.name) not in names:
            yield column


def outer_columns(query: exp.Expr) -> Iterator[exp.Column]:
    """The columns in a subquery that belong to the query right around it."""
    for column in query.find_all(exp.Column):
        if note_of(column).levels_up == _depth(column, query):
            yield column


def reaches_out(query: exp.Expr) -> bool:
    """Whether a query refers to any query around it."""
    return any(note_of(column).levels_up >= _depth(column, query) for column in query.find_all(exp.Column))


def _depth(node: exp.Expr, query: exp.Expr) -> int:
    """How many SELECTs lie between the node and the outside of the query."""
    depth, parent = 0, node.parent
    while parent is not None and parent is not query.parent:
        depth += isinstance(parent, exp.Select)
        parent = parent.parent
    return depth


def _determined_aliases(keys: Sequence[exp.Expr], items: Sequence[FromItem]) -> set[str]:
    """Items whose primary key is grouped by: it determines their other columns."""
    grouped = {(key.table, key.name) for key in keys if isinstance(key, exp.Column)}
    determined = set()
    for item in items:
        for key in item.relation.keys if item.relation else ():
            if key.primary and all((item.alias, column) in grouped for column in key.columns):
                determined.add(item.alias)
    return determined

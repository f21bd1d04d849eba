"""Panes in stream pipelines: which pane of its window's axis a row belongs to, as one more key of the grouping.

    SELECT a AS k0, COUNT(*) AS p0 FROM s GROUP BY a
    SELECT a AS k0, <pane of s.at> AS k1, COUNT(*) AS p0 FROM s GROUP BY a, <pane of s.at>

The stream may be inside subqueries; then each of them passes the pane on.
"""

from __future__ import annotations

from sqlglot import exp

from millpond.plan.expressions import scalar_node
from millpond.plan.trees import alias_of, query_of, raw_items, stream_of
from millpond.relation import Relation
from millpond.sql.nodes import annotate, identifier, typed
from millpond.stream_window import CalendarWindow, StreamWindow
from millpond.types import BIGINT

_PASSED = "pane of row"
"""What subqueries call the pane: a name that no column of a query can have in the place of another."""

_MICROS = "UNIX_MICROS(CAST(_1 AS TIMESTAMP))"


def with_pane_key(tree: exp.Expr, stream: Relation, window: StreamWindow) -> exp.Expr:
    """The pipeline, which is changed, with the pane as the last of its keys."""
    node = _pane_below(tree, stream, window)
    keys = tree.args.get("group")
    group = [] if keys is None else list(keys.expressions)
    outputs = list(tree.expressions)
    pane = exp.Alias(this=node, alias=identifier(f"k{len(group)}"))
    tree.set("expressions", [*outputs[: len(group)], pane, *outputs[len(group) :]])
    tree.set("group", exp.Group(expressions=[*group, node.copy()]))
    return tree


def _pane_below(select: exp.Expr, stream: Relation, window: StreamWindow) -> exp.Expr:
    """The pane as an expression over what a SELECT reads."""
    item = raw_items(select)[0]
    query = query_of(item)
    if query is None:
        relation = stream_of(item)
        assert relation is not None
        column = exp.Column(this=identifier(window.column), table=identifier(alias_of(item)))
        axis = relation.column(window.column)
        assert axis is not None
        return _pane(annotate(typed(column, axis.type), relation=relation), window)
    _pass_on(query, stream, window)
    return typed(exp.Column(this=identifier(_PASSED), table=identifier(alias_of(item))), BIGINT)


def _pass_on(query: exp.Expr, stream: Relation, window: StreamWindow) -> None:
    if isinstance(query, (exp.SetOperation, exp.Subquery)):
        for side in (query.this, query.args.get("expression")):
            if side is not None:
                _pass_on(side, stream, window)
        return
    node = _pane_below(query, stream, window)
    query.set("expressions", [*query.expressions, exp.Alias(this=node, alias=identifier(_PASSED))])


def _pane(column: exp.Expr, window: StreamWindow) -> exp.Expr:
    """The pane of a row: its place on the axis, divided by the step and rounded down, before 1970 too."""
    if isinstance(window, CalendarWindow):
        return scalar_node(f"UNIX_MICROS(DATE_TRUNC('{window.unit}', CAST(_1 AS TIMESTAMP)))", [column], BIGINT)
    place = "_1" if window.by_rows else _MICROS
    return scalar_node(f"({place} - PMOD({place}, {window.step})) DIV {window.step}", [column], BIGINT)

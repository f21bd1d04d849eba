"""Panes in stream pipelines: which pane of its window's axis a row belongs to, as one more key of the grouping.

    SELECT a AS k0, COUNT(*) AS p0 FROM s GROUP BY a
    SELECT a AS k0, <pane of s.at> AS k1, COUNT(*) AS p0 FROM s GROUP BY a, <pane of s.at>

What sessions are partitioned by are keys before it. The stream may be inside subqueries; then each of them passes all
of that on.
"""

from __future__ import annotations

from sqlglot import exp

from millpond.plan.expressions import scalar_node
from millpond.plan.trees import alias_of, query_of, raw_items, stream_of
from millpond.relation import Column, Relation
from millpond.sql.nodes import annotate, identifier, typed
from millpond.stream_window import CalendarWindow, SessionWindow, StreamWindow
from millpond.types import BIGINT, TIMESTAMP, SqlType

_PASSED = "pane of row"
"""How subqueries call the keys: names that no column of a query can have in the place of another."""

_MICROS = "UNIX_MICROS(CAST(_1 AS TIMESTAMP))"


def with_pane_keys(tree: exp.Expr, stream: Relation, window: StreamWindow) -> exp.Expr:
    """The pipeline, which is changed, with what the window is partitioned by and the pane as the last of its keys."""
    nodes = _keys_below(tree, stream, window)
    keys = tree.args.get("group")
    group = [] if keys is None else list(keys.expressions)
    outputs = list(tree.expressions)
    added = [exp.Alias(this=node, alias=identifier(f"k{len(group) + at}")) for at, node in enumerate(nodes)]
    tree.set("expressions", [*outputs[: len(group)], *added, *outputs[len(group) :]])
    tree.set("group", exp.Group(expressions=[*group, *(node.copy() for node in nodes)]))
    return tree


def partitioned_by(stream: Relation, window: StreamWindow) -> list[Column]:
    """The columns of a stream by which its window is partitioned."""
    names = window.keys if isinstance(window, SessionWindow) else ()
    return [column for name in names for column in stream.columns if column.name == name]


def bound_type(stream: Relation, window: StreamWindow) -> SqlType:
    """The type of the bounds of a window over a stream."""
    if window.by_rows:
        return BIGINT
    axis = stream.column(window.column)
    assert axis is not None
    return TIMESTAMP if axis.type.name == "date" else axis.type


def _keys_below(select: exp.Expr, stream: Relation, window: StreamWindow) -> list[exp.Expr]:
    """The keys as expressions over what a SELECT reads, the pane last."""
    item = raw_items(select)[0]
    query, columns = query_of(item), partitioned_by(stream, window)
    if query is None:
        relation = stream_of(item)
        assert relation is not None
        axis = relation.column(window.column)
        assert axis is not None
        *keys, place = (_column(one, item, relation) for one in (*columns, axis))
        return [*keys, _pane(place, window)]
    _pass_on(query, stream, window)
    kinds = [*(column.type for column in columns), BIGINT]
    alias = identifier(alias_of(item))
    return [typed(exp.Column(this=identifier(_passed(at)), table=alias.copy()), kind) for at, kind in enumerate(kinds)]


def _column(column: Column, item: exp.Expr, relation: Relation) -> exp.Expr:
    made = exp.Column(this=identifier(column.name), table=identifier(alias_of(item)))
    return annotate(typed(made, column.type), relation=relation)


def _pass_on(query: exp.Expr, stream: Relation, window: StreamWindow) -> None:
    if isinstance(query, (exp.SetOperation, exp.Subquery)):
        for side in (query.this, query.args.get("expression")):
            if side is not None:
                _pass_on(side, stream, window)
        return
    nodes = _keys_below(query, stream, window)
    added = [exp.Alias(this=node, alias=identifier(_passed(at))) for at, node in enumerate(nodes)]
    query.set("expressions", [*query.expressions, *added])


def _passed(place: int) -> str:
    return f"{_PASSED} {place}"


def _pane(column: exp.Expr, window: StreamWindow) -> exp.Expr:
    """The pane of a row: its place on the axis, divided by the step and rounded down, before 1970 too."""
    if isinstance(window, CalendarWindow):
        return scalar_node(f"UNIX_MICROS(DATE_TRUNC('{window.unit}', CAST(_1 AS TIMESTAMP)))", [column], BIGINT)
    place = "_1" if window.by_rows else _MICROS
    return scalar_node(f"({place} - PMOD({place}, {window.step})) DIV {window.step}", [column], BIGINT)

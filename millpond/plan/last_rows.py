"""LAST(s, n PARTITION BY k): the newest n rows of each key, kept as an array that a grouping of the stream fills.

    SELECT w.k, sum(w.v) FROM LAST(s, 10 PARTITION BY k) w GROUP BY w.k

becomes a query over such a grouping, which alone is below; all that the query does with the rows is above it:

    SELECT w.k, sum(w.v) FROM (SELECT x.r['c1'] AS k, x.r['c2'] AS v
                               FROM (SELECT EXPLODE(last_rows(..., s.k, s.v, 10)) AS r FROM s GROUP BY s.k) x) w
    GROUP BY w.k
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from millpond.plan.calls import AggregateCall
from millpond.plan.expressions import scalar_node
from millpond.plan.partials import Aggregate, Partial
from millpond.plan.trees import alias_of, own_items
from millpond.relation import ARRIVAL_TIMESTAMP, TID, Column, Relation
from millpond.sql.functions import Function, Overload
from millpond.sql.nodes import annotate, identifier, note_of, type_of, typed
from millpond.sql.stream_windows import window_of
from millpond.stream_window import LastWindow
from millpond.types import BIGINT, TEXT, SqlType

NAME = "last_rows"
_OVERLOAD = Overload((), "any", "")
_FUNCTION = Function(NAME, "aggregate", (_OVERLOAD,))
_ROWS, _ROW = "rows of stream", "row"

_ORDER = (ARRIVAL_TIMESTAMP, TID)
"""What tells which rows are the newest, also after the tids of a stream that lives in memory have begun anew."""


def unfold_last_rows(tree: exp.Expr) -> exp.Expr:
    """The tree, which is changed, with a grouping in the place of each LAST."""
    for select in list(tree.find_all(exp.Select)):
        for item in own_items(select):
            window = window_of(item) if isinstance(item, exp.Table) else None
            if isinstance(window, LastWindow):
                relation = note_of(item).relation
                assert relation is not None
                item.replace(_subquery(item, window, relation, _used(tree, alias_of(item), relation)))
    return tree


def _used(tree: exp.Expr, alias: str, relation: Relation) -> list[Column]:
    """The columns that somebody reads, perhaps of another relation of the same alias."""
    names = {column.name for column in tree.find_all(exp.Column) if column.table == alias}
    return [*_ORDER, *(one for one in relation.columns if one.name in names and one not in _ORDER)]


def _subquery(table: exp.Expr, window: LastWindow, relation: Relation, columns: Sequence[Column]) -> exp.Subquery:
    def read(column: Column) -> exp.Expr:
        node = exp.Column(this=identifier(column.name), table=identifier(window.alias))
        return annotate(typed(node, column.type), relation=relation)

    number = typed(exp.Literal.number(window.size), BIGINT)
    call = exp.Anonymous(this=NAME, expressions=[*(read(column) for column in columns), number])
    annotate(call, function=_FUNCTION, overload=_OVERLOAD, type=TEXT)
    keys = [column for column in relation.columns if column.name in window.keys]
    grouped = exp.Select(
        expressions=[exp.Alias(this=scalar_node("EXPLODE(_1)", [call], TEXT), alias=identifier(_ROW))],
        from_=exp.From(this=annotate(table.copy(), window=None)),
    )
    if keys:
        grouped.set("group", exp.Group(expressions=[read(key) for key in keys]))
    rows = exp.Subquery(this=grouped, alias=exp.TableAlias(this=identifier(_ROWS)))
    outputs = [
        exp.Alias(this=_field(place, column.type), alias=identifier(column.name))
        for place, column in enumerate(columns)
    ]
    unfolded = exp.Select(expressions=outputs, from_=exp.From(this=rows))
    return exp.Subquery(this=unfolded, alias=exp.TableAlias(this=identifier(window.alias)))


def _field(place: int, kind: SqlType) -> exp.Expr:
    row = typed(exp.Column(this=identifier(_ROW), table=identifier(_ROWS)), TEXT)
    return scalar_node(f"_1['c{place}']", [row], kind)


def last_rows(call: AggregateCall) -> Aggregate:
    """The row of the table of aggregates for such a grouping: structs of the columns, newest first."""
    *columns, number = call.arguments
    kinds = [type_of(column).spark for column in columns]
    fields = ", ".join(f"'c{place}', CAST(_{place + 1} AS {kind})" for place, kind in enumerate(kinds))
    struct = f"STRUCT<{', '.join(f'c{place}: {kind}' for place, kind in enumerate(kinds))}>"
    rows = f"COLLECT_LIST(NAMED_STRUCT({fields}))"
    newest = f"SLICE(SORT_ARRAY({{rows}}, FALSE), 1, {number.name})"
    items = Partial(newest.format(rows=rows), newest.format(rows="FLATTEN(COLLECT_LIST(items))"), f"ARRAY<{struct}>")
    return Aggregate(NAME, {"items": items}, "items")

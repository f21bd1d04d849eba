"""Windows whose rows a query needs as rows: a grouping keeps them in arrays, which the query above takes apart again.

    SELECT w.k, sum(w.v) FROM LAST(s, 10 PARTITION BY k) w GROUP BY w.k

becomes a query over a grouping, which alone is below; all that the query does with the rows is above it:

    SELECT w.k, sum(w.v) FROM (SELECT x.r['c2'] AS k, x.r['c3'] AS v
                               FROM (SELECT EXPLODE(newest_rows(..., s.k, s.v, 10)) AS r FROM s GROUP BY s.k) x) w
    GROUP BY w.k

So does a window that nothing groups, and one that is joined with another: `all_rows` instead of `newest_rows` keeps the
rows by panes, like any partial. What a query asks of such rows alone is asked before they are kept.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from millpond.plan.calls import AggregateCall
from millpond.plan.correlation import conjuncts
from millpond.plan.expressions import scalar_node
from millpond.plan.partials import Aggregate, Partial
from millpond.plan.trees import alias_of, is_grouping, own_items, raw_items, streams_in
from millpond.relation import ARRIVAL_TIMESTAMP, TID, Column, Relation
from millpond.sql.functions import Function, Overload
from millpond.sql.nodes import annotate, conjunction, identifier, note_of, type_of, typed
from millpond.sql.stream_windows import window_of
from millpond.stream_window import LastWindow
from millpond.types import BIGINT, TEXT, SqlType

NEWEST_ROWS, ALL_ROWS = "newest_rows", "all_rows"
_OVERLOAD = Overload((), "any", "")
_FUNCTIONS = {name: Function(name, "aggregate", (_OVERLOAD,)) for name in (NEWEST_ROWS, ALL_ROWS)}
_ROWS, _ROW = "rows of stream", "row"

_ORDER = (ARRIVAL_TIMESTAMP, TID)
"""What tells which rows are the newest, also after the tids of a stream that lives in memory have begun anew."""


def unfold_last_rows(tree: exp.Expr) -> exp.Expr:
    """The tree, which is changed, with a grouping in the place of each LAST."""
    for select in list(tree.find_all(exp.Select)):
        for item in own_items(select):
            window = window_of(item) if isinstance(item, exp.Table) else None
            if isinstance(window, LastWindow):
                number = typed(exp.Literal.number(window.size), BIGINT)
                made = annotate(item.copy(), window=None)
                item.replace(_taken_apart(made, _used(tree, item), NEWEST_ROWS, [number], window.keys, []))
    return tree


def needs_rows(select: exp.Expr, *, always: bool) -> bool:
    """Whether a SELECT wants the rows of windows: it does not group them, it joins several streams, or it `always`
    does."""
    streams = [item for item in own_items(select) if streams_in(item)]
    windowed = all(window_of(table) for item in streams for table in item.find_all(exp.Table) if streams_in(table))
    asks = (always and not _collects(select)) or not is_grouping(select) or len(streams) > 1
    return windowed and asks


def _collects(select: exp.Expr) -> bool:
    """Whether a SELECT is one of those that keep rows."""
    functions = [note_of(node).function for output in select.expressions for node in output.walk()]
    return any(function in _FUNCTIONS.values() for function in functions if function is not None)


def unfold_window_rows(select: exp.Expr) -> None:
    """Put a grouping in the place of each window in FROM of a SELECT, which is changed."""
    for item in raw_items(select):
        if isinstance(item, exp.Table):
            conditions = _own_conditions(select, alias_of(item))
            used = _used(select.root(), item)
            item.replace(_taken_apart(item.copy(), used, ALL_ROWS, [], (), conditions))


def collected(select: exp.Expr, item: exp.Expr) -> tuple[exp.Select, list[Column]]:
    """The grouping that keeps the rows of a window in FROM of a SELECT, which is changed, and their columns, those of
    conditions included."""
    used, conditions = _used(select.root(), item), _own_conditions(select, alias_of(item))
    return _collected(item.copy(), used, ALL_ROWS, [], (), conditions), used


def _own_conditions(select: exp.Expr, alias: str) -> list[exp.Expr]:
    """What WHERE asks of the rows of one item alone, taken out of it. Outer joins make rows that it has to see."""
    where = select.args.get("where")
    if where is None or any(join.args.get("side") for join in select.args.get("joins") or []):
        return []
    conditions = list(conjuncts(where.this))
    own = [one for one in conditions if not one.find(exp.Query) and _tables_of(one) == {alias}]
    kept = [one for one in conditions if one not in own]
    select.set("where", exp.Where(this=conjunction([one.copy() for one in kept])) if kept else None)
    return own


def _tables_of(condition: exp.Expr) -> set[str]:
    return {column.table for column in condition.find_all(exp.Column)}


def _used(tree: exp.Expr, item: exp.Expr) -> list[Column]:
    """The columns of an item that somebody reads, perhaps of another relation of the same alias."""
    relation = note_of(item).relation
    assert relation is not None
    names = {column.name for column in tree.find_all(exp.Column) if column.table == alias_of(item)}
    return [*_ORDER, *(one for one in relation.columns if one.name in names and one not in _ORDER)]


def _taken_apart(
    table: exp.Expr,
    columns: Sequence[Column],
    function: str,
    direct: Sequence[exp.Expr],
    keys: Sequence[str],
    conditions: Sequence[exp.Expr],
) -> exp.Subquery:
    """The rows of a stream or a window, by way of an array for each key."""
    grouped = _collected(table, columns, function, direct, keys, conditions)
    rows = exp.Subquery(this=grouped, alias=exp.TableAlias(this=identifier(_ROWS)))
    outputs = [
        exp.Alias(this=_field(place, column.type), alias=identifier(column.name))
        for place, column in enumerate(columns)
    ]
    unfolded = exp.Select(expressions=outputs, from_=exp.From(this=rows))
    return exp.Subquery(this=unfolded, alias=exp.TableAlias(this=identifier(alias_of(table))))


def _collected(
    table: exp.Expr,
    columns: Sequence[Column],
    function: str,
    direct: Sequence[exp.Expr],
    keys: Sequence[str],
    conditions: Sequence[exp.Expr],
) -> exp.Select:
    """The grouping that makes the arrays."""
    relation, alias = note_of(table).relation, alias_of(table)
    assert relation is not None
    arguments = [_read(column, alias, relation) for column in columns]
    call = exp.Anonymous(this=function, expressions=[*arguments, *direct])
    annotate(call, function=_FUNCTIONS[function], overload=_OVERLOAD, type=TEXT)
    grouped = exp.Select(
        expressions=[exp.Alias(this=scalar_node("EXPLODE(_1)", [call], TEXT), alias=identifier(_ROW))],
        from_=exp.From(this=table),
    )
    if conditions:
        grouped.set("where", exp.Where(this=conjunction([one.copy() for one in conditions])))
    if keys:
        read = [_read(column, alias, relation) for column in relation.columns if column.name in keys]
        grouped.set("group", exp.Group(expressions=read))
    return grouped


def _read(column: Column, alias: str, relation: Relation) -> exp.Expr:
    node = exp.Column(this=identifier(column.name), table=identifier(alias))
    return annotate(typed(node, column.type), relation=relation)


def _field(place: int, kind: SqlType) -> exp.Expr:
    row = typed(exp.Column(this=identifier(_ROW), table=identifier(_ROWS)), TEXT)
    return scalar_node(f"_1['c{place}']", [row], kind)


# -- rows of the table of aggregates ---------------------------------------------------------------------------------


def newest_rows(call: AggregateCall) -> Aggregate:
    """Structs of the columns, newest first, as many as the last argument says."""
    *columns, number = call.arguments
    rows, struct = _structs(columns)
    newest = f"SLICE(SORT_ARRAY({{rows}}, FALSE), 1, {number.name})"
    merge = newest.format(rows="FLATTEN(COLLECT_LIST(items))")
    return Aggregate(NEWEST_ROWS, {"items": Partial(newest.format(rows=rows), merge, f"ARRAY<{struct}>")}, "items")


def all_rows(call: AggregateCall) -> Aggregate:
    """Structs of the columns, in any order."""
    rows, struct = _structs(call.arguments)
    return Aggregate(ALL_ROWS, {"items": Partial(rows, "FLATTEN(COLLECT_LIST(items))", f"ARRAY<{struct}>")}, "items")


def _structs(columns: Sequence[exp.Expr]) -> tuple[str, str]:
    """An array of structs of all rows, and the type of such a struct."""
    kinds = [type_of(column).spark for column in columns]
    fields = ", ".join(f"'c{place}', CAST(_{place + 1} AS {kind})" for place, kind in enumerate(kinds))
    struct = f"STRUCT<{', '.join(f'c{place}: {kind}' for place, kind in enumerate(kinds))}>"
    return f"COLLECT_LIST(NAMED_STRUCT({fields}))", struct

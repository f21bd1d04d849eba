"""Windows in a query that is run once: each becomes the rows of its stream between two places of the axis.

SELECT sum(w.v), window_end FROM TUMBLE(s, INTERVAL '1 minute') w

SELECT sum(w.v), '10:01' FROM (SELECT s.v, ... FROM s WHERE s.at >= '10:00' AND s.at < '10:01') w
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from millpond.plan.ages import lift_ages
from millpond.plan.ctes import unfold_streams
from millpond.plan.expressions import scalar_node
from millpond.plan.rules import check_no_cycles, check_windows
from millpond.plan.trees import alias_of
from millpond.relation import ARRIVAL_TIMESTAMP, TID, Column, Relation
from millpond.sql.bind import BoundQuery
from millpond.sql.constants import constant_of
from millpond.sql.nodes import annotate, cast, conjunction, identifier, note_of, type_of, typed
from millpond.sql.stream_windows import BOUNDS, is_bound, window_of
from millpond.sql.templates import rewrite
from millpond.stream_window import FOREVER, LastWindow, StreamWindow
from millpond.types import BIGINT, BOOLEAN, TIMESTAMP

Ranges = Mapping[str, tuple[int, int]]
"""From where to where on its axis the window of an alias goes."""

_PLACE = "place from the newest"


def windows_in(tree: exp.Expr) -> dict[str, tuple[Relation, StreamWindow]]:
    """The windows of a query that move along their stream, by alias, each with its stream."""
    check_no_cycles(tree)
    check_windows({str(place): one for place, one in enumerate(map(window_of, tree.find_all(exp.Table))) if one})
    found: dict[str, tuple[Relation, StreamWindow]] = {}
    for table in tree.find_all(exp.Table):
        relation, window = note_of(table).relation, window_of(table)
        if relation is not None and window is not None and not isinstance(window, LastWindow):
            found[window.alias] = (relation, window)
    return found


def with_ages(bound: BoundQuery, step_us: int | None) -> BoundQuery:
    """The query of a view, with windows for its conditions on age, which go by steps."""
    tree = unfold_streams(bound.tree)
    lift_ages(tree, step_us)
    return replace(bound, tree=tree)


def put_ranges(bound: BoundQuery, ranges: Ranges | None) -> BoundQuery:
    """The query over one window of each alias. There may be none that is complete: then it has no rows."""
    known = ranges if ranges is not None else dict.fromkeys(windows_in(bound.tree), (0, 0))
    windows = {alias: window for alias, (_, window) in windows_in(bound.tree).items()}

    def rule(node: exp.Expr) -> exp.Expr:
        if is_bound(node):
            alias = node.expressions[0].name
            place = known[alias][list(BOUNDS).index(node.name)]
            return constant_of(windows[alias].value(place), type_of(node))
        return node

    tree = rewrite(bound.tree.copy(), rule)
    for table in [one for one in tree.find_all(exp.Table) if window_of(one) is not None]:
        table.replace(_rows(table, known))
    if ranges is None:
        tree.set("limit", exp.Limit(expression=typed(exp.Literal.number(0), BIGINT)))
    return replace(bound, tree=tree)


def _rows(table: exp.Table, ranges: Ranges) -> exp.Subquery:
    """The rows of a window, under its alias."""
    relation, window, alias = note_of(table).relation, window_of(table), alias_of(table)
    assert relation is not None
    assert window is not None
    columns = {one.name: _read(one, relation, alias) for one in relation.columns}
    stream = exp.From(this=annotate(table.copy(), window=None))
    if isinstance(window, LastWindow):
        rows = _newest(window, columns, stream, alias)
    else:
        rows = _select(columns, stream, _between(window, relation, columns[window.column], ranges[window.alias]))
    return exp.Subquery(this=rows, alias=exp.TableAlias(this=identifier(alias)))


def _between(window: StreamWindow, relation: Relation, column: exp.Expr, between: tuple[int, int]) -> list[exp.Expr]:
    """Conditions on a place of the axis: a date is where its day begins."""
    axis = relation.column(window.column)
    assert axis is not None
    kind = BIGINT if window.by_rows else TIMESTAMP if axis.type.name == "date" else axis.type
    low, high = (constant_of(window.value(place), kind) if place < FOREVER else None for place in between)
    place = column if axis.type == kind else cast(column, kind)
    conditions = [typed(exp.GTE(this=place.copy(), expression=low), BOOLEAN)]
    return conditions + ([typed(exp.LT(this=place.copy(), expression=high), BOOLEAN)] if high is not None else [])


def _newest(window: LastWindow, columns: Mapping[str, exp.Expr], stream: exp.From, alias: str) -> exp.Select:
    """The newest rows of each key, by numbering them."""
    keys = [columns[key].copy() for key in window.keys]
    order = [columns[one.name].copy() for one in (ARRIVAL_TIMESTAMP, TID)]
    partition = f"PARTITION BY {', '.join(f'_{place + 1}' for place in range(len(keys)))} " if keys else ""
    template = f"ROW_NUMBER() OVER ({partition}ORDER BY _{len(keys) + 1} DESC, _{len(keys) + 2} DESC)"
    numbered = _select({**columns, _PLACE: scalar_node(template, [*keys, *order], BIGINT)}, stream, [])
    source = exp.Subquery(this=numbered, alias=exp.TableAlias(this=identifier(alias)))
    place = typed(exp.Column(this=identifier(_PLACE), table=identifier(alias)), BIGINT)
    number = typed(exp.Literal.number(window.size), BIGINT)
    condition = typed(exp.LTE(this=place, expression=number), BOOLEAN)
    return _select(columns, exp.From(this=source), [condition])


def _select(columns: Mapping[str, exp.Expr], from_: exp.From, conditions: list[exp.Expr]) -> exp.Select:
    outputs = [exp.Alias(this=column.copy(), alias=identifier(name)) for name, column in columns.items()]
    made = exp.Select(expressions=outputs, from_=from_)
    if conditions:
        made.set("where", exp.Where(this=conjunction(conditions)))
    return made


def _read(column: Column, relation: Relation, alias: str) -> exp.Expr:
    node = exp.Column(this=identifier(column.name), table=identifier(alias))
    return annotate(typed(node, column.type), relation=relation)

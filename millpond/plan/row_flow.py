"""Queries that let the rows of streams flow: each row makes rows by itself, whichever chunk it comes in.

    SELECT u.part, s.plant FROM used AS u JOIN station AS s ON s.id = u.station WHERE u.worker > 3

The chunks of such a query give together what it gives over the whole stream: filters, expressions, joins in which the
stream probes tables, subqueries over tables, and UNION ALL of such. What needs more than one row of a stream is
refused. Each row comes with the tid of the tuple that it was made of, so that the rows of a chunk can be put in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from millpond.errors import MillpondError, SqlState
from millpond.plan.ctes import unfold_streams
from millpond.plan.rules import check_joins
from millpond.plan.trees import (
    alias_of,
    is_raw,
    is_raw_item,
    mentions_stream,
    own_items,
    query_of,
    raw_items,
    raw_stream,
    stream_of,
    streams_in,
)
from millpond.relation import TID, Read, Relation
from millpond.sql import session_functions
from millpond.sql.bind import BoundQuery, OutputColumn
from millpond.sql.grouping import has_aggregate
from millpond.sql.history_functions import is_history
from millpond.sql.nodes import cast, identifier, note_of, position_of, type_of, typed, walk_own
from millpond.sql.stream_windows import window_of

ARRIVAL = OutputColumn("arrival tid", TID.type)
"""The last output of a flow: the tid of the tuple that a row was made of."""

_CREATE_VIEW = "Create a view instead: CREATE VIEW keeps groups of a stream up to date."


_BREAKERS = {
    "limit": "LIMIT",
    "offset": "OFFSET",
    "order": "ORDER BY",
    "distinct": "DISTINCT",
    "group": "GROUP BY",
    "having": "HAVING",
}
"""Clauses that need more than one row."""


@dataclass(frozen=True)
class RowFlow:
    """A query over the rows of `streams`, `ARRIVAL` being its last output."""

    query: BoundQuery
    streams: tuple[Relation, ...]

    @property
    def reads(self) -> tuple[Read, ...]:
        return self.query.reads


def row_flow(bound: BoundQuery, *, remembers: bool = False) -> RowFlow:
    """The query as a flow, or an error with the rule that it breaks. Calls that remember rows before may be in it if
    somebody does."""
    if not mentions_stream(bound.tree):
        message = "a continuous query must read a stream"
        hint = "Run the INSERT by itself: what it reads does not flow."
        raise MillpondError(SqlState.WRONG_OBJECT_TYPE, message, hint=hint, position=position_of(bound.tree))
    _check_recursion(bound.tree)
    _check_session(bound.tree)
    tree = unfold_streams(bound.tree)
    _check_windows(tree)
    _check_rows(_without_history(tree) if remembers else tree)
    streams = {stream.oid: stream for stream in streams_in(tree)}
    _add_arrival(tree)
    query = BoundQuery(tree, (*bound.columns, ARRIVAL), bound.relations, bound.names)
    return RowFlow(query, tuple(streams.values()))


def _without_history(tree: exp.Expr) -> exp.Expr:
    """The tree with a value in the place of each call that remembers: to what is around it, it is one."""
    made = tree.copy()
    for node in list(made.find_all(exp.Window)):
        if is_history(node):
            node.replace(cast(exp.Null(), type_of(node)))
    return made


def _refused(what: str, place: exp.Expr, stream: Relation | None, hint: str | None = _CREATE_VIEW) -> MillpondError:
    over = "" if stream is None else f' over the stream "{stream.name}"'
    message = f"{what}{over} is not supported in a continuous query"
    return MillpondError(SqlState.FEATURE_NOT_SUPPORTED, message, hint=hint, position=position_of(place))


def _check_windows(tree: exp.Expr) -> None:
    for table in tree.find_all(exp.Table):
        window = window_of(table)
        if window is not None:
            raise _refused(f"the window {window.kind.upper()}", table, stream_of(table))


# -- what flows -----------------------------------------------------------------------------------------------


def _check_rows(query: exp.Expr) -> None:
    """Raises what is wrong with a query whose rows have to flow."""
    if isinstance(query, exp.Subquery):
        _check_rows(query.this)
        return
    place, breaker = _breaker(query)
    if breaker is not None:
        raise _refused(breaker, place, raw_stream(query))
    if isinstance(query, exp.SetOperation):
        for side in (query.this, query.expression):
            if not mentions_stream(side):
                raise _refused("UNION ALL of a stream and a table", side, None, hint=None)
            _check_rows(side)
        return
    _check_from(query)


def _breaker(query: exp.Expr) -> tuple[exp.Expr, str | None]:
    """What needs more than one row of the stream, in SQL's words, and where it stands."""
    if isinstance(query, exp.SetOperation) and (query.args.get("distinct") or not isinstance(query, exp.Union)):
        return query, type(query).__name__.upper()
    for part, word in _BREAKERS.items():
        found = query.args.get(part)
        if isinstance(found, exp.Expr):
            return found if position_of(found) else query, word
    for output in query.expressions:
        if has_aggregate(output):
            return output, "an aggregate function"
        window = next((node for node in walk_own(output) if isinstance(node, exp.Window)), None)
        if window is not None:
            return window, "a window function"
    return query, None


def _check_from(select: exp.Expr) -> None:
    """FROM and the joins, and that no other stream is read beside the one that flows."""
    flowing = _flowing_item(select)
    stream = raw_stream(flowing)
    inner = query_of(flowing)
    for table in select.find_all(exp.Table):
        if table is not flowing and (inner is None or not _is_below(table, inner)):
            _check_relation(table, stream)
    check_joins(select.args["from_"].this, select.args.get("joins") or [], "Swap the sides of the join.")
    if inner is not None:
        _check_rows(inner)


def _flowing_item(select: exp.Expr) -> exp.Expr:
    """The one item in FROM that delivers the rows of a stream."""
    raw = raw_items(select)
    if raw:
        return raw[0]
    for item in own_items(select):
        query = query_of(item)
        if query is not None and mentions_stream(query):
            _check_rows(query)
    raise _refused("a subquery", select, raw_stream(select))


def _check_relation(table: exp.Table, stream: Relation) -> None:
    """What stands beside the stream must be a table, which is read as it is when a chunk comes."""
    relation = note_of(table).relation
    if relation is None and not mentions_stream(table):
        return
    if relation is None or relation.kind == "stream":
        other = raw_stream(table)
        what = f'reading the stream "{other.name}" beside the stream "{stream.name}"'
        raise _refused(what, _select_of(table), None, hint="Group the streams in a view: CREATE VIEW joins the groups.")
    if relation.kind != "table":
        kind = "view" if relation.kind == "continuous" else f"{relation.kind} relation"
        what = f'reading {kind} "{relation.name}" beside a stream'
        raise _refused(what, _select_of(table), None, hint="Copy it into a table, and join that.")


def _select_of(table: exp.Table) -> exp.Expr:
    """The SELECT that a table stands in; binding leaves it a place in the statement, and the table none."""
    return table.find_ancestor(exp.Select) or table


def _is_below(node: exp.Expr, above: exp.Expr) -> bool:
    return any(one is above for one in _ancestors(node))


def _ancestors(node: exp.Expr) -> Iterator[exp.Expr]:
    parent = node.parent
    while parent is not None:
        yield parent
        parent = parent.parent


def _check_recursion(tree: exp.Expr) -> None:
    for with_ in tree.find_all(exp.With):
        if with_.args.get("recursive") and mentions_stream(with_):
            raise _refused("WITH RECURSIVE", with_, raw_stream(with_))


def _check_session(tree: exp.Expr) -> None:
    """Raises for a function of the session: nobody's session runs a continuous query."""
    for node in tree.find_all(exp.Anonymous):
        function = note_of(node).function
        if function is not None and function.name in session_functions.NAMES:
            raise _refused(f"the function {function.name}", node, None, hint=None)


# -- the order of arrival -------------------------------------------------------------------------------------


def _add_arrival(query: exp.Expr) -> None:
    """Adds the tid of the stream to the outputs of a flow, from the inside out. The tree is changed."""
    if isinstance(query, exp.SetOperation):
        _add_arrival(query.this)
        _add_arrival(query.expression)
    elif isinstance(query, exp.Subquery):
        _add_arrival(query.this)
    else:
        (item,) = (one for one in own_items(query) if is_raw_item(one))
        inner = query_of(item)
        if inner is not None:
            assert is_raw(inner), "what flows was checked"
            _add_arrival(inner)
        name = TID.name if inner is None else ARRIVAL.name
        # Without a relation in its note: to be put in order is not to be read, and needs no privilege.
        column = typed(exp.Column(this=identifier(name), table=identifier(alias_of(item))), TID.type)
        output = typed(exp.Alias(this=column, alias=identifier(ARRIVAL.name)), TID.type)
        query.set("expressions", [*query.expressions, output])

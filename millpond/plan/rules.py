"""The rules of what may stand between a stream and its grouping; what breaks one is refused, with the reason.

Below its grouping a stream flows: each row must be worked on by itself and at once. So filters, expressions and joins
that probe tables are allowed; whatever needs all rows (sorting, numbering, a set operation), a second stream, or the
time of day is not. A query that is run once and not kept has one time of day, and may read any relation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from millpond.errors import MillpondError, SqlState
from millpond.plan.trees import (
    aggregate_calls,
    is_raw,
    is_raw_item,
    leaves,
    mentions_stream,
    nested_join,
    own_items,
    query_of,
    raw_items,
    raw_stream,
)
from millpond.plan.window_bounds import bounds_below, without_bounds
from millpond.sql import session_functions
from millpond.sql.functions import CONSTANTS
from millpond.sql.nodes import note_of, position_of, walk_own
from millpond.stream_window import AsOfNow, CycleWindow, SessionWindow, StreamWindow

_GROUP_FIRST = "Group the stream in a subquery first: what is above a grouping is not restricted."
_SWAP_OR_GROUP = "Swap the sides, or group the stream in a subquery first."


def refused(
    message: str, place: exp.Expr | None, *, detail: str | None = None, hint: str | None = _GROUP_FIRST
) -> MillpondError:
    return MillpondError(SqlState.FEATURE_NOT_SUPPORTED, message, detail=detail, hint=hint, position=position_of(place))


def ungrouped(query: exp.Expr) -> MillpondError:
    """The error for a raw query that no grouping is above."""
    breaker = _breaker(query)
    return _unfit_breaker(breaker, query) if breaker else _must_group(query)


def _must_group(query: exp.Expr) -> MillpondError:
    message = f'a continuous view must group the stream "{raw_stream(query).name}"'
    hint = "Add GROUP BY, DISTINCT or an aggregate; or query the stream directly."
    return refused(message, query, hint=hint)


def _unfit_breaker(breaker: str, query: exp.Expr) -> MillpondError:
    message = f'{breaker} over the ungrouped stream "{raw_stream(query).name}" is not supported in a continuous view'
    detail = "The first operator that needs all rows of a stream must be a grouping."
    return refused(message, query, detail=detail)


def _breaker(query: exp.Expr) -> str | None:
    """What in a raw query needs all rows and is not a grouping, in SQL's words."""
    if isinstance(query, exp.SetOperation) and (query.args.get("distinct") or not isinstance(query, exp.Union)):
        return type(query).__name__.upper()
    if query.args.get("limit") or query.args.get("offset"):
        return "LIMIT" if query.args.get("limit") else "OFFSET"
    if query.args.get("distinct"):
        return "DISTINCT ON"
    if isinstance(query, exp.Select) and any(isinstance(node, exp.Window) for node in _own_nodes(query)):
        return "a window function"
    return None


def _own_nodes(select: exp.Select) -> Iterator[exp.Expr]:
    for output in select.expressions:
        yield from walk_own(output)


def different_windows(place: exp.Expr) -> MillpondError:
    hint = "Group each stream in a subquery of its own, then combine the groups."
    return refused("UNION ALL of streams in different windows is not supported", place, hint=hint)


def check_windows(windows: Mapping[str, StreamWindow]) -> None:
    """Raises if the windows of one query cannot be evaluated together."""
    by_alias: dict[str, StreamWindow] = {}
    for window in windows.values():
        other = by_alias.setdefault(window.alias, window)
        if other.measures != window.measures:
            message = f'different windows are called "{window.alias}"'
            raise MillpondError(SqlState.DUPLICATE_ALIAS, message, hint="Give them different aliases.")
    sliding = [window for window in windows.values() if not isinstance(window, AsOfNow)]
    if len({window.by_rows for window in sliding}) > 1:
        raise _apart("windows of rows and windows of time")
    if len({window.kind == "landmark" for window in sliding}) > 1:
        raise _apart("LANDMARK and other windows")


def check_no_cycles(tree: exp.Expr) -> None:
    """Raises if a query reads cycles that is not one to run in them."""
    for table in tree.find_all(exp.Table):
        if isinstance(note_of(table).window, CycleWindow):
            hint = "Write INSERT INTO ... SELECT ... FROM CYCLE(...), or CREATE CONTINUOUS QUERY name AS that."
            raise refused("CYCLE is only supported in an INSERT", table, hint=hint)


def check_sessions(tree: exp.Expr) -> None:
    """Raises if a query over sessions reads anything else of streams: all of it is evaluated session by session."""
    tables = [table for table in tree.find_all(exp.Table) if mentions_stream(table)]
    first = next((table for table in tables if isinstance(note_of(table).window, SessionWindow)), None)
    if first is None:
        return
    for table in tables:
        if _measured(table) != _measured(first):
            message = "SESSION beside another stream, window or gap is not supported in one query"
            place = table if position_of(table) is not None else first
            raise refused(message, place, hint="Create a view for each, and join the views.")


def _measured(table: exp.Table) -> tuple[object, ...]:
    """A stream, and what tells its window apart."""
    note = note_of(table)
    return note.relation, *(() if note.window is None else note.window.measures)


def _apart(what: str) -> MillpondError:
    hint = "Create a view for each, and join the views."
    return refused(f"{what} in one query are not supported", None, hint=hint)


def check_no_session(tree: exp.Expr) -> None:
    """Raises for a function of the session: a view is read by many sessions, and its answer is kept."""
    for node in tree.find_all(exp.Anonymous):
        function = note_of(node).function
        if function is not None and function.name in session_functions.NAMES:
            message = f"the function {function.name} is not supported in a continuous view"
            raise refused(message, node, hint="Call it in the query that reads the view.")


# -- what flows -----------------------------------------------------------------------------------------------


def check_grouping(select: exp.Expr, *, kept: bool) -> None:
    """Raises what is wrong below a SELECT that groups a stream; `kept` tells a view from a query that is run once."""
    _check_input(select, kept=kept)
    for node in _grouped(select):
        _check_expression(node, raw_stream(raw_items(select)[0]).name, kept=kept)


def check_joined(select: exp.Expr) -> None:
    """Raises what is wrong below a SELECT that groups a join of windows of which pairs are kept."""
    for node in (select.args.get("where"), *_conditions(select), *_grouped(select)):
        if node is not None:
            _check_expression(node, raw_stream(select).name, kept=True)


def _grouped(select: exp.Expr) -> list[exp.Expr]:
    """Keys and aggregate calls of a SELECT that groups."""
    group, calls = select.args.get("group"), aggregate_calls(select)
    keys = without_bounds([output.this for output in select.expressions]) if group is None and not calls else []
    return [*([group] if group else []), *calls, *keys]


def check_rows(query: exp.Expr, *, kept: bool) -> None:
    """Raises what is wrong with a query that delivers the rows of a stream as they come."""
    breaker = _breaker(query)
    if breaker:
        raise _unfit_breaker(breaker, query)
    if isinstance(query, exp.SetOperation):
        for side in (query.this, query.expression):
            if not is_raw(side):
                raise _unequal_union(query, side)
            check_rows(side, kept=kept)
        return
    _check_input(query, kept=kept)
    for output in query.expressions:
        _check_expression(output, raw_stream(query).name, kept=kept)


def _unequal_union(query: exp.Expr, side: exp.Expr) -> MillpondError:
    what = "a grouped stream" if mentions_stream(side) else "a table"
    message = (
        f'UNION ALL of the ungrouped stream "{raw_stream(query).name}" and {what} is not supported in a continuous view'
    )
    return refused(message, side, hint="Group each side in a subquery first, then combine the groups.")


def _check_input(select: exp.Expr, *, kept: bool) -> None:
    """FROM, the joins and WHERE."""
    check_one_stream(select)
    item = raw_items(select)[0]
    check_joins(select.args["from_"].this, select.args.get("joins") or [])
    stream = raw_stream(item)
    for condition in [select.args.get("where"), *_conditions(select)]:
        if condition is not None:
            _check_expression(condition, stream.name, kept=kept)
    query = query_of(item)
    if query is not None:
        check_rows(query, kept=kept)


def _conditions(select: exp.Expr) -> list[exp.Expr]:
    """The ON conditions of all joins, and the static items beside the stream."""
    static = [item for item in own_items(select) if not is_raw_item(item)]
    return [*_on(select.args["from_"].this, select.args.get("joins") or []), *static]


def _on(first: exp.Expr, joins: Sequence[exp.Expr]) -> list[exp.Expr]:
    conditions = [join.args["on"] for join in joins if join.args.get("on")]
    for item in (first, *(join.this for join in joins)):
        nested = nested_join(item)
        if nested is not None:
            conditions += _on(nested.this, nested.args.get("joins") or [])
    return conditions


def check_one_stream(select: exp.Expr) -> None:
    """Raises if the rows of an ungrouped stream meet another stream."""
    raw = raw_items(select)
    first = raw_stream(raw[0])
    others = [item for item in own_items(select) if item is not raw[0] and mentions_stream(item)]
    if others:
        message = f'the ungrouped stream "{first.name}" cannot be joined with the stream "{raw_stream(others[0]).name}"'
        hint = "Group both streams in subqueries of their own, then join the groups."
        raise refused(
            message, select, detail="Neither stream can be kept as a whole for the other to probe.", hint=hint
        )


def check_joins(first: exp.Expr, joins: Sequence[exp.Expr], hint: str = _SWAP_OR_GROUP) -> None:
    """The stream must be on a side of each join that keeps all of its rows: it probes, and is never waited for."""
    left = _holds_stream(first)
    for join in joins:
        side = join.args.get("side") or ""
        right = _holds_stream(join.this)
        if not (side or join.args.get("kind") or join.args.get("on")):
            left = right  # A comma: what follows joins among itself first.
        elif (left and side in ("RIGHT", "FULL")) or (right and side in ("LEFT", "FULL")):
            raise _optional_side(side, join, hint)
        left = left or right
    for item in (first, *(join.this for join in joins)):
        nested = nested_join(item)
        if nested is not None:
            check_joins(nested.this, nested.args.get("joins") or [], hint)


def _holds_stream(item: exp.Expr) -> bool:
    return any(is_raw_item(leaf) for leaf in leaves(item))


def _optional_side(side: str, join: exp.Expr, hint: str) -> MillpondError:
    parent = join.parent
    assert parent is not None
    name = raw_stream(parent).name
    message = f'the ungrouped stream "{name}" cannot be on the optional side of a {side} JOIN'
    detail = "Which rows of the other side have no partner is known only when the stream has ended."
    return refused(message, join, detail=detail, hint=hint)


def _check_expression(node: exp.Expr, stream: str, *, kept: bool) -> None:
    """Raises what may not stand below the grouping: other streams and, in a view, what differs by the moment."""
    for table in node.find_all(exp.Table):
        _check_relation(table, stream, kept=kept)
    bound = bounds_below(node)
    if bound is not None:
        message = f'{bound.name} below the grouping of the stream "{stream}" is not supported'
        raise refused(message, node, hint="Use it above the grouping: it is the same for all rows of a window.")
    for part in node.walk() if kept else ():
        function = note_of(part).function
        if function is None:
            continue
        if function.volatile:
            message = (
                f'the volatile function {function.name} below the grouping of the stream "{stream}" is not supported'
            )
            raise refused(f"{message} in a continuous view", part, hint="Call it above the grouping.")
        if function.name in CONSTANTS:
            raise _momentary(function.name, stream, part)


def _check_relation(table: exp.Table, stream: str, *, kept: bool) -> None:
    """Below a grouping of a view a relation must be one that can be pinned: a table."""
    relation = note_of(table).relation
    if relation is None or relation.kind == "table" or not (kept or relation.kind == "stream"):
        return
    below = f'below the grouping of the stream "{stream}"'
    if relation.kind == "stream":
        message = f'a subquery over the stream "{relation.name}" {below} is not supported in a continuous view'
        hint = "Compare the groups instead: group both streams in subqueries, then join them."
        raise refused(message, table.find_ancestor(exp.Select), hint=hint)
    message = f'{relation.kind} relation "{relation.name}" {below} is not supported in a continuous view'
    raise refused(message, table.find_ancestor(exp.Select), hint="Join it above the grouping, or copy it into a table.")


def _momentary(name: str, stream: str, place: exp.Expr) -> MillpondError:
    if CONSTANTS[name] == "text":
        message = f'{name} below the grouping of the stream "{stream}" is not supported in a continuous view'
        return refused(message, place, hint="Call it above the grouping.")
    written = name if name.startswith(("current_", "local")) else f"{name}()"
    message = f'{written} below the grouping of the stream "{stream}" is not supported in this place'
    hint = "Compare a time column with now() less an interval, or date_trunc of both, in WHERE."
    return refused(message, place, hint=hint)

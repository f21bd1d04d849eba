"""How a query over streams is run once, while they flow: which of its work can be done as tuples arrive.

a grouping above each stream    a split plan: chunks become partials, and the upper pipeline runs at the end
no breaker at all               a flow: the rows of each chunk go to the client at once
anything else                   the tuples are gathered, and the query runs at the end
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from millpond.errors import MillpondError, SqlState
from millpond.plan.ctes import unfold_streams
from millpond.plan.pipelines import SplitPlan, relations_read
from millpond.plan.rules import check_one_stream, check_rows
from millpond.plan.split import split
from millpond.plan.trees import is_raw, raw_items, raw_stream, streams_in
from millpond.relation import Relation
from millpond.sql.bind import BoundQuery, RelationRef
from millpond.sql.constants import put_constants
from millpond.sql.session_functions import put_session_calls

_BOTH_RINGS = (
    "Group both streams in subqueries of their own, then join the groups; "
    "or SET stream_scan = 'snapshot' to join what both hold now."
)


@dataclass(frozen=True)
class Flow:
    """A query whose answer is that of each chunk, one after the other; then `offset` rows are left out, and those after
    `limit` more."""

    query: BoundQuery
    stream: Relation
    limit: int | None
    offset: int


@dataclass(frozen=True)
class Gathered:
    """A query that needs all tuples of its streams at once, for the reason that keeps it from being split."""

    query: BoundQuery
    streams: tuple[Relation, ...]
    reason: str


OncePlan = SplitPlan | Flow | Gathered


def plan_once(bound: BoundQuery) -> OncePlan:
    """The plan of a query over streams that is not kept; an error if it joins the rows of two streams."""
    query = of_one_moment(bound)
    tree = unfold_streams(query.tree)
    _refuse_stream_joins(tree)
    flow = _flow(replace(query, tree=tree, relations=_references(tree)))
    if flow is not None:
        return flow
    try:
        return split(query, kept=False)
    except MillpondError as refused:
        if refused.sqlstate is not SqlState.FEATURE_NOT_SUPPORTED:
            raise
        streams = {stream.oid: stream for stream in streams_in(query.tree)}
        return Gathered(query, tuple(streams.values()), _reason(tree, refused))


def _reason(tree: exp.Expr, refused: MillpondError) -> str:
    """Why tuples have to be kept, in the words of the rule that a view would break."""
    if is_raw(tree):
        breaker = "ORDER BY" if tree.args.get("order") is not None else "the query"
        return f'{breaker} needs all rows of the stream "{raw_stream(tree).name}", which nothing groups'
    return refused.message.removesuffix(" in a continuous view").replace("a continuous view must", "the query does not")


def of_one_moment(bound: BoundQuery) -> BoundQuery:
    """The query with what is constant during a statement put in, but for the bounds of windows."""
    tree = put_constants(bound.tree.copy(), bound.names.constant, bounds=False)
    return replace(bound, tree=put_session_calls(tree, bound.names.call))


def _refuse_stream_joins(tree: exp.Expr) -> None:
    for select in tree.find_all(exp.Select):
        if raw_items(select):
            try:
                check_one_stream(select)
            except MillpondError as refused:
                refused.hint = _BOTH_RINGS
                raise


def _flow(query: BoundQuery) -> Flow | None:
    tree, streams = query.tree, streams_in(query.tree)
    limit, offset = tree.args.get("limit"), tree.args.get("offset")
    if not is_raw(tree) or len(streams) != 1 or tree.args.get("order") is not None:
        return None
    if any(clause is not None and _number(clause) is None for clause in (limit, offset)):
        return None
    rest = tree.copy()
    rest.set("limit", None)
    rest.set("offset", None)
    try:
        check_rows(rest, kept=False)
    except MillpondError:
        return None
    return Flow(replace(query, tree=rest), streams[0], _number(limit), _number(offset) or 0)


def is_flow(bound: BoundQuery) -> bool:
    """Whether a query delivers the rows of one stream as they come."""
    flow = _flow(replace(bound, tree=unfold_streams(bound.tree)))
    return flow is not None and flow.limit is None and not flow.offset


def _number(clause: exp.Expr | None) -> int | None:
    """What LIMIT or OFFSET says, if it is a plain number."""
    value = clause.expression if clause is not None else None
    return int(value.this) if isinstance(value, exp.Literal) and str(value.this).isdigit() else None


def _references(tree: exp.Expr) -> tuple[RelationRef, ...]:
    return tuple(RelationRef(relation) for relation in relations_read(tree))

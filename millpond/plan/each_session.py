"""The upper pipeline of sessions, evaluated once for each of them: all in one query where Spark can do that.

    SELECT s.session, r.* FROM sessions s, LATERAL (<upper pipeline over the rows of state_0 with that session>) r

Spark takes such a query apart, but not if the session is asked for inside of subqueries in expressions, below GROUPING
SETS, on the optional side of an outer join, or beside aggregates.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from millpond.plan.pipelines import STATE_SCHEMA
from millpond.plan.trees import ABOVE_GROUPING, aggregate_calls, parts_of
from millpond.sql.bind import BoundQuery
from millpond.sql.nodes import identifier, note_of, type_of, typed
from millpond.sql.stream_windows import is_bound
from millpond.sql.templates import rewrite

SESSION_ALIAS = "session of row"
"""What the list of sessions is called: a name that nothing in a query can have."""

_SETS = (exp.GroupingSets, exp.Rollup, exp.Cube)


def all_at_once(upper: BoundQuery) -> BoundQuery | None:
    """The upper pipeline with the bounds of windows as columns of the session; None if Spark cannot take it apart."""
    if any(_is_beyond_spark(node) for node in upper.tree.walk()):
        return None

    def rule(node: exp.Expr) -> exp.Expr:
        if not is_bound(node):
            return node
        column = exp.Column(this=identifier(node.name), table=identifier(SESSION_ALIAS))
        return typed(column, type_of(node))

    return replace(upper, tree=rewrite(upper.tree.copy(), rule))


def _is_beyond_spark(node: exp.Expr) -> bool:
    if isinstance(node, _SETS):
        return True
    if isinstance(node, exp.Join):
        return _has_optional_session(node)
    if not isinstance(node, exp.Query):
        return False
    return (not _is_in_from(node) and _is_of_session(node)) or _has_bound_beside_aggregates(node)


def _has_bound_beside_aggregates(query: exp.Expr) -> bool:
    if not isinstance(query, exp.Select) or not (query.args.get("group") or aggregate_calls(query)):
        return False
    return any(is_bound(node) for clause in ABOVE_GROUPING for part in parts_of(query, clause) for node in part.walk())


def _is_in_from(query: exp.Expr) -> bool:
    """Whether a query is a relation of another one, and no value in an expression."""
    holder = query.parent
    while isinstance(holder, (exp.Subquery, exp.SetOperation, exp.Paren)):
        holder = holder.parent
    return holder is None or isinstance(holder, (exp.From, exp.Join, exp.CTE))


def _has_optional_session(join: exp.Join) -> bool:
    side = join.args.get("side")
    return side in ("RIGHT", "FULL") or (side == "LEFT" and _is_of_session(join.this))


def _is_of_session(node: exp.Expr) -> bool:
    """Whether a part of the query is not the same for all sessions."""
    return any(is_bound(one) or (isinstance(one, exp.Table) and _is_state(one)) for one in node.walk())


def _is_state(table: exp.Table) -> bool:
    relation = note_of(table).relation
    return relation is not None and relation.schema == STATE_SCHEMA

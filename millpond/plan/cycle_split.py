"""Which work of a cycle query may begin before its cycle is cut: the stream pipelines, over pieces of the cycle.

A query that splits is run at the cut as the upper pipeline over partials of pieces; any other as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from millpond.errors import MillpondError, SqlState
from millpond.plan.cycle import CycleQuery, is_of_statement
from millpond.plan.pipelines import SplitPlan
from millpond.plan.split import split
from millpond.plan.trees import mentions_stream
from millpond.relation import TID
from millpond.sql.stream_windows import is_bound
from millpond.sql.translate import relation_key


@dataclass(frozen=True)
class AtCut:
    """Why a query runs as a whole when its cycle is cut."""

    reason: str


def split_cycle(query: CycleQuery) -> SplitPlan | AtCut:
    """The plan by which pieces of a cycle are worked on as they arrive, if there is one."""
    if not mentions_stream(query.query.tree):
        return SplitPlan((), (), query.query, (), (), ())
    try:
        plan = split(query.query, kept=False)
    except MillpondError as refused:
        if refused.sqlstate is not SqlState.FEATURE_NOT_SUPPORTED:
            raise
        return AtCut(refused.message.removesuffix(" in a continuous view").replace("a continuous view", "the query"))
    below = [line.tree for grouping in plan.groupings for line in grouping.pipelines]
    below += [static.tree for static in plan.statics]
    if any(_changes(tree) for tree in below):
        return AtCut("what is grouped depends on the time of the cycle")
    if any(TID in line.stream_columns for grouping in plan.groupings for line in grouping.pipelines):
        return AtCut("what is grouped depends on the tids of tuples")
    if any(table.kind != "table" for table in plan.pinned):
        return AtCut("what is grouped depends on a view")
    return plan


def early_queries(queries: Sequence[CycleQuery]) -> list[CycleQuery]:
    """What may be split of the branches of a query: these, or what the calls in them that remember are fed with."""
    if any(query.cuts for query in queries):
        return list({key: feed for query in queries for key, feed in query.feeds.items()}.values())
    return list(queries)


def describe_early(queries: Sequence[CycleQuery]) -> list[str]:
    """What all branches of a query do before a cycle is cut, for EXPLAIN: one that cannot be split lets all wait."""
    plans = [split_cycle(query) for query in early_queries(queries)]
    if not plans:
        return ["At the cut of a cycle: all of it, since functions in it remember tuples of earlier cycles"]
    whole = next((plan for plan in plans if isinstance(plan, AtCut)), None)
    if whole is not None:
        return [f"At the cut of a cycle: all of it, since {whole.reason}"]
    lines = [line for plan in plans if isinstance(plan, SplitPlan) for one in plan.groupings for line in one.pipelines]
    texts = dict.fromkeys(
        line.to_spark({relation_key(one.schema, one.name): one.name for one in (line.stream, *line.statics)})
        for line in lines
    )
    return ["Before the cut of a cycle, over what has arrived of it", *(f"  {text}" for text in texts)]


def _changes(tree: exp.Expr) -> bool:
    """Whether something below a grouping is known at the cut only."""
    return any(is_bound(node) or is_of_statement(node) for node in tree.walk())

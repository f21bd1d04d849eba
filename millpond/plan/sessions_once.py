"""A query over sessions that is run once: split as that of a view is, and the order of the rows of all sessions.

    SELECT k, count(*) FROM SESSION(s, ...) GROUP BY k ORDER BY max(v)

    SELECT k, count(*), max(v) FROM SESSION(s, ...) GROUP BY k      for each session, and then ORDER BY c2

All of a query runs session by session, as in a view: only an ORDER BY at its top is about all rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from millpond.errors import not_supported
from millpond.plan.once import of_one_moment
from millpond.plan.pipelines import SplitPlan
from millpond.plan.rows import drop_order
from millpond.plan.split import split
from millpond.sql.bind import BoundQuery, OutputColumn
from millpond.sql.nodes import identifier, position_of, type_of
from millpond.sql.stream_windows import window_of
from millpond.stream_window import SessionWindow
from millpond.types import INTERVAL


@dataclass(frozen=True)
class SessionsOnce:
    """A plan, whose output may have sort keys after the query's own columns; `order` is Spark SQL over c0, c1, ..."""

    plan: SplitPlan
    order: tuple[str, ...]


def has_sessions(tree: exp.Expr) -> bool:
    """Whether a stream is under sessions."""
    return any(isinstance(window_of(table), SessionWindow) for table in tree.find_all(exp.Table))


def sessions_once(bound: BoundQuery) -> SessionsOnce:
    """The plan of a query over sessions that is not kept."""
    query, order = _with_sort_keys(of_one_moment(bound))
    drop_order(query.tree)
    return SessionsOnce(split(query, kept=False), order)


def _with_sort_keys(query: BoundQuery) -> tuple[BoundQuery, tuple[str, ...]]:
    """The query, whose tree is changed, with all that its rows are ordered by among its columns."""
    order, columns = query.tree.args.get("order"), list(query.columns)
    first, texts = query.tree, []
    while not isinstance(first, exp.Select):
        first = first.this
    for key in [] if order is None else order.expressions:
        if type_of(key.this) == INTERVAL:
            raise not_supported("ordering sessions by an interval", position=position_of(key.this))
        outputs = [output.alias for output in first.expressions]
        if isinstance(key.this, exp.Column) and not key.this.args.get("table"):
            place = outputs.index(key.this.name)
        else:
            place = len(columns)
            columns.append(OutputColumn("", type_of(key.this)))
            alias = exp.Alias(this=key.this.copy(), alias=identifier(f"sort key {place}"))
            first.set("expressions", [*first.expressions, alias])
        descending, nulls = key.args.get("desc"), "FIRST" if key.args.get("nulls_first") else "LAST"
        texts.append(f"c{place}{' DESC' if descending else ''} NULLS {nulls}")
    return replace(query, columns=tuple(columns)), tuple(texts)

"""Cycle queries: a query that runs once for each cycle of a stream, over just the tuples of that cycle.

    SELECT s.road, avg(s.speed) FROM CYCLE(s, INTERVAL '1 minute') GROUP BY s.road

All of SQL may stand above the stream, since a cycle has an end: nothing is split, and nothing is refused but a second
stream.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from sqlglot import exp

from millpond.errors import not_supported
from millpond.plan.trees import alias_of, streams_in
from millpond.relation import Column, Relation
from millpond.sql.bind import BoundQuery
from millpond.sql.constants import bound_key
from millpond.sql.nodes import annotate, note_of, position_of
from millpond.sql.stream_windows import BOUNDS, window_of
from millpond.stream_window import CycleWindow


@dataclass(frozen=True)
class CycleQuery:
    """A query over the tuples of one cycle of a stream, which may have several aliases in it."""

    query: BoundQuery
    stream: Relation
    window: CycleWindow
    aliases: tuple[str, ...]

    @property
    def streams(self) -> tuple[Relation, ...]:
        return (self.stream,)

    def to_spark(self, spark_names: Mapping[str, str], bounds: Sequence[datetime | int] | None = None) -> str:
        """Spark SQL, for a cycle with these bounds if one is at hand."""
        values = dict(zip(BOUNDS, bounds or (None, None), strict=True))
        known = {bound_key(name, alias): value for name, value in values.items() for alias in self.aliases}
        own = self.query.names.constant
        return self.query.to_spark(spark_names, lambda name: known[name] if name in known else own(name))

    @cached_property
    def stream_columns(self) -> tuple[Column, ...]:
        """The stream's columns that are used, or one at least."""
        used = {column.name for column in self.query.tree.find_all(exp.Column)}
        return tuple(one for one in self.stream.columns if one.name in used) or self.stream.columns[:1]


def cycle_query(bound: BoundQuery) -> CycleQuery | None:
    """The query as one that runs in cycles, if it does."""
    tables = [table for table in bound.tree.find_all(exp.Table) if isinstance(window_of(table), CycleWindow)]
    if not tables:
        return None
    first = tables[0]
    stream, window = note_of(first).relation, window_of(first)
    assert stream is not None
    assert isinstance(window, CycleWindow)
    for table in bound.tree.find_all(exp.Table):
        if streams_in(table) and (note_of(table).relation != stream or not _is_same(table, window)):
            hint = "Let another query write what is needed of it into a table, and read that."
            what = "a second stream, or another cycle, in a cycle query"
            raise not_supported(what, hint=hint, position=position_of(table) or position_of(first))
    tree = bound.tree.copy()
    for table in tree.find_all(exp.Table):
        if window_of(table) is not None:
            annotate(table, window=None)
    return CycleQuery(replace(bound, tree=tree), stream, window, tuple({alias_of(table) for table in tables}))


def _is_same(table: exp.Table, window: CycleWindow) -> bool:
    other = window_of(table)
    return isinstance(other, CycleWindow) and replace(other, alias=window.alias) == window

"""Cycle queries: a query that runs once for each cycle of a stream, over just the tuples of that cycle.

    SELECT s.road, avg(s.speed) FROM CYCLE(s, INTERVAL '1 minute') GROUP BY s.road

All of SQL may stand above the stream, since a cycle has an end: nothing is split, and nothing is refused but a second
stream.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property

from sqlglot import exp

from millpond.errors import not_supported
from millpond.plan.history import HistoryCut
from millpond.plan.history_cut import cut_history
from millpond.plan.trees import alias_of, streams_in
from millpond.relation import Column, Read, Relation
from millpond.sql.bind import BoundQuery
from millpond.sql.constants import Constants, bound_key
from millpond.sql.functions import CONSTANTS
from millpond.sql.nodes import annotate, note_of, position_of
from millpond.sql.session_functions import NAMES as SESSION_FUNCTIONS
from millpond.sql.stream_windows import BOUNDS, is_bound, window_of
from millpond.stream_window import CycleWindow

Bounds = Sequence[datetime | int]
"""Where a cycle starts and ends."""


@dataclass(frozen=True)
class CycleQuery:
    """A query over the tuples of one cycle of a stream, which may have several aliases in it.

    `cuts` are the calls in it that remember rows of earlier cycles, and `rest` is what remains of it without them.
    """

    query: BoundQuery
    stream: Relation
    window: CycleWindow
    aliases: tuple[str, ...]
    cuts: tuple[HistoryCut, ...]
    rest: BoundQuery
    _texts: dict[object, tuple[BoundQuery, str]] = field(default_factory=dict, compare=False, repr=False)

    @property
    def streams(self) -> tuple[Relation, ...]:
        return (self.stream,)

    @property
    def reads(self) -> tuple[Read, ...]:
        """What somebody has to be allowed to read for this: also the column that ends the stream."""
        until = () if self.window.until is None else (self.window.until,)
        return tuple(
            replace(read, columns=tuple({*read.columns, *until})) if read.relation == self.stream.name else read
            for read in self.query.reads
        )

    def to_spark(
        self,
        spark_names: Mapping[str, str],
        bounds: Bounds | None = None,
        query: BoundQuery | None = None,
        constants: Constants | None = None,
    ) -> str:
        """Spark SQL of the rest, or of the feed of a cut or another part; for a cycle with these bounds, and constants
        such as the time, if one is at hand. What says the same in every cycle is translated once."""
        query = query or self.rest
        if not self.is_fixed:
            return self._text(query, spark_names, bounds, constants)
        key = (id(query), *spark_names.items())
        if key not in self._texts:
            # The query is kept too, so that nothing else gets its id.
            self._texts[key] = (query, self._text(query, spark_names, bounds, constants))
        return self._texts[key][1]

    @cached_property
    def feeds(self) -> dict[str, CycleQuery]:
        """What calls that remember are fed with, by the keys of their cuts, where that is more than tuples."""
        return {
            cut.key: CycleQuery(cut.feed, self.stream, self.window, self.aliases, (), cut.feed)
            for cut in self.cuts
            if cut.tuples is None
        }

    @cached_property
    def is_fixed(self) -> bool:
        """Whether nothing in it depends on the cycle."""
        return not any(is_bound(node) or is_of_statement(node) for node in self.query.tree.walk())

    def _text(
        self, query: BoundQuery, spark_names: Mapping[str, str], bounds: Bounds | None, constants: Constants | None
    ) -> str:
        values = dict(zip(BOUNDS, bounds or (None, None), strict=True))
        known = {bound_key(name, alias): value for name, value in values.items() for alias in self.aliases}
        # The query was bound in another cycle, whose time it knows.
        own = constants or query.names.constant
        return query.to_spark(spark_names, lambda name: known[name] if name in known else own(name))

    @cached_property
    def stream_columns(self) -> tuple[Column, ...]:
        """The stream's columns that are used, or one at least."""
        trees = [self.rest.tree, *(cut.feed.tree for cut in self.cuts)]
        used = {column.name for tree in trees for column in tree.find_all(exp.Column)}
        return tuple(one for one in self.stream.columns if one.name in used) or self.stream.columns[:1]


def cycle_queries(queries: Sequence[BoundQuery]) -> tuple[CycleQuery, ...] | None:
    """Queries that run together in the cycles of one stream, if any of them does; others may read tables alone."""
    first = next((table for query in queries for table in query.tree.find_all(exp.Table) if _is_cycle(table)), None)
    if first is None:
        return None
    stream, window = note_of(first).relation, window_of(first)
    assert stream is not None
    assert isinstance(window, CycleWindow)
    for table in (table for query in queries for table in query.tree.find_all(exp.Table)):
        if streams_in(table) and (note_of(table).relation != stream or not _is_same(table, window)):
            hint = "Let another query write what is needed of it into a table, and read that."
            what = "a second stream, or another cycle, in a cycle query"
            raise not_supported(what, hint=hint, position=position_of(table) or position_of(first))
    made: list[CycleQuery] = []
    for query in queries:
        known = list(dict.fromkeys(cut for other in made for cut in other.cuts))
        made.append(_cycle_query(query, stream, window, known))
    return tuple(made)


def _cycle_query(bound: BoundQuery, stream: Relation, window: CycleWindow, known: Sequence[HistoryCut]) -> CycleQuery:
    tree = bound.tree.copy()
    tables = [table for table in tree.find_all(exp.Table) if _is_cycle(table)]
    for table in tables:
        annotate(table, window=None)
    whole = replace(bound, tree=tree)
    return CycleQuery(whole, stream, window, tuple({alias_of(table) for table in tables}), *cut_history(whole, known))


def is_of_statement(node: exp.Expr) -> bool:
    """Whether a node is a value that another statement may have otherwise."""
    function = note_of(node).function
    return function is not None and (function.name in CONSTANTS or function.name in SESSION_FUNCTIONS)


def _is_cycle(table: exp.Table) -> bool:
    return isinstance(window_of(table), CycleWindow)


def _is_same(table: exp.Table, window: CycleWindow) -> bool:
    other = window_of(table)
    return isinstance(other, CycleWindow) and replace(other, alias=window.alias) == window

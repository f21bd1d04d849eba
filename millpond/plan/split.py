"""Splits a query over streams at the first grouping above each: the heart of continuous views.

The algorithm, a few passes over the bound tree:

1. Unfold CTEs that mention a stream: each use becomes its own occurrence (`ctes`).
2. Group the streams that EXISTS and IN look into by what they are looked up with (`semi_joins`), and move the bounds of
   windows, which are constants, above the groupings (`window_bounds`). Conditions on the age of rows become windows
   (`ages`); windows of which a query needs the rows get groupings of their own, which keep them (`window_rows`). Of
   two that are joined and then grouped, pairs of rows are kept besides (`pairs`).
3. Drop ORDER BY without LIMIT at the top and below groupings, where it means nothing, with a notice (`rows`).
4. Walk the tree from the top. A SELECT whose FROM delivers rows of an ungrouped stream must group them: by GROUP BY, by
   DISTINCT or by aggregates. If it does not, the query is refused.
5. Check what is below such a grouping: it has to let rows flow (`rules`).
6. Cut the grouping out (`extract`): its FROM, WHERE, keys and the arguments of its aggregates become a stream pipeline,
   one for each stream of a UNION ALL. What it reads besides the stream becomes static pipelines (`statics`). The table
   of aggregates says what to keep for each call (`aggregates`, `kept`).
7. In its place goes a SELECT that reads the merged state, in which keys are columns and aggregates are finalized
   (`lift`). Equal groupings are kept once.
8. What is left is the upper pipeline: an ordinary query over states and tables.

A worked query, with the stream `used` and the table `station`:

    SELECT st.plant, sum(u.n) FROM (SELECT station, count(*) AS n FROM used WHERE part = 'Wheel' GROUP BY station) u
    JOIN station st ON st.id = u.station GROUP BY st.plant

    stream pipeline   SELECT station AS k0, COUNT(*) AS p0 FROM used WHERE part = 'Wheel' GROUP BY station
    merge             SELECT k0, SUM(p0) AS p0 FROM state_0 GROUP BY k0
    upper pipeline    SELECT st.plant, SUM(u.n) FROM (SELECT k0 AS station, COALESCE(p0, 0) AS n FROM state_0) u
                      JOIN station st ON st.id = u.station GROUP BY st.plant

The table `station` is read above the grouping, so it stays live; had it been joined below, it would be pinned.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from millpond.errors import MillpondError, SqlState
from millpond.plan.ages import lift_ages
from millpond.plan.ctes import prune, unfold_streams
from millpond.plan.extract import extract
from millpond.plan.paired import Pairs
from millpond.plan.pairs import cut_pairs
from millpond.plan.pipelines import STATE_SCHEMA, Grouping, SplitPlan, StaticPipeline
from millpond.plan.rows import drop_orders
from millpond.plan.rules import check_no_cycles, check_no_session, check_sessions, check_windows, ungrouped
from millpond.plan.semi_joins import group_semi_joins
from millpond.plan.trees import is_grouping, is_raw, mentions_stream, raw_items, stream_of
from millpond.plan.window_bounds import lift_bounds
from millpond.plan.window_rows import needs_rows, unfold_last_rows, unfold_window_rows
from millpond.relation import Relation
from millpond.sql.bind import BoundQuery, RelationRef
from millpond.sql.from_clause import relations_of
from millpond.sql.nodes import note_of
from millpond.sql.stream_windows import window_of

__all__ = ["Grouping", "SplitPlan", "split"]


@dataclass(frozen=True)
class Choices:
    """What a view's options choose: in which steps rows that grow too old leave it (None for as long ones as suit their
    age), whether windows keep their rows, to be evaluated anew at each slide, instead of partials, and whether joins of
    windows may keep `pairs` of rows."""

    step_us: int | None = None
    reevaluate: bool = False
    pairs: bool = True


NO_CHOICES = Choices()


def split(bound: BoundQuery, *, kept: bool = True, choices: Choices = NO_CHOICES) -> SplitPlan:
    """The plan of a query over streams, or an error with the rule that it breaks.

    A view is `kept`, and read at many moments. What is run once has one moment, whose constants are put in before.
    """
    if not mentions_stream(bound.tree):
        raise MillpondError(SqlState.WRONG_OBJECT_TYPE, "the query reads no stream, so there is nothing to split")
    if kept:
        check_no_session(bound.tree)
    tree = unfold_last_rows(unfold_streams(bound.tree))
    if kept:
        lift_ages(tree, choices.step_us)
    check_no_cycles(tree)
    check_sessions(tree)
    tree = lift_bounds(group_semi_joins(tree))
    notices = drop_orders(tree, kept=kept)
    cutter = _Cutter(kept=kept, choices=choices)
    tree = cutter.cut(tree)
    prune(tree)
    references = tuple(RelationRef(relation) for relation in _relations(tree))
    upper = BoundQuery(tree, bound.columns, references, bound.names)
    below = [static for one in cutter.groupings for line in one.pipelines for static in line.statics]
    below += [table for static in cutter.statics for table in static.tables]
    pinned = [one for one in _distinct(below) if one.schema != STATE_SCHEMA]
    live = [one for one in _distinct(_relations(tree)) if one.schema != STATE_SCHEMA and one not in pinned]
    given = (tuple(cutter.groupings), tuple(cutter.statics), upper, tuple(pinned), tuple(live), tuple(notices))
    plan = SplitPlan(*given, cutter.pairs)
    check_windows(plan.windows)
    return plan if plan.has_simple_pairs else split(bound, kept=kept, choices=replace(choices, pairs=False))


class _Cutter:
    """Walks a query from the top and cuts out its groupings of streams."""

    def __init__(self, *, kept: bool, choices: Choices) -> None:
        self._kept, self._reevaluate = kept, choices.reevaluate
        self._keeps_pairs = kept and choices.pairs and not choices.reevaluate
        self.pairs: Pairs | None = None
        self.groupings: list[Grouping] = []
        self.statics: list[StaticPipeline] = []
        self._occurrences = 0

    def cut(self, node: exp.Expr) -> exp.Expr:
        """The node with every grouping of a stream below it replaced by a read of its state. It is changed."""
        if isinstance(node, exp.SetOperation) and is_raw(node) and not _is_windowed(node):
            raise ungrouped(node)
        paired = self._cut_pairs(node)
        if paired is not None:
            node = _put(node, paired)
        elif isinstance(node, exp.Select) and raw_items(node) and needs_rows(node, always=self._reevaluate):
            unfold_window_rows(node)
        elif isinstance(node, exp.Select) and raw_items(node):
            if not is_grouping(node):
                raise ungrouped(node)
            alias = f"merged_{self._occurrences}"
            self._occurrences += 1
            node = _put(node, extract(node, alias, self._register, self._register_static, kept=self._kept))
        for name, value in list(node.args.items()):
            if isinstance(value, list):
                node.set(name, [self.cut(one) if isinstance(one, exp.Expr) else one for one in value])
            elif isinstance(value, exp.Expr):
                node.set(name, self.cut(value))
        return node

    def _cut_pairs(self, node: exp.Expr) -> exp.Expr | None:
        """The read of what is kept of pairs, in the place of a grouping of two joined windows that fits; one of them in
        a query."""
        if not (self._keeps_pairs and self.pairs is None and isinstance(node, exp.Select)):
            return None
        found = cut_pairs(node, "pairs_0", f"merged_{self._occurrences}", self._register)
        if found is None:
            return None
        self._occurrences += 1
        upper, self.pairs = found
        return upper

    def _register(self, made: Grouping) -> Grouping:
        for known in self.groupings:
            if replace(made, name=known.name) == known:
                return known
        named = replace(made, name=f"state_{len(self.groupings)}")
        self.groupings.append(named)
        return named

    def _register_static(self, made: StaticPipeline) -> StaticPipeline:
        for known in self.statics:
            if replace(made, name=known.name) == known:
                return known
        named = replace(made, name=f"static_{len(self.statics)}")
        self.statics.append(named)
        return named


def _is_windowed(query: exp.Expr) -> bool:
    """Whether all streams of a raw query are under windows."""
    return all(window_of(table) for table in query.find_all(exp.Table) if stream_of(table))


def _put(old: exp.Expr, new: exp.Expr) -> exp.Expr:
    """The new node in the place of the old one, so that what is cut below it still sees the CTEs around."""
    if old.parent is not None:
        old.replace(new)
    return new


def _relations(tree: exp.Expr) -> list[Relation]:
    found = (note_of(table).relation for table in relations_of(tree))
    return [relation for relation in found if relation is not None]


def _distinct(relations: list[Relation]) -> list[Relation]:
    """Each relation once."""
    return list({(one.schema, one.name): one for one in relations}.values())

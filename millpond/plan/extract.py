"""Cuts a grouping out of a query: the SELECT that groups a stream becomes a `Grouping` and a SELECT over its state.

    SELECT a, avg(b) FROM s WHERE c > 0 GROUP BY a HAVING count(*) > 1

    stream pipeline   SELECT a AS k0, SUM(b) AS p0, COUNT(b) AS p1, COUNT(*) AS p2 FROM s WHERE c > 0 GROUP BY a
    in its place      SELECT k0 AS a, p0 / p1 AS avg FROM state_0 WHERE p2 > 1

GROUPING SETS and correlated subqueries group the state once more: it is kept by all keys, and merged by fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from millpond.plan.calls import taken_apart
from millpond.plan.correlation import Correlation, uncorrelated
from millpond.plan.ctes import with_ctes
from millpond.plan.expressions import exact
from millpond.plan.kept import NO_CALLS, Kept, keep
from millpond.plan.lift import Lift
from millpond.plan.pipelines import Grouping, StreamPipeline, relations_read
from millpond.plan.rows import by_stream
from millpond.plan.rules import check_grouping, different_windows
from millpond.plan.statics import RegisterStatic, lift_statics
from millpond.plan.trees import aggregate_calls, alias_of, own_aliases, raw_items, stream_of, streams_in
from millpond.plan.window_bounds import without_bounds
from millpond.relation import TID
from millpond.sql.nodes import annotate, conjunction, identifier, typed
from millpond.sql.stream_windows import window_of
from millpond.stream_window import StreamWindow
from millpond.types import BOOLEAN

Register = Callable[[Grouping], Grouping]
"""Takes a grouping into the plan and gives it its name; one that is already there serves again."""

_SETS = (exp.GroupingSets, exp.Rollup, exp.Cube)


def extract(
    select: exp.Expr, alias: str, register: Register, register_static: RegisterStatic, *, kept: bool
) -> exp.Select:
    """The SELECT that reads the state, under the given alias, in the place of the one that groups a stream.

    `kept` tells a view from a query that is run once.
    """
    check_grouping(select, kept=kept)
    cut = cut_out(select, alias, _arrival(select))
    lift_statics(cut.rows, select, register_static)
    condition = cut.rows.args["where"].this if cut.rows.args.get("where") else None
    return cut.reading(register(cut.grouping(_pipelines(cut.rows, select), condition)), alias)


@dataclass(frozen=True)
class CutOut:
    """A grouping SELECT in two: the `rows` SELECT that makes partials, and the `upper` one that reads them merged."""

    rows: exp.Select
    upper: exp.Select
    lift: Lift
    kept: Kept

    def grouping(self, pipelines: tuple[StreamPipeline, ...], condition: exp.Expr | None) -> Grouping:
        """What is kept, still without a name."""
        keys, kept = (self.lift.columns(), self.lift.types()), self.kept
        return Grouping(
            "", pipelines, *keys, kept.columns, kept.computed, condition, kept.subtractable, kept.concatenated
        )

    def reading(self, grouping: Grouping, alias: str) -> exp.Select:
        """The upper SELECT over the state of a grouping, which has its name now."""
        table = exp.Table(this=identifier(grouping.name), alias=exp.TableAlias(this=identifier(alias)))
        self.upper.set("from_", exp.From(this=annotate(table, relation=grouping.relation)))
        return self.upper


def cut_out(select: exp.Expr, alias: str, arrival: exp.Expr | None) -> CutOut:
    """A grouping SELECT, which may read anything, cut in two; `arrival` tells the order of its rows, if any does."""
    where, correlations = uncorrelated(select)
    keys = _keys(select, correlations)
    calls = _kept(select, keys, arrival)
    regroups = bool(correlations) or _has_sets(select)
    lift = Lift(keys, calls, own_aliases(select), alias, regroups=regroups)
    upper = _regrouping(select, lift, correlations) if regroups else _finalizing(select, lift)
    return CutOut(_rows(select, where, lift.keys, calls), upper, lift, calls)


def _kept(select: exp.Expr, keys: Sequence[exp.Expr], arrival: exp.Expr | None) -> Kept:
    """What to keep. A state needs a column: of `SELECT 1 FROM s HAVING true` the rows are counted."""
    calls = [taken_apart(call, arrival) for call in aggregate_calls(select)]
    return keep(calls) if calls or keys else NO_CALLS


def _has_sets(select: exp.Expr) -> bool:
    group = select.args.get("group")
    return group is not None and any(isinstance(element, _SETS) for element in group.expressions)


def _arrival(select: exp.Expr) -> exp.Expr | None:
    """The stream's tid, where the grouping reads the stream itself."""
    item = raw_items(select)[0]
    relation = stream_of(item)
    if relation is None:
        return None
    column = exp.Column(this=identifier(TID.name), table=identifier(alias_of(item)))
    return annotate(column, type=TID.type, relation=relation)


# -- keys -----------------------------------------------------------------------------------------------------


def _keys(select: exp.Expr, correlations: Sequence[Correlation]) -> list[exp.Expr]:
    """All keys of the state, each once: those of GROUP BY or DISTINCT, and those that a correlation looks up."""
    keys: list[exp.Expr] = []
    for key in (*_own_keys(select), *(one.inner for one in correlations)):
        if key not in keys:
            keys.append(key.copy())
    return keys


def _own_keys(select: exp.Expr) -> Iterator[exp.Expr]:
    group = select.args.get("group")
    if group is not None:
        yield from _leaf_keys(group.expressions)
    elif _is_plain_distinct(select):
        yield from without_bounds([output.this for output in select.expressions])


def _is_plain_distinct(select: exp.Expr) -> bool:
    """Whether DISTINCT itself is the grouping, and not what happens to the groups."""
    return not (select.args.get("group") or select.args.get("having") or aggregate_calls(select))


def _leaf_keys(elements: Sequence[exp.Expr]) -> Iterator[exp.Expr]:
    for element in elements:
        if isinstance(element, (exp.Tuple, *_SETS)):
            yield from _leaf_keys(element.expressions)
        else:
            yield element


# -- below: the stream pipelines ------------------------------------------------------------------------------


def _rows(select: exp.Expr, where: exp.Expr | None, keys: Sequence[exp.Expr], kept: Kept) -> exp.Select:
    """The SELECT that turns rows into a partial."""
    outputs = [_output(exact(key), f"k{place}") for place, key in enumerate(keys)]
    outputs += [_output(one.node, f"p{place}") for place, one in enumerate(kept.computed)]
    made = exp.Select(
        expressions=outputs,
        from_=select.args["from_"].copy(),
        joins=[join.copy() for join in select.args.get("joins") or []],
    )
    if where is not None:
        made.set("where", exp.Where(this=where))
    if keys:
        made.set("group", exp.Group(expressions=[key.copy() for key in keys]))
    return made


def _output(node: exp.Expr, name: str) -> exp.Alias:
    return exp.Alias(this=node, alias=identifier(name))


def _pipelines(rows: exp.Select, place: exp.Expr) -> tuple[StreamPipeline, ...]:
    pipelines = tuple(_pipeline(with_ctes(one, place)) for one in by_stream(rows))
    if any(not _same_windows(one.window, pipelines[0].window) for one in pipelines):
        raise different_windows(place)
    return pipelines


def _same_windows(one: StreamWindow | None, other: StreamWindow | None) -> bool:
    return one == other or (one is not None and other is not None and one.measures == other.measures)


def _pipeline(tree: exp.Expr) -> StreamPipeline:
    stream = streams_in(tree)[0]
    tables = [one for one in tree.find_all(exp.Table) if stream_of(one) == stream]
    windows = [window_of(table) for table in tables]
    for table in tables:
        annotate(table, window=None)
    if any(not _same_windows(one, windows[0]) for one in windows):
        raise different_windows(tree)
    return StreamPipeline(stream, tuple(one for one in relations_read(tree) if one != stream), tree, windows[0])


# -- above: reading the state ---------------------------------------------------------------------------------


def _finalizing(select: exp.Expr, lift: Lift) -> exp.Select:
    """Each row of the state is a group: what HAVING asks of groups, WHERE asks of rows."""
    made = _outputs(select, lift)
    having = select.args.get("having")
    if having is not None:
        made.set("where", exp.Where(this=lift(having.this)))
    if not _is_plain_distinct(select):
        _keep_distinct(select, made, lift)
    return made


def _regrouping(select: exp.Expr, lift: Lift, correlations: Sequence[Correlation]) -> exp.Select:
    """The state is merged by fewer keys than it is kept by."""
    made = _outputs(select, lift)
    for clause in ("group", "having"):
        if select.args.get(clause) is not None:
            made.set(clause, lift(select.args[clause]))
    if correlations:
        equalities = [
            typed(exp.EQ(this=lift.key(one.inner), expression=one.outer.copy()), BOOLEAN) for one in correlations
        ]
        made.set("where", exp.Where(this=conjunction(equalities)))
    _keep_distinct(select, made, lift)
    return made


def _keep_distinct(select: exp.Expr, made: exp.Select, lift: Lift) -> None:
    if select.args.get("distinct") is not None:
        made.set("distinct", lift(select.args["distinct"]))


def _outputs(select: exp.Expr, lift: Lift) -> exp.Select:
    outputs = [_output(lift(output.this), output.alias) for output in select.expressions]
    made = exp.Select(expressions=outputs)
    if select.args.get("order") is not None:
        made.set("order", lift(select.args["order"]))
    for clause in ("limit", "offset", "with_"):
        made.set(clause, select.args.get(clause))
    return made

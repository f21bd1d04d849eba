"""Expressions of the table of aggregates as nodes of a bound tree: translation prints them like calls of functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlglot import exp

from millpond.plan.partials import UnitTemplates
from millpond.plan.units import Units
from millpond.sql.casts import plain_cast
from millpond.sql.functions import Function, Overload
from millpond.sql.nodes import annotate, note_of
from millpond.sql.spark_text import spark_text
from millpond.sql.templates import fill_prepared, parsed
from millpond.types import INTERVAL, SqlType

_SPARK_AGGREGATES = frozenset(
    "COUNT SUM AVG MIN MAX VAR_POP BOOL_AND BOOL_OR BIT_AND BIT_OR BIT_XOR ANY_VALUE MIN_BY MAX_BY HLL_SKETCH_AGG"
    " COLLECT_LIST COLLECT_SET REGR_COUNT REGR_AVGX REGR_AVGY REGR_SXX REGR_SYY REGR_SXY".split()
)
"""Spark's aggregates in the `compute` templates: FILTER goes to each."""


def exact(node: exp.Expr) -> exp.Expr:
    """The node in exactly the Spark type of its SQL type: what is stored must not depend on how Spark widens."""
    kind = note_of(node).type
    is_stored = isinstance(node, exp.Column) and note_of(node).relation is not None
    return node.copy() if kind is None or is_stored else plain_cast(node.copy(), kind)


def is_storable(columns: Sequence[exp.Column]) -> bool:
    """Whether there are columns, and files can hold them."""
    return bool(columns) and all(note_of(column).type not in (None, INTERVAL) for column in columns)


@dataclass(frozen=True)
class ComputedPartial:
    """Prints a partial: a template over its inputs, whose call has them as arguments and, if `filtered`, a condition
    after them. `units` are the templates of a numeric input that is in units."""

    template: str
    inputs: int
    filtered: bool
    units: UnitTemplates | None = None

    def __call__(self, node: exp.Anonymous) -> exp.Expr:
        arguments = list(node.expressions)
        template = parsed(self.template).copy()
        if self.filtered:
            template = _filtered(template, arguments.pop())
        return fill_prepared(template, arguments)

    def of_units(self, given: Units) -> tuple[ComputedPartial, list[exp.Expr]] | None:
        """The same computed of its input in units, and the arguments for that; None if there is no way."""
        template = None if self.units is None else self.units.of(given.most)
        if template is None:
            return None
        unit = exp.Literal.number(f"{Decimal(1).scaleb(-given.scale):f}")
        return ComputedPartial(template, 2, self.filtered), [given.node, unit]


def partial_node(
    compute: str, inputs: Sequence[exp.Expr], condition: exp.Expr | None, units: UnitTemplates | None = None
) -> exp.Expr:
    """What a chunk keeps, over nodes of the bound tree: `SUM(_1)` -> `SUM(s.a) FILTER (WHERE ...)` when printed."""
    filters = [] if condition is None else [condition]
    build = ComputedPartial(compute, len(inputs), bool(filters), units)
    return _call("partial", build, [*map(exact, inputs), *filters], None, aggregates=True)


def scalar_node(template: str, arguments: Sequence[exp.Expr], result: SqlType) -> exp.Expr:
    """A template over nodes of the bound tree, computed for each row."""

    def build(node: exp.Anonymous) -> exp.Expr:
        return fill_prepared(parsed(template).copy(), node.expressions)

    return _call(template, build, arguments, result, aggregates=False)


def final_node(
    finalize: str, kept: Mapping[str, exp.Expr], direct: Sequence[exp.Expr], result: SqlType, merges: Mapping[str, str]
) -> exp.Expr:
    """The answer of an aggregate over its kept columns; with `merges`, over several rows of them."""
    names = list(kept)

    def build(node: exp.Anonymous) -> exp.Expr:
        columns = dict(zip(names, node.expressions, strict=False))
        merged = {name: named(merges[name], columns) if merges else column for name, column in columns.items()}
        return fill_prepared(named(finalize, merged), node.expressions[len(names) :])

    return _call("finalize", build, [*kept.values(), *direct], result, aggregates=bool(merges))


def _call(
    name: str,
    build: Callable[[exp.Anonymous], exp.Expr],
    arguments: Sequence[exp.Expr],
    result: SqlType | None,
    *,
    aggregates: bool,
) -> exp.Expr:
    overload = Overload((), "any", build)
    function = Function(name, "aggregate" if aggregates else "scalar", (overload,))
    node = exp.Anonymous(this=name, expressions=[argument.copy() for argument in arguments])
    return annotate(node, type=result, function=function, overload=overload)


def merge_text(merge: str, columns: Mapping[str, str]) -> str:
    """A merge rule as Spark SQL over the columns of the state.

    >>> merge_text("SUM(high) + SHIFTRIGHT(SUM(low), 32)", {"high": "p0", "low": "p1"})
    'SUM(p0) + SHIFTRIGHT(SUM(p1), 32)'
    """
    nodes = {name: exp.Column(this=exp.to_identifier(column)) for name, column in columns.items()}
    return spark_text(named(merge, nodes))


def named(template: str, nodes: Mapping[str, exp.Expr]) -> exp.Expr:
    """The template with nodes in the place of the columns it names."""
    tree = parsed(template).copy()
    if isinstance(tree, exp.Column) and tree.name in nodes:
        return nodes[tree.name].copy()
    for column in list(tree.find_all(exp.Column)):
        if column.name in nodes:
            column.replace(nodes[column.name].copy())
    return tree


def _filtered(template: exp.Expr, condition: exp.Expr) -> exp.Expr:
    """FILTER around each of Spark's aggregates in a template."""
    calls = [one for one in template.find_all(exp.Anonymous) if one.name in _SPARK_AGGREGATES]
    for one in calls:
        bare = exp.Anonymous(this=one.this, expressions=one.expressions)
        made = exp.Filter(this=bare, expression=exp.Where(this=condition.copy()))
        if one is template:
            return made
        one.replace(made)
    return template

"""Cuts the calls that remember rows of earlier cycles out of a cycle query.

    SELECT p.seg, moving_avg(p.speed, 5) OVER (PARTITION BY p.seg ORDER BY p.minute) < 40 FROM p WHERE p.speed > 0

    feed             SELECT p.seg AS f0, p.speed AS f1, p.minute AS f2 FROM p WHERE p.speed > 0
    in its place     SELECT q.f0, avg(q.h0, q.h1) < 40 FROM history_0 AS q

1. A SELECT with such calls becomes a *feed*: what it delivers without them, what they are called with, and what they
   are partitioned and ordered by. It keeps FROM, WHERE, GROUP BY and HAVING; window functions that forget go along.
2. The feed's rows and those that are remembered make the results (`millpond.run.key_history`): columns h0, h1, ...
3. The SELECT is replaced by one over the feed's rows with the results; DISTINCT, ORDER BY and LIMIT stay there.

Inner SELECTs are cut first, so that an outer feed may read what an inner cut made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from sqlglot import exp

from millpond.errors import not_supported
from millpond.plan.ctes import prune, with_ctes
from millpond.plan.expressions import scalar_node
from millpond.plan.history import HistoryCall, HistoryCut, HistoryWindow, SortKey
from millpond.plan.pipelines import STATE_SCHEMA
from millpond.plan.plain_tuples import plain_tuples
from millpond.plan.trees import alias_of, free_columns, own_items, stream_of
from millpond.python_function import PythonFunction
from millpond.relation import TID, Column, Relation
from millpond.sql import functions
from millpond.sql.bind import BoundQuery, OutputColumn, RelationRef
from millpond.sql.from_clause import relations_of
from millpond.sql.grouping import has_aggregate
from millpond.sql.history_functions import MOVING, is_history, rows_of
from millpond.sql.nodes import annotate, identifier, is_typed, note_of, position_of, type_of, typed, walk_own
from millpond.types import BIGINT, INTERVAL, SqlType

_AVERAGES = {
    "numeric": "CAST(CAST(_1 AS DECIMAL(38,18)) / _2 AS DECIMAL(38,16))",
    "real": "_1 / _2",
    "double": "_1 / _2",
}
_INTEGER_AVERAGE = "CAST(CAST(_1 AS DECIMAL(38,16)) / _2 AS DECIMAL(38,16))"
"""An average of the sum and the number of values, as avg spells it; by the type of the values."""

_BELOW = ("joins", "where", "group", "having")
"""The clauses that window functions come after, besides FROM."""

_ROWS = "q"
"""The alias under which a SELECT reads the rows of its feed."""


def cut_history(bound: BoundQuery, known: Sequence[HistoryCut] = ()) -> tuple[tuple[HistoryCut, ...], BoundQuery]:
    """The cuts of a query, each after those that it reads, and what is left of it.

    What was cut in the same way for another branch of a query, as in a common WITH, is computed and remembered once.
    """
    tree = bound.tree.copy()
    prune(tree)
    cuts: list[HistoryCut] = []
    for select in list(_selects(tree)):
        if any(is_history(node) for part in _above(select) for node in walk_own(part)):
            name = f"history_{len({*known, *cuts})}"
            cutter = _Cutter(select, name, bound)
            made = cutter.cut()
            cut = next((one for one in known if one.is_like(made)), made)
            cuts.append(cut)
            upper = cutter.upper(cut.relation)
            if select is tree:
                tree = upper
            else:
                select.replace(upper)
    if not cuts:
        return (), bound
    prune(tree)
    return tuple(cuts), _over(tree, bound)


def _selects(node: exp.Expr) -> Iterator[exp.Select]:
    """All SELECTs, each after those that it reads."""
    with_ = node.args.get("with_")
    for child in [
        *([with_] if with_ is not None else ()),
        *(one for one in node.iter_expressions() if one is not with_),
    ]:
        yield from _selects(child)
    if isinstance(node, exp.Select):
        yield node


def _above(select: exp.Select) -> list[exp.Expr]:
    """What may call window functions: the outputs, and the sort keys."""
    order = select.args.get("order")
    return [*select.expressions, *(order.expressions if order is not None else ())]


def _over(tree: exp.Expr, bound: BoundQuery, columns: Sequence[OutputColumn] | None = None) -> BoundQuery:
    found = [note_of(table).relation for table in relations_of(tree)]
    relations = tuple(RelationRef(relation) for relation in found if relation is not None)
    return replace(bound, tree=tree, relations=relations, columns=bound.columns if columns is None else tuple(columns))


_Same: TypeAlias = tuple[tuple[str, ...], tuple[SortKey, ...], int]
"""What calls over the same rows have in common: keys, order and, for one that is alone, a number."""


@dataclass
class _Cutter:
    """Cuts one SELECT."""

    select: exp.Select
    name: str
    bound: BoundQuery
    feed: list[exp.Expr] = field(default_factory=list)
    results: list[Column] = field(default_factory=list)
    windows: dict[_Same, list[HistoryCall]] = field(default_factory=dict)

    def cut(self) -> HistoryCut:
        self._check()
        self.outputs = [self._lowered_output(output) for output in self.select.expressions]
        order = self.select.args.get("order")
        self.order = None if order is None else self._lowered(order)
        distinct = self.select.args.get("distinct")
        self.distinct = None if distinct is None else self._lowered(distinct)
        windows = tuple(
            HistoryWindow(f"{self.name}.{place}", keys, order, tuple(calls))
            for place, ((keys, order, _), calls) in enumerate(self.windows.items())
        )
        columns = [OutputColumn(f"f{place}", type_of(node)) for place, node in enumerate(self.feed)]
        shown = (*(Column(one.name, one.type) for one in columns), *self.results)
        relation = Relation(0, self.name, "system", shown, schema=STATE_SCHEMA)
        feed = self._feed()
        return HistoryCut(_over(feed, self.bound, columns), windows, relation, plain_tuples(feed))

    def upper(self, relation: Relation) -> exp.Select:
        """What stands in the place of the SELECT."""
        alias = exp.TableAlias(this=identifier(_ROWS))
        table = exp.Table(this=identifier(relation.name), db=identifier(STATE_SCHEMA), alias=alias)
        made = exp.Select(expressions=self.outputs, from_=exp.From(this=annotate(table, relation=relation)))
        kept = {part: self.select.args.get(part) for part in ("limit", "offset")}
        for part, value in {**kept, "order": self.order, "distinct": self.distinct}.items():
            made.set(part, value)
        return made

    def _check(self) -> None:
        place = next(node for part in _above(self.select) for node in walk_own(part) if is_history(node))
        what = f"the function {place.this.name}"
        if free_columns(self.select):
            raise not_supported(f"{what} in a subquery that depends on the row around it", position=position_of(place))
        parent: exp.Expr | None = self.select
        while parent is not None:
            if isinstance(parent, exp.With) and parent.args.get("recursive"):
                raise not_supported(f"{what} in WITH RECURSIVE", position=position_of(place))
            parent = parent.parent

    # -- the feed ------------------------------------------------------------------------------------------------

    def _feed(self) -> exp.Expr:
        parts = {part: self.select.args.get(part) for part in ("from_", *_BELOW)}
        outputs = [exp.Alias(this=node, alias=identifier(f"f{place}")) for place, node in enumerate(self.feed)]
        made = exp.Select(expressions=outputs, **{part: _copied(value) for part, value in parts.items()})
        return with_ctes(made, self.select)

    def _fed(self, node: exp.Expr) -> str:
        """The feed's column for an expression over the rows of FROM."""
        if type_of(node) == INTERVAL:
            hint = "Use its length: extract(epoch FROM ...)."
            message = "an interval beside a function that remembers rows"
            raise not_supported(message, hint=hint, position=position_of(node))
        if node not in self.feed:
            self.feed.append(node.copy())
        return f"f{self.feed.index(node)}"

    # -- the calls -----------------------------------------------------------------------------------------------

    def _called(self, window: exp.Window) -> exp.Expr:
        """What stands in the place of a call: an expression over the columns that it makes."""
        call, rows = window.this, rows_of(window)
        function = note_of(call).function
        assert function is not None
        values = call.expressions[:1] if call.name in (*MOVING, "lag_cycle") else call.expressions
        by = _keys(window, function.python)
        keys = tuple(self._fed(_comparable(key, "PARTITION BY")) for key in by)
        if call.name == "change_point":
            values = [_comparable(value, "change_point") for value in values]
        arguments = tuple(self._fed(value) for value in values)
        order = tuple(self._sort_keys(window))
        columns, made = self._results(call, type_of(window))
        alone = len(self.results) if function.python is not None else 0
        same = self.windows.setdefault((keys, order, alone), [])
        same.append(HistoryCall(call.name, arguments, rows, columns, function.python))
        return made

    def _sort_keys(self, window: exp.Window) -> list[SortKey]:
        """What rows are ordered by: what was written, and then the order of arrival where there is one."""
        order = window.args.get("order")
        written = list(order.expressions) if order is not None else []
        keys = [
            SortKey(self._fed(one.this), bool(one.args.get("desc")), bool(one.args.get("nulls_first")))
            for one in written
        ]
        arrival = self._arrival()
        return keys if arrival is None else [*keys, SortKey(self._fed(arrival))]

    def _arrival(self) -> exp.Column | None:
        streams = [item for item in own_items(self.select) if stream_of(item) is not None]
        if len(streams) != 1 or self._groups():
            return None
        # Without a relation in its note: to be put in order is not to be read, and needs no privilege.
        return typed(exp.Column(this=identifier(TID.name), table=identifier(alias_of(streams[0]))), TID.type)

    def _groups(self) -> bool:
        grouped = self.select.args.get("group") or self.select.args.get("having")
        return bool(grouped) or any(has_aggregate(part) for part in _above(self.select))

    def _results(self, call: exp.Anonymous, result: SqlType) -> tuple[tuple[Column, ...], exp.Expr]:
        if call.name != "moving_avg":
            column = self._result(result)
            return (column,), _column(column)
        value = type_of(call.expressions[0])
        function = functions.find("sum")
        assert function is not None
        summed = functions.match(function, [value], call.expressions[:1])
        assert summed is not None, "what has an average has a sum"
        # The sum of floats is not rounded before it is divided.
        columns = (self._result(result if value.is_float else summed.result), self._result(BIGINT))
        template = _AVERAGES.get(value.name, _INTEGER_AVERAGE)
        return columns, scalar_node(template, [_column(one) for one in columns], result)

    def _result(self, kind: SqlType) -> Column:
        self.results.append(Column(f"h{len(self.results)}", kind))
        return self.results[-1]

    # -- what is above -------------------------------------------------------------------------------------------

    def _lowered_output(self, output: exp.Expr) -> exp.Expr:
        return exp.Alias(this=self._lowered(output.this), alias=output.args["alias"].copy())

    def _lowered(self, node: exp.Expr) -> exp.Expr:
        """A copy that reads the feed's rows: calls become their results, and what has none in it becomes a column."""
        if is_history(node):
            assert isinstance(node, exp.Window)
            return self._called(node)
        if isinstance(node, exp.Column) and not node.args.get("table"):
            return node.copy()
        if is_typed(node) and not any(is_history(one) for one in walk_own(node)):
            constant = isinstance(node, exp.Literal) or (
                isinstance(node, exp.Cast) and isinstance(node.this, exp.Literal)
            )
            return node.copy() if constant else _read(self._fed(node), type_of(node))
        if isinstance(node, exp.Query):
            hint = "Call the function in a subquery in FROM."
            what = "a subquery beside a function that remembers rows, in one expression"
            raise not_supported(what, hint=hint, position=position_of(node))
        made = node.copy()
        for key, value in node.args.items():
            if isinstance(value, exp.Expr):
                made.set(key, self._lowered(value))
            elif isinstance(value, list):
                made.set(key, [self._lowered(one) if isinstance(one, exp.Expr) else one for one in value])
        return made


def _keys(window: exp.Window, python: PythonFunction | None) -> list[exp.Expr]:
    """What a window is partitioned by; for a stateful function, the arguments that are its keys."""
    if python is None:
        return list(window.args.get("partition_by") or ())
    pairs = zip(python.parameters, window.this.expressions, strict=True)
    return [argument for parameter, argument in pairs if parameter.name in python.keys]


def _comparable(node: exp.Expr, place: str) -> exp.Expr:
    if type_of(node).is_array:
        raise not_supported(f"an array in {place} of a function that remembers rows", position=position_of(node))
    return node


def _copied(value: object) -> object:
    if isinstance(value, list):
        return [one.copy() for one in value]
    return value.copy() if isinstance(value, exp.Expr) else value


def _read(name: str, kind: SqlType) -> exp.Column:
    return typed(exp.Column(this=identifier(name), table=identifier(_ROWS)), kind)


def _column(column: Column) -> exp.Column:
    return _read(column.name, column.type)

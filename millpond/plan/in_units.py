"""A stream pipeline whose numerics are read in units, as far as the files at hand allow.

1. Columns of base relations for which the greatest value is known may be read in units.
2. Partials that have a way to be computed of units, comparisons, and outputs of subqueries in FROM are turned into
   units wherever their operands can be (`units.py`).
3. A column that stands anywhere else is read as it is: begin again without it, until none is left over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from millpond.plan.expressions import ComputedPartial
from millpond.plan.units import ColumnUnits, Units, aligned, units_of
from millpond.sql.nodes import annotate, note_of
from millpond.sql.translate import relation_key

Place = tuple[str, str]
"""A column: the key of its relation or, of a subquery in FROM, its alias; and its name."""

_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Between)
_SUBQUERY = "subquery "
"""Before the alias of a subquery: no relation's key has a space that is not its own."""


@dataclass(frozen=True)
class InUnits:
    """The tree of a pipeline, and the columns of each relation that it wants to have in units."""

    tree: exp.Expr
    columns: Mapping[str, frozenset[str]]


def in_units(tree: exp.Expr, greatest: Mapping[str, Mapping[str, int]]) -> InUnits | None:
    """A pipeline in units, None if nothing in it can be. `greatest` has, by relation and column, how far from zero
    values are at most, in units."""
    if tree.find(exp.With) is not None or not _has_distinct_aliases(tree):
        return None
    readable: dict[Place, int] = {(key, name): most for key, known in greatest.items() for name, most in known.items()}
    refused: set[Place] = set()
    while True:
        attempt = _Attempt(
            tree.copy(), {place: most for place, most in readable.items() if place not in refused}, refused
        )
        attempt.select(attempt.tree)
        if not attempt.left_over:
            break
        refused |= attempt.left_over
    wanted = {place for place in attempt.used if place in readable}
    if not wanted:
        return None
    return InUnits(attempt.tree, {key: frozenset(name for own, name in wanted if own == key) for key, _ in wanted})


def _has_distinct_aliases(tree: exp.Expr) -> bool:
    """Whether an alias alone tells whose a column is."""
    items = (*tree.find_all(exp.Table), *tree.find_all(exp.Subquery))
    return max(Counter(item.alias_or_name for item in items if item.alias_or_name).values(), default=0) <= 1


class _Attempt:
    """One way through a tree, which is changed: what came into units, and what stands where it cannot."""

    def __init__(self, tree: exp.Expr, readable: Mapping[Place, int], refused: set[Place]) -> None:
        self.tree = tree
        self.used: set[Place] = set()
        self.left_over: set[Place] = set()
        self._readable, self._refused = readable, refused
        self._keys = {table.alias_or_name: _key(table) for table in tree.find_all(exp.Table)}
        self._outputs: dict[Place, Units] = {}
        self._column: ColumnUnits = self._read

    def select(self, select: exp.Expr, alias: str = "") -> None:
        """A SELECT; of one that has an alias in FROM, outputs come into units too."""
        sources = [select.args.get("from_"), *(select.args.get("joins") or [])]
        for source in sources:
            if source is not None:
                self._below(source)
        for output in list(select.expressions):
            if not (alias and self._offer(alias, output)):
                self._walk(output)
        for clause in ("where", "group", "having", "order", "distinct", "limit", "offset", "qualify", "windows"):
            for node in _listed(select.args.get(clause)):
                self._walk(node)

    def _offer(self, alias: str, output: exp.Expr) -> bool:
        """Put an output into units, if somebody may want it so."""
        place = (_SUBQUERY + alias, output.alias_or_name)
        if place in self._refused or not isinstance(output, exp.Alias):
            return False
        units = units_of(output.this, self._column)
        if units is None or not units.has_column:
            return False
        output.set("this", units.node)
        self._conditions(units.node)
        self._outputs[place] = units
        return True

    def _read(self, column: exp.Column) -> Units | None:
        """A column that is read in units."""
        key = self._keys.get(column.table)
        place = (key or _SUBQUERY + column.table, column.name)
        made = annotate(column.copy(), type=None)
        if place in self._readable:
            kind = note_of(column).type
            assert kind is not None
            self.used.add(place)
            return Units(made, kind.decimal_scale, self._readable[place], has_column=True)
        output = self._outputs.get(place)
        if output is None:
            return None
        self.used.add(place)
        return Units(made, output.scale, output.most, has_column=True)

    # -- the nodes of a tree ---------------------------------------------------------------------------------------

    def _walk(self, node: exp.Expr) -> None:
        if isinstance(node, exp.Subquery) and node.alias and isinstance(node.this, exp.Select) and _is_source(node):
            self.select(node.this, "" if node.args["alias"].columns else node.alias)
        elif isinstance(node, exp.Select):
            self.select(node)
        elif isinstance(node, exp.Column):
            self._leave(node)
        elif not (self._partial(node) or self._comparison(node)):
            self._below(node)

    def _below(self, node: exp.Expr) -> None:
        for child in list(node.iter_expressions()):
            self._walk(child)

    def _leave(self, column: exp.Column) -> None:
        """A column where nothing knows units."""
        place = (self._keys.get(column.table) or _SUBQUERY + column.table, column.name)
        if place in self._readable or place in self._outputs:
            self.left_over.add(place)

    def _comparison(self, node: exp.Expr) -> bool:
        """`price < 24` -> `price < 2400`; whether a value is NULL does not depend on its units."""
        if isinstance(node, exp.In) and node.expressions:
            parts = [node.this, *node.expressions]
        elif isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
            parts = [node.this]
        elif isinstance(node, _COMPARISONS):
            parts = [part for part in map(node.args.get, ("this", "expression", "low", "high")) if part is not None]
        else:
            return False
        found = aligned([units_of(part, self._column) for part in parts])
        if found is None:
            return False
        for part, units in zip(parts, found, strict=True):
            part.replace(units.node)
            self._conditions(units.node)
        return True

    def _partial(self, node: exp.Expr) -> bool:
        """A partial of one input, of which the table of aggregates knows how it is computed of units."""
        overload = note_of(node).overload
        computed = overload.spark if overload is not None else None
        if overload is None or not isinstance(computed, ComputedPartial) or computed.inputs != 1:
            return False
        argument = node.expressions[0]
        units = self._for_partial(argument)
        made = None if units is None else computed.of_units(units)
        if units is None or made is None:
            return False
        call, arguments = made
        conditions = node.expressions[1:]
        node.set("expressions", [*arguments, *conditions])
        annotate(node, overload=type(overload)((), "any", call))
        self._conditions(units.node)
        for condition in conditions:
            self._walk(condition)
        return True

    def _for_partial(self, argument: exp.Expr) -> Units | None:
        """An argument in units of its type, whose sums have them; a numeric without a scale has those of its value."""
        units = units_of(argument, self._column)
        is_cast = isinstance(argument, exp.Cast) and note_of(argument).type is None
        kind = note_of(argument.this if is_cast else argument).type
        if units is None or kind is None or kind.name != "numeric" or not units.has_column:
            return None
        if kind.precision is None:
            return units
        return units.at_scale(kind.decimal_scale) if units.scale <= kind.decimal_scale else None

    def _conditions(self, node: exp.Expr) -> None:
        """Conditions inside of what was put into units, which were left as they are."""
        for case in list(node.find_all(exp.Case)):
            for branch in case.args["ifs"]:
                self._walk(branch.this)


def _key(table: exp.Table) -> str:
    relation = note_of(table).relation
    return "" if relation is None else relation_key(relation.schema, relation.name)


def _is_source(node: exp.Subquery) -> bool:
    return isinstance(node.parent, (exp.From, exp.Join))


def _listed(found: object) -> list[exp.Expr]:
    if isinstance(found, list):
        return found
    return [found] if isinstance(found, exp.Expr) else []

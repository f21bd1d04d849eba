"""Tables that a stream is joined with are joined with each other before, where a key of one of them says that no row
becomes several by it, and a condition that some do not count.

    SELECT o.day, sum(s.cost) FROM s, orders o, customers c WHERE s.id = o.id AND o.customer = c.id AND c.type = 2 ...

    static pipeline   SELECT o.day, o.id FROM orders o, customers c WHERE o.customer = c.id AND c.type = 2
    in its place      SELECT "o+c".day, sum(s.cost) FROM s, static_0 "o+c" WHERE s.id = "o+c".id ...

Its rows are not more than those of the one table whose key nothing is compared with, and each chunk of the stream
meets only those that count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from millpond.plan.conditions import ask_too, asked_of, conjuncts_of, implied, is_about, take_out
from millpond.plan.expressions import is_storable
from millpond.plan.trees import alias_of, free_columns, own_items
from millpond.relation import Relation
from millpond.sql.nodes import annotate, conjunction, identifier, note_of, typed
from millpond.types import BOOLEAN

_EXACT = ("smallint", "integer", "bigint", "text", "date", "timestamp", "timestamptz", "uuid")
"""Types whose equal values are the same, so that one column can stand for another."""

ColumnName = tuple[str, str]
"""The alias of an item, and a column of it."""

Lift = Callable[[exp.Select, Sequence[exp.Column], str], exp.Table]
"""Makes a SELECT with some output columns a static pipeline; what reads it in FROM, under an alias."""


def join_statics(select: exp.Select, lift: Lift) -> None:
    """Put the joins of tables that are to come first in the place of the tables."""
    tables = _tables(select)
    _ask_what_is_implied(select, tables)
    classes = _Classes.of(asked_of(select))
    parents = _parents(tables, classes)
    for root in [alias for alias in tables if alias not in parents]:
        members = [alias for alias in tables if _root(alias, parents) == root]
        if len(members) > 1 and any(is_about(one, {alias}) for one in asked_of(select) for alias in members):
            _put_join(select, [tables[alias] for alias in members], classes, lift)


def _tables(select: exp.Select) -> dict[str, exp.Table]:
    """The tables in FROM, by alias; none where a side of a join is optional."""
    if any(join.side for join in select.args.get("joins") or []):
        return {}
    items = [item for item in own_items(select) if item.parent is not None and item.parent.parent is select]
    tables = [item for item in items if isinstance(item, exp.Table)]
    return {alias_of(one): one for one in tables if (found := note_of(one).relation) and found.kind == "table"}


def _ask_what_is_implied(select: exp.Select, tables: Iterable[str]) -> None:
    """What a condition on several relations implies of a table can be asked of it before it is joined."""
    found = [implied(one, alias) for one in asked_of(select) for alias in tables]
    ask_too(select, [one for one in found if one is not None])


# -- what is equal ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Classes:
    """Sets of columns that conditions make equal."""

    sets: tuple[frozenset[ColumnName], ...]
    columns: Mapping[ColumnName, exp.Column]

    @classmethod
    def of(cls, conditions: Iterable[exp.Expr]) -> _Classes:
        sets: list[frozenset[ColumnName]] = []
        columns: dict[ColumnName, exp.Column] = {}
        for left, right in _equalities(conditions):
            pair = {(one.table, one.name): one for one in (left, right)}
            columns |= pair
            joined = [one for one in sets if not one.isdisjoint(pair)]
            sets = [one for one in sets if one not in joined] + [frozenset(pair).union(*joined)]
        return cls(tuple(sets), columns)

    def equal_to(self, column: ColumnName) -> frozenset[ColumnName]:
        return next((one for one in self.sets if column in one), frozenset())


def _equalities(conditions: Iterable[exp.Expr]) -> Iterator[tuple[exp.Column, exp.Column]]:
    """The pairs of columns of one exact type that are compared."""
    for condition in conditions:
        left, right = condition.args.get("this"), condition.args.get("expression")
        if isinstance(condition, exp.EQ) and isinstance(left, exp.Column) and isinstance(right, exp.Column):
            kind = note_of(left).type
            if kind is not None and kind == note_of(right).type and kind.name in _EXACT and left.table and right.table:
                yield left, right


# -- who belongs to whom ---------------------------------------------------------------------------------------------


def _parents(tables: Mapping[str, exp.Table], classes: _Classes) -> dict[str, str]:
    """For each table that another one's rows have one row of at most, that other one; without circles."""
    parents: dict[str, str] = {}
    for alias, table in tables.items():
        relation = note_of(table).relation
        assert relation is not None
        for other in tables:
            if other != alias and _root(other, parents) != alias and _has_one(relation, alias, other, classes):
                parents[alias] = other
                break
    return parents


def _has_one(relation: Relation, alias: str, other: str, classes: _Classes) -> bool:
    """Whether a row of the other table is joined with one row of this at most: by all columns of a key."""
    return any(
        all(any(equal == other for equal, _ in classes.equal_to((alias, name))) for name in key.columns)
        for key in relation.keys
    )


def _root(alias: str, parents: Mapping[str, str]) -> str:
    while alias in parents:
        alias = parents[alias]
    return alias


# -- the join --------------------------------------------------------------------------------------------------------


def _put_join(select: exp.Select, members: Sequence[exp.Table], classes: _Classes, lift: Lift) -> None:
    """Join tables before, with all conditions that are about them alone."""
    aliases = {alias_of(one) for one in members}
    conditions = [one for one in asked_of(select) if is_about(one, aliases)]
    used = _used_elsewhere(select, aliases, conditions)
    if not is_storable(used):
        return
    inner = [one.copy() for one in conditions]
    inner += _implied_equalities(aliases, classes, _Classes.of(inner))
    names = _Names(_Classes.of(inner))
    for column in used:
        names.add(column)
    made = exp.Select(
        expressions=[exp.Alias(this=column, alias=identifier(name)) for name, column in names.outputs.items()],
        from_=exp.From(this=members[0].copy()),
        joins=[exp.Join(this=one.copy()) for one in members[1:]],
        where=exp.Where(this=conjunction(inner)),
    )
    alias = _new_alias(select, members)
    for column in used:
        column.replace(_output(names, column, alias))
    take_out(select, conditions)
    ask_too(select, [one for join in _joins(select, members[1:]) for one in conjuncts_of(join.args.get("on"))])
    outputs = [_output(names, column, alias) for column in names.outputs.values()]
    members[0].replace(lift(made, outputs, alias))
    for join in _joins(select, members[1:]):
        join.pop()
    ask_too(select, ())  # Two conditions may have become the same.


def _used_elsewhere(select: exp.Select, aliases: set[str], conditions: Sequence[exp.Expr]) -> list[exp.Column]:
    """The columns of tables that more than some conditions ask for."""
    asked = {id(column) for one in conditions for column in one.find_all(exp.Column)}
    found = [column for part in select.iter_expressions() for column in free_columns(part) if column.table in aliases]
    return [column for column in found if id(column) not in asked]


def _output(names: _Names, column: exp.Column, alias: str) -> exp.Column:
    """A column of a table as one of the join."""
    name = names.of(column)
    return annotate(exp.Column(this=identifier(name), table=identifier(alias)), type=note_of(column).type)


class _Names:
    """The columns that a join delivers; one stands for all that are equal to it."""

    def __init__(self, classes: _Classes) -> None:
        self._classes = classes
        self._names: dict[ColumnName, str] = {}
        self.outputs: dict[str, exp.Column] = {}

    def add(self, column: exp.Column) -> None:
        name, key = column.name, (column.table, column.name)
        if any(known in self._names for known in self._classes.equal_to(key)) or key in self._names:
            return
        while name in self.outputs:
            name += "_"
        self._names[key] = name
        self.outputs[name] = column.copy()

    def of(self, column: exp.Column) -> str:
        key = (column.table, column.name)
        return next(self._names[one] for one in (key, *self._classes.equal_to(key)) if one in self._names)


def _implied_equalities(aliases: set[str], classes: _Classes, known: _Classes) -> list[exp.Expr]:
    """Those between tables of the join that follow only by way of others, as of a stream."""
    found: list[exp.Expr] = []
    for one in classes.sets:
        own = sorted(key for key in one if key[0] in aliases)
        for other in own[1:]:
            if own[0] not in known.equal_to(other):
                left, right = classes.columns[own[0]].copy(), classes.columns[other].copy()
                found.append(typed(exp.EQ(this=left, expression=right), BOOLEAN))
    return found


def _new_alias(select: exp.Select, members: Sequence[exp.Table]) -> str:
    taken = {str(one.this.this) for one in select.find_all(exp.TableAlias) if one.this}
    alias = "+".join(alias_of(one) for one in members)
    while alias in taken:
        alias += "+"
    return alias


def _joins(select: exp.Select, items: Sequence[exp.Expr]) -> list[exp.Join]:
    """The joins with items of FROM."""
    return [join for join in select.args.get("joins") or [] if any(join.this is one for one in items)]

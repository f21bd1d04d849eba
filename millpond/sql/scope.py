"""Names: what the catalog offers to a query, and what each level of a query can see."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Protocol

from sqlglot import exp

from millpond.errors import SqlState, closest, not_supported
from millpond.python_function import PythonFunction
from millpond.relation import TID, Relation
from millpond.sql.nodes import annotate, error, fold, identifier, placed, position_of
from millpond.types import SqlType


@dataclass(frozen=True)
class Moment:
    """Of when a table is read: a time, or after a `cycle` of a query, which may be named. `value` is the time, or the
    number of the cycle, as a bound expression without columns."""

    value: exp.Expr
    cycle: bool
    query: str | None = None
    position: int | None = None


class Names(Protocol):
    """What binding asks of the catalog and the session."""

    def relation(self, schema: str | None, name: str) -> Relation | None:
        """The relation of that name, `schema` being None if none was written."""

    def relation_names(self) -> Iterable[str]:
        """The names of all relations, for hints."""

    def function(self, name: str) -> PythonFunction | None:
        """The function of that name, if somebody has defined it."""

    def constant(self, name: str) -> datetime | date | str:
        """The value, during this statement, of `now` (with a zone), `current_user`, `current_database`,
        `current_schema` or `version`."""

    def call(self, name: str, arguments: Sequence[str | None]) -> str | None:
        """What a function of the session gives, and does; None is NULL."""

    def past(self, table: Relation, moment: Moment) -> Relation:
        """A table as it was, or an error if that is not known any more."""


@dataclass(frozen=True)
class NamesAsCreated:
    """Names as a view saw them when it was created: columns that came later are not part of `*`."""

    names: Names
    sees: Mapping[str, tuple[str, ...]]

    def relation(self, schema: str | None, name: str) -> Relation | None:
        found = self.names.relation(schema, name)
        if found is None or name not in self.sees or found.schema != "public":
            return found
        seen = self.sees[name]
        return replace(found, columns=tuple(replace(c, hidden=c.name not in seen) for c in found.columns))

    def relation_names(self) -> Iterable[str]:
        return self.names.relation_names()

    def function(self, name: str) -> PythonFunction | None:
        return self.names.function(name)

    def constant(self, name: str) -> datetime | date | str:
        return self.names.constant(name)

    def call(self, name: str, arguments: Sequence[str | None]) -> str | None:
        return self.names.call(name, arguments)

    def past(self, table: Relation, moment: Moment) -> Relation:  # noqa: ARG002
        hint = "Read the past where it is needed, in a query over the view or the query's table."
        raise not_supported("AS OF in a definition or a subscription", hint=hint, position=moment.position)


@dataclass(frozen=True)
class ScopeColumn:
    """A column of a FROM item: its name in this scope, and the name under which the item delivers it.

    What has one value for all rows is a `constant` in its place.
    """

    name: str
    type: SqlType
    source: str
    hidden: bool = False
    constant: exp.Expr | None = None


@dataclass(frozen=True)
class FromItem:
    """A relation, subquery or function in FROM, under its alias."""

    alias: str
    columns: tuple[ScopeColumn, ...]
    relation: Relation | None = None

    def reference(self, column: ScopeColumn) -> exp.Expr:
        """A bound reference to one of its columns."""
        if column.constant is not None:
            return column.constant.copy()
        node = exp.Column(this=identifier(column.source), table=identifier(self.alias))
        return annotate(node, type=column.type, relation=self.relation)


@dataclass(frozen=True)
class VisibleColumn:
    """A column that can be named without its table: a reference, or the merged column of JOIN ... USING."""

    name: str
    node: exp.Expr
    hidden: bool = False


@dataclass(frozen=True)
class Cte:
    """A common table expression in sight: its columns, and whether it is the one being defined recursively."""

    name: str
    columns: tuple[ScopeColumn, ...]


@dataclass
class Scope:
    """What one SELECT can see: its FROM items, the scope around it, and the CTEs above it."""

    names: Names
    parent: Scope | None = None
    items: list[FromItem] = field(default_factory=list)
    visible: list[VisibleColumn] = field(default_factory=list)
    ctes: dict[str, Cte] = field(default_factory=dict)
    unreachable: list[FromItem] = field(default_factory=list)
    is_part: bool = False
    is_subquery: bool = False

    def child(self) -> Scope:
        """A scope for a query in WITH, which sees what this one sees."""
        return Scope(self.names, parent=self)

    def subquery(self) -> Scope:
        """A scope for a query in an expression, or behind LATERAL: there is one answer for each of our rows."""
        return Scope(self.names, parent=self, is_subquery=True)

    def part(self) -> Scope:
        """A scope for a query in parentheses or one side of a set operation: no further in than this one."""
        return Scope(self.names, parent=self, is_part=True)

    def isolated(self) -> Scope:
        """A scope for a FROM subquery without LATERAL: it sees our CTEs and what surrounds us, not our items."""
        return Scope(self.names, parent=replace(self, items=[], visible=[], unreachable=self.items))

    def cte(self, name: str) -> Cte | None:
        return next((scope.ctes[name] for scope, _ in self._around() if name in scope.ctes), None)

    def add(self, item: FromItem, node: exp.Expr | None = None) -> list[VisibleColumn]:
        """Adds a FROM item, and returns its columns as they are seen without its name."""
        if any(other.alias == item.alias for other in self.items):
            message = f'table name "{item.alias}" specified more than once'
            raise error(SqlState.DUPLICATE_ALIAS, message, node)
        self.items.append(item)
        return [VisibleColumn(column.name, item.reference(column), column.hidden) for column in item.columns]

    def arrival(self) -> exp.Expr | None:
        """The order in which rows came: the tid of the stream in FROM, if there is exactly one."""
        streams = [item for item in self.items if item.relation is not None and item.relation.kind == "stream"]
        if len(streams) != 1:
            return None
        found = next((column for column in streams[0].columns if column.name == TID.name), None)
        return streams[0].reference(found) if found is not None else None

    def resolve(self, node: exp.Column) -> exp.Expr:
        """The bound reference that a written column name stands for, here or in a scope around."""
        if node.args.get("table"):
            return placed(self._resolve_qualified(node), node)
        return placed(self._resolve_plain(node), node)

    def item_named(self, table: exp.Identifier) -> tuple[FromItem, int]:
        """The FROM item that the qualifier of a column or star names, and how many queries out it is."""
        alias = fold(table)
        for scope, levels in self._around():
            for item in scope.items:
                if item.alias == alias:
                    self._check_reach(scope, table)
                    return item, levels
        raise self._missing_item(alias, table)

    def _around(self) -> Iterator[tuple[Scope, int]]:
        """This scope and those around it, each with how many queries out it is."""
        scope: Scope | None = self
        levels = 0
        while scope is not None:
            yield scope, levels
            levels += not scope.is_part
            scope = scope.parent

    def _check_reach(self, owner: Scope, node: exp.Expr) -> None:
        """Raise if a scope around is beyond the subquery around ours: Spark resolves no column from there."""
        inside = itertools.takewhile(lambda scope: scope is not owner, (scope for scope, _ in self._around()))
        if sum(scope.is_subquery for scope in inside) > 1:
            what = "a column of a query that is two subqueries further out"
            hint = "Let the subquery in between deliver it: add (SELECT column) AS name to its FROM clause."
            raise not_supported(what, hint=hint, position=position_of(node))

    def _resolve_qualified(self, node: exp.Column) -> exp.Expr:
        item, levels = self.item_named(node.args["table"])
        name = fold(node.this)
        columns = [column for column in item.columns if column.name == name]
        if len(columns) > 1:
            raise error(SqlState.AMBIGUOUS_COLUMN, f'column reference "{name}" is ambiguous', node)
        if not columns:
            hint = closest(name, (column.name for column in item.columns))
            raise error(SqlState.UNDEFINED_COLUMN, f"column {item.alias}.{name} does not exist", node, hint=hint)
        return annotate(item.reference(columns[0]), levels_up=levels)

    def _resolve_plain(self, node: exp.Column) -> exp.Expr:
        name = fold(node.this)
        for scope, levels in self._around():
            matches = [column for column in scope.visible if column.name == name]
            if len(matches) > 1:
                raise error(SqlState.AMBIGUOUS_COLUMN, f'column reference "{name}" is ambiguous', node)
            if matches:
                self._check_reach(scope, node)
                return _outward(matches[0].node.copy(), levels)
            if any(item.alias == name for item in scope.items):
                raise not_supported("a whole row as a value", hint="Name its columns.", position=position_of(node))
        raise error(SqlState.UNDEFINED_COLUMN, f'column "{name}" does not exist', node, hint=self._hint(name))

    def _hint(self, name: str) -> str | None:
        return closest(name, [column.name for scope, _ in self._around() for column in scope.visible])

    def _missing_item(self, alias: str, node: exp.Expr) -> Exception:
        for scope, _ in self._around():
            if any(item.alias == alias for item in scope.unreachable):
                return error(
                    SqlState.UNDEFINED_TABLE, f'invalid reference to FROM-clause entry for table "{alias}"', node
                )
            for item in scope.items:
                if item.relation is not None and item.relation.name == alias:
                    message = f'invalid reference to FROM-clause entry for table "{alias}"'
                    hint = f'Perhaps you meant to reference the table alias "{item.alias}".'
                    return error(SqlState.UNDEFINED_TABLE, message, node, hint=hint)
        message = f'missing FROM-clause entry for table "{alias}"'
        return error(SqlState.UNDEFINED_TABLE, message, node)


def _outward(node: exp.Expr, levels: int) -> exp.Expr:
    for part in node.find_all(exp.Column):
        annotate(part, levels_up=levels)
    return node

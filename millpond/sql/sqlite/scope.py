"""Names of a query over the system catalogs: what each level of it can see, and what is known of the whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from millpond.errors import SqlState, closest
from millpond.pgcatalog.declarations import Declared
from millpond.sql.nodes import error, fold
from millpond.types import SqlType


class UntranslatableError(Exception):
    """The query has something that SQLite is not asked; another way may answer it."""


@dataclass(frozen=True)
class Sql:
    """An expression in SQLite's SQL and the type that it has in PostgreSQL.

    `literal` is the text of a string literal, `parameter` the number of a parameter without a value: their place may
    still decide the type.
    """

    text: str
    type: SqlType
    literal: str | None = None
    parameter: int | None = None


@dataclass(frozen=True)
class Column:
    """A column that a name can mean; a hidden one is not part of `*`."""

    name: str
    sql: Sql
    hidden: bool = False


@dataclass(frozen=True)
class Source:
    """An item of FROM by the name that it has there; `schema` if that may stand before the name."""

    name: str
    columns: tuple[Column, ...]
    schema: str | None = None

    def column(self, name: str) -> Column | None:
        return next((column for column in self.columns if column.name == name), None)

    @property
    def shown(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if not column.hidden)


Outputs = Sequence[tuple[str, SqlType]]
"""The columns of a query: names and types."""


@dataclass
class Statement:
    """What is found out on the way: the relations that it reads, the types of its parameters."""

    relations: dict[tuple[str, str], Declared] = field(default_factory=dict)
    parameters: dict[int, SqlType] = field(default_factory=dict)
    items: int = 0

    def new_item(self) -> str:
        """A name for an item of FROM that the query has not named."""
        self.items += 1
        return f"item_{self.items}"


@dataclass
class Scope:
    """One level of a query. `joined` are the columns that USING made one."""

    statement: Statement
    ctes: Mapping[str, Outputs] = field(default_factory=dict)
    parent: Scope | None = None
    sources: list[Source] = field(default_factory=list)
    joined: set[str] = field(default_factory=set)
    extra: dict[str, str] = field(default_factory=dict)
    """Functions of the select list that return sets: what they are joined as, by their text."""

    def inner(self, ctes: Mapping[str, Outputs] | None = None, *, lateral: bool = True) -> Scope:
        """A level below, which sees this one unless it stands in FROM."""
        return Scope(self.statement, {**self.ctes, **(ctes or {})}, self if lateral else self.parent)

    def levels(self) -> Iterator[Scope]:
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def resolve(self, node: exp.Column) -> Sql:
        """What a column's name means."""
        name = fold(node.this)
        table = fold(node.args["table"]) if node.args.get("table") else None
        schema = fold(node.args["db"]) if node.args.get("db") else None
        for scope in self.levels():
            found = scope._matches(name, table, schema)
            if len(found) > 1 and not (table is None and name in scope.joined):
                raise error(SqlState.AMBIGUOUS_COLUMN, f'column reference "{name}" is ambiguous', node)
            if found:
                return found[0].sql
        raise self._missing(node, name, table)

    def source(self, name: str, schema: str | None, node: exp.Expr) -> Source:
        """The item of FROM that a name before a point or a star means."""
        for scope in self.levels():
            for source in scope.sources:
                if source.name == name and schema in (None, source.schema):
                    return source
        raise error(SqlState.UNDEFINED_TABLE, f'missing FROM-clause entry for table "{name}"', node)

    def _matches(self, name: str, table: str | None, schema: str | None) -> list[Column]:
        candidates = [one for one in self.sources if table in (None, one.name) and schema in (None, one.schema)]
        found = [column for source in candidates if (column := source.column(name)) is not None]
        plain = [column for column in found if not column.hidden]
        return plain if table is None and plain else found

    def _missing(self, node: exp.Column, name: str, table: str | None) -> Exception:
        if table is not None:
            source = self.source(table, None, node)
            hint = closest(name, [column.name for column in source.shown])
            return error(SqlState.UNDEFINED_COLUMN, f"column {table}.{name} does not exist", node, hint=hint)
        if any(source.name == name for scope in self.levels() for source in scope.sources):
            return UntranslatableError("a whole row")
        names = [column.name for scope in self.levels() for source in scope.sources for column in source.shown]
        return error(SqlState.UNDEFINED_COLUMN, f'column "{name}" does not exist', node, hint=closest(name, names))


def quoted(name: str) -> str:
    """A name in SQLite's quotes."""
    return '"' + name.replace('"', '""') + '"'


def string(text: str) -> str:
    """A text as SQLite's literal."""
    return "'" + text.replace("'", "''") + "'"

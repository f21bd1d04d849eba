"""Binding, the step between parsing and planning: names and types of a query resolved against the catalog.

    bind         SQL tree -> bound tree: every column qualified, every node typed, casts written out, `*` expanded,
                 plain views unfolded. It still means what PostgreSQL means, and planners work on it.
    translate    bound tree -> Spark SQL, by the passes in `translate.py`.

Trees must come from the dialect `millpond.sql.dialect.PostgresText`. The input is never changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property

from sqlglot import exp

from millpond.errors import InternalError, MillpondError, SqlState, not_supported
from millpond.python_function import PythonFunction
from millpond.relation import Column, Read, Relation
from millpond.sql.coercion import assignment, resolve_unknown
from millpond.sql.constants import Constants
from millpond.sql.context import BoundColumns, Clause, Context
from millpond.sql.expressions import RULES
from millpond.sql.from_clause import relations_of
from millpond.sql.nodes import note_of, type_of
from millpond.sql.queries import bind_open, bind_query
from millpond.sql.query_parts import settled
from millpond.sql.reads import check_same_for_all, reads_of
from millpond.sql.scope import FromItem, Moment, Names, NamesAsCreated, Scope, ScopeColumn
from millpond.sql.translate import Translation, by_name, expression_text, query_text, relation_key
from millpond.types import SqlType

__all__ = [
    "BoundExpression",
    "BoundQuery",
    "Names",
    "OutputColumn",
    "RelationRef",
    "assignment",
    "bind",
    "bind_definition",
    "bind_expression",
]


@dataclass(frozen=True)
class OutputColumn:
    """A column of a result, by the name PostgreSQL would show."""

    name: str
    type: SqlType


@dataclass(frozen=True)
class RelationRef:
    """One occurrence of a base relation in a query. `key` is its name in the mapping given to `to_spark`."""

    relation: Relation

    @property
    def key(self) -> str:
        return relation_key(self.relation.schema, self.relation.name)


@dataclass(frozen=True)
class BoundQuery:
    """A query with all names and types resolved; the outputs at the places `carried` pass a row on without reading."""

    tree: exp.Expr
    columns: tuple[OutputColumn, ...]
    relations: tuple[RelationRef, ...]
    names: Names
    carried: frozenset[int] = frozenset()

    @cached_property
    def reads(self) -> tuple[Read, ...]:
        """What somebody has to be allowed to read for this."""
        return reads_of(self.tree, self.carried)

    def check_same_for_all(self) -> None:
        """Raise if what the query gives depends on who asks."""
        check_same_for_all(self.tree)

    def to_spark(self, spark_names: Mapping[str, str], constants: Constants | None = None) -> str:
        """Spark SQL with output columns c0, c1, ...; `spark_names` maps each relation's key to a temporary view.

        `constants` are those of another moment than that of the binding.
        """
        types = tuple(column.type for column in self.columns)
        values = constants or self.names.constant
        return query_text(self.tree, types, Translation(by_name(spark_names), values, self.names.call))


@dataclass(frozen=True)
class BoundExpression:
    """A scalar expression over the columns of one relation."""

    tree: exp.Expr
    type: SqlType
    names: Names

    def to_spark(self, spark_names: Mapping[str, str] | None = None) -> str:
        """The expression as Spark SQL; the relation's columns are qualified with its name."""
        return expression_text(self.tree, Translation(by_name(spark_names or {}), self.names.constant, self.names.call))


def bind(
    query: exp.Expr, scope: Names, *, position_offset: int = 0, targets: Sequence[Column] | None = None
) -> BoundQuery:
    """The query bound. With `targets`, the columns of an INSERT, its output is cast for storing in them."""
    try:
        bound = bind_open(query, Scope(scope))
        bound = settled(bound) if targets is None else _assigned(bound, targets)
    except MillpondError as raised:
        raise _moved(raised, position_offset) from raised.__cause__
    except RecursionError:
        raise _too_deep() from None
    columns = tuple(OutputColumn(*pair) for pair in zip(bound.names, bound.types, strict=True))
    relations = [note_of(table).relation for table in relations_of(bound.tree)]
    references = tuple(RelationRef(relation) for relation in relations if relation is not None)
    return BoundQuery(bound.tree, columns, references, scope)


def bind_definition(query: exp.Expr, names: Names) -> BoundQuery:
    """A query that is evaluated again and again, and so reads what is, not what was."""
    return bind(query, NamesAsCreated(names, {}))


def bind_expression(
    expression: exp.Expr,
    columns: Sequence[Column],
    names: Names | None = None,
    *,
    relation_name: str,
    clause: str = "this place",
    target: Column | None = None,
    position_offset: int = 0,
) -> BoundExpression:
    """A scalar expression over one relation's columns: a CHECK, a DEFAULT, SET or RETURNING.

    With `target` it is cast for storing in that column. `clause` is how errors call the place.
    """
    offered = names if names is not None else _NoNames()
    scope = Scope(offered)
    shown = tuple(ScopeColumn(one.name, one.type, one.name, one.hidden) for one in columns)
    scope.visible = scope.add(FromItem(relation_name, shown))
    context = Context(scope, Clause(clause, subqueries=names is not None), RULES, bind_query)
    try:
        bound = context.bind(expression)
        if target is not None:
            bound = assignment(bound, type_of(bound), target.type, column=target.name)
        bound = resolve_unknown(bound)
    except MillpondError as raised:
        raise _moved(raised, position_offset) from raised.__cause__
    except RecursionError:
        raise _too_deep() from None
    return BoundExpression(bound, type_of(bound), offered)


def _assigned(query: BoundColumns, targets: Sequence[Column]) -> BoundColumns:
    """The output of an INSERT's query, cast to the columns it is stored in."""
    if len(targets) != len(query.types):
        raise InternalError("a query and the columns of its INSERT differ in number")
    for select in _selects(query.tree):
        for output, target in zip(select.expressions, targets, strict=True):
            output.set("this", assignment(output.this, type_of(output.this), target.type, column=target.name))
    types = tuple(target.type for target in targets)
    return BoundColumns(query.tree, query.names, types, query.sources)


def _selects(tree: exp.Expr) -> list[exp.Expr]:
    if isinstance(tree, exp.SetOperation):
        return [*_selects(tree.this), *_selects(tree.expression)]
    return _selects(tree.this) if isinstance(tree, exp.Subquery) else [tree]


def _moved(raised: MillpondError, offset: int) -> MillpondError:
    if raised.position is not None:
        raised.position += offset
    return raised


def _too_deep() -> MillpondError:
    return MillpondError(SqlState.PROGRAM_LIMIT_EXCEEDED, "statement is nested too deeply")


class _NoNames:
    """A catalog without relations, for expressions that may not have subqueries."""

    def relation(self, schema: str | None, name: str) -> Relation | None:  # noqa: ARG002
        return None

    def relation_names(self) -> tuple[str, ...]:
        return ()

    def function(self, name: str) -> PythonFunction | None:  # noqa: ARG002
        return None

    def constant(self, name: str) -> datetime | date | str:
        raise InternalError(f"no value for {name} here")

    def call(self, name: str, arguments: Sequence[str | None]) -> str | None:  # noqa: ARG002
        raise not_supported(f"the function {name} in the definition of a relation")

    def past(self, table: Relation, moment: Moment) -> Relation:  # noqa: ARG002
        raise InternalError(f"no past of {table.name} here")

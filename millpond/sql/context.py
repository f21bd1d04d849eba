"""Where an expression stands while it is bound: what it can see, and what its clause allows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from millpond.errors import InternalError, MillpondError, SqlState, not_supported
from millpond.sql.coercion import coerce
from millpond.sql.nodes import error, position_of, type_of
from millpond.sql.scope import Scope, ScopeColumn
from millpond.sql.sql_types import UNKNOWN, type_name
from millpond.types import BOOLEAN, SqlType

Rule = Callable[[exp.Expr, "Context"], exp.Expr]


@dataclass(frozen=True)
class Clause:
    """A clause, in the words PostgreSQL's errors use for it, and what may be called in it."""

    words: str
    aggregates: bool = False
    windows: bool = False
    subqueries: bool = True


SELECT = Clause("SELECT", aggregates=True, windows=True)
ORDER_BY = Clause("ORDER BY", aggregates=True, windows=True)
HAVING = Clause("HAVING", aggregates=True)
WHERE = Clause("WHERE")
GROUP_BY = Clause("GROUP BY")
JOIN = Clause("JOIN conditions")
FILTER = Clause("FILTER")
VALUES = Clause("VALUES")
LIMIT = Clause("LIMIT")
FROM_FUNCTION = Clause("functions in FROM")
WINDOW = Clause("window definitions", aggregates=True)
WINDOW_CALL = Clause("window function calls", aggregates=True)


@dataclass(frozen=True)
class BoundColumns:
    """A bound query: its tree, and its output columns by PostgreSQL's names and by the unique ones in the tree."""

    tree: exp.Expr
    names: tuple[str, ...]
    types: tuple[SqlType, ...]
    sources: tuple[str, ...]

    def scope_columns(self, names: Sequence[str] = ()) -> tuple[ScopeColumn, ...]:
        """The columns as a FROM item shows them, the first ones renamed to `names`."""
        shown = [*names, *self.names[len(names) :]]
        return tuple(
            ScopeColumn(name, sql_type, source)
            for name, sql_type, source in zip(shown, self.types, self.sources, strict=True)
        )


@dataclass(frozen=True)
class Context:
    """Everything that binding one expression needs. Rules call `bind` for the expressions below theirs."""

    scope: Scope
    clause: Clause
    rules: Mapping[type[exp.Expr], Rule]
    bind_query: Callable[[exp.Expr, Scope], BoundColumns]
    windows: Mapping[str, exp.Window] = field(default_factory=dict)
    inside_aggregate: bool = False
    under_over: bool = False

    def bind(self, node: exp.Expr) -> exp.Expr:
        """The node bound and typed. A node kind without a rule is refused."""
        rule = self.rules.get(type(node))
        if rule is None:
            raise not_supported(_kind_words(node), position=position_of(node))
        bound = rule(node, self)
        if bound is node:
            raise InternalError(f"{type(node).__name__} was returned unbound")
        return bound

    def bind_all(self, nodes: Sequence[exp.Expr]) -> list[exp.Expr]:
        return [self.bind(node) for node in nodes]

    def subquery(self, node: exp.Expr) -> BoundColumns:
        """A query inside an expression, bound; it may refer to what the expression sees."""
        if not self.clause.subqueries:
            raise not_supported_subquery(self.clause, node)
        return self.bind_query(node, self.scope.subquery())

    def within(self, clause: Clause) -> Context:
        return replace(self, clause=clause)

    def condition(self, node: exp.Expr, what: str) -> exp.Expr:
        """A bound expression that must be boolean, `what` naming the place: WHERE, AND, JOIN/ON."""
        bound = self.bind(node)
        if type_of(bound) not in (BOOLEAN, UNKNOWN):
            message = f"argument of {what} must be type boolean, not type {type_name(type_of(bound))}"
            raise error(SqlState.DATATYPE_MISMATCH, message, node)
        return coerce(bound, BOOLEAN)


def not_supported_subquery(clause: Clause, node: exp.Expr) -> MillpondError:
    return error(SqlState.FEATURE_NOT_SUPPORTED, f"cannot use subquery in {clause.words.removesuffix('s')}", node)


def _kind_words(node: exp.Expr) -> str:
    """A node kind in words: the name of its class, cut at its capitals.

    >>> _kind_words(exp.JSONExtract())
    'the expression json extract'
    """
    name = type(node).__name__
    words = "".join(
        f" {letter.lower()}" if letter.isupper() and place and not name[place - 1].isupper() else letter.lower()
        for place, letter in enumerate(name)
    )
    return f"the expression {words.replace('jsone', 'json e')}"

"""Translating expressions: a rule for each kind of node, in a scope."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from sqlglot import exp

from millpond.sql.sqlite.scope import Scope, Sql, UntranslatableError
from millpond.sql.sqlite.types import coerced
from millpond.types import BOOLEAN, SqlType


class Subquery(Protocol):
    """Translates a query below; gives its text, its first column named c0, and the types of its columns."""

    def __call__(self, node: exp.Expr, scope: Scope) -> tuple[str, list[SqlType]]: ...


@dataclass(frozen=True)
class Expressions:
    """Translates expressions in a scope; queries inside them go to `subquery`."""

    scope: Scope
    subquery: Subquery
    rules: Mapping[type[exp.Expr], Rule]

    def __call__(self, node: exp.Expr) -> Sql:
        rule = self.rules.get(type(node))
        if rule is None:
            raise UntranslatableError(type(node).__name__)
        return rule(self, node)

    def all(self, nodes: Iterable[exp.Expr]) -> list[Sql]:
        return [self(node) for node in nodes]

    def query(self, node: exp.Expr) -> tuple[str, list[SqlType]]:
        inner = node.this if isinstance(node, exp.Subquery) and not node.args.get("alias") else node
        return self.subquery(inner, self.scope.inner())

    def condition(self, node: exp.Expr) -> str:
        """A condition; a literal there is a boolean."""
        return coerced(self(node), BOOLEAN, self.scope.statement).text


Rule = Callable[[Expressions, exp.Expr], Sql]

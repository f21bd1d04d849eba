"""The relations of the catalog that a query mentions, by name, before it is bound."""

from __future__ import annotations

from sqlglot import exp

from millpond.sql.nodes import fold
from millpond.sql.statements import QueryDefinition
from millpond.sql.stream_windows import stream_named_in


def relation_names(query: exp.Expr) -> set[str]:
    """The names of the catalog's relations that a query mentions, itself or in its CTEs.

    >>> from millpond.sql.dialect import parse_query
    >>> sorted(relation_names(parse_query("WITH a AS (SELECT * FROM a), c AS (SELECT * FROM a) SELECT * FROM c, b")))
    ['a', 'b']
    >>> relation_names(parse_query("SELECT * FROM TUMBLE(s, 10)"))
    {'s'}
    """
    tables = [table for table in query.find_all(exp.Table) if isinstance(table.this, exp.Identifier)]
    named = {fold(table.this) for table in tables if table.args.get("db") or not _names_cte(table)}
    return named | {name for table in query.find_all(exp.Table) if (name := stream_named_in(table)) is not None}


def names_in(defined: QueryDefinition) -> set[str]:
    """The names of the relations that a continuous query mentions: those that it reads and those that it writes."""
    return {insert.target.name for insert in defined.inserts}.union(*map(relation_names, defined.sources))


def _names_cte(table: exp.Table) -> bool:
    """Whether a table in FROM is a CTE in sight: of a query around it, but neither one it stands in nor a later one."""
    name = fold(table.this)
    below: exp.Expr = table
    around = table.parent
    while around is not None:
        seen: list[exp.Expr] = []
        if isinstance(around, exp.With):
            seen = around.expressions[: around.expressions.index(below)]
        elif around.args.get("with_") is not None and below is not around.args["with_"]:
            seen = around.args["with_"].expressions
        if any(fold(cte.args["alias"].this) == name for cte in seen):
            return True
        below, around = around, around.parent
    return False

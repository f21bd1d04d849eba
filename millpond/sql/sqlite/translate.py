"""Which queries are about the pond itself, and what they are in SQLite's SQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp

from millpond.errors import MillpondError, SqlState
from millpond.pgcatalog.declarations import Declared, find
from millpond.sql import functions as spark_functions
from millpond.sql.nodes import fold
from millpond.sql.signatures import function_name
from millpond.sql.sqlite import functions
from millpond.sql.sqlite.queries import QueryTranslator
from millpond.sql.sqlite.scope import Scope, Statement, UntranslatableError
from millpond.types import SqlType


@dataclass(frozen=True)
class CatalogQuery:
    """A query for SQLite: its text, the names and types of its columns, the relations that it reads, and the types of
    the parameters that were left to it."""

    text: str
    columns: tuple[tuple[str, SqlType], ...]
    relations: tuple[Declared, ...]
    parameters: Mapping[int, SqlType]


def catalog_query(tree: exp.Expr) -> CatalogQuery | None:
    """The query for SQLite; None if it is about something else, or has what SQLite is not asked.

    >>> from millpond.sql.dialect import parse_query
    >>> catalog_query(parse_query("SELECT relname FROM pg_class c LIMIT 2")).text
    'SELECT "c"."relname" AS "relname" FROM pg_catalog."pg_class" AS "c" LIMIT coalesce(2, -1)'
    >>> catalog_query(parse_query("SELECT 1 FROM station"))
    """
    if not _is_about_the_catalog(tree):
        return None
    statement = Statement()
    try:
        text, outputs = QueryTranslator(final=True)(tree, Scope(statement))
    except UntranslatableError:
        return None
    except RecursionError:
        raise MillpondError(SqlState.PROGRAM_LIMIT_EXCEEDED, "statement is nested too deeply") from None
    return CatalogQuery(text, tuple(outputs), tuple(statement.relations.values()), statement.parameters)


def _is_about_the_catalog(tree: exp.Expr) -> bool:
    relations = list(_relations(tree))
    if relations:
        return all(find(schema, name) is not None for schema, name in relations)
    return any(_is_only_here(call) for call in tree.find_all(exp.Anonymous)) or any(
        _is_object_cast(cast) for cast in tree.find_all(exp.Cast)
    )


def _relations(tree: exp.Expr) -> Iterator[tuple[str | None, str]]:
    """The relations that a query names, without its CTEs and functions."""
    ctes = {fold(cte.args["alias"].this) for cte in tree.find_all(exp.CTE)}
    for table in tree.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier):
            continue
        schema = fold(table.args["db"]) if table.args.get("db") else None
        if schema is not None or fold(table.this) not in ctes:
            yield schema, fold(table.this)


def _is_only_here(call: exp.Anonymous) -> bool:
    name = function_name(call)
    return functions.is_of_catalog(name) and spark_functions.find(name) is None and name != "pg_typeof"


def _is_object_cast(cast: exp.Cast) -> bool:
    return "reg" in cast.args["to"].sql("postgres").lower()

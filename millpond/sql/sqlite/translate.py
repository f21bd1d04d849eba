"""Which queries are about the pond itself, and what they are in SQLite's SQL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from millpond.errors import MillpondError, SqlState
from millpond.namespace import DATABASE
from millpond.pgcatalog.declarations import Declared, find
from millpond.sql import functions as spark_functions
from millpond.sql.nodes import fold
from millpond.sql.signatures import function_name
from millpond.sql.sqlite import functions
from millpond.sql.sqlite.queries import QueryTranslator
from millpond.sql.sqlite.scope import Scope, Statement, UntranslatableError
from millpond.sql.sqlite.types import OBJECTS
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
    """Whether all relations are of the catalog, or there are none and functions are. The first other one ends it: most
    queries are not, and each of them is asked this."""
    has_relations = False
    for table in tree.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier):
            continue
        if table.args.get("catalog") and fold(table.args["catalog"]) != DATABASE[1]:
            return False  # Who binds it refuses other databases.
        schema = fold(table.args["db"]) if table.args.get("db") else None
        if find(schema, fold(table.this)) is not None:
            has_relations = True
        elif schema is not None or not _is_cte(fold(table.this), tree):
            return False
    if has_relations:
        return True
    return any(map(_is_only_here, tree.find_all(exp.Anonymous))) or any(map(_is_object_cast, tree.find_all(exp.Cast)))


def _is_cte(name: str, tree: exp.Expr) -> bool:
    return any(fold(cte.args["alias"].this) == name for cte in tree.find_all(exp.CTE))


def _is_only_here(call: exp.Anonymous) -> bool:
    name = function_name(call)
    return functions.is_of_catalog(name) and spark_functions.find(name) is None


def _is_object_cast(cast: exp.Cast) -> bool:
    """Whether it is to regclass or its kin."""
    written = cast.args["to"]
    name = written.name if isinstance(written, exp.ObjectIdentifier) else str(written.args.get("kind") or "")
    return name.lower().rpartition(".")[2] in OBJECTS

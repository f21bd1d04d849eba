"""From the bound tree to Spark SQL: a tuple of small passes, each a pure tree -> tree rewrite, then the printer.

The bound tree means what PostgreSQL means; after the last pass it means the same to Spark. Passes that change the
shape of queries come first, then expressions from the inside out, then the names that Spark sees.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from sqlglot import exp

from millpond.errors import InternalError, not_supported
from millpond.sql import spark_expressions, spark_queries
from millpond.sql.casts import plain_cast, rewrite_cast, spark_type
from millpond.sql.constants import Constants, put_constants
from millpond.sql.empty_totals import empty_total
from millpond.sql.nodes import annotate, identifier, note_of, position_of, type_of
from millpond.sql.session_functions import Calls, put_session_calls
from millpond.sql.spark_calls import rewrite_call
from millpond.sql.spark_groups import subqueries_above_groups
from millpond.sql.spark_text import spark_text
from millpond.sql.templates import fill, rewrite
from millpond.types import INTERVAL, SqlType

Pass = Callable[[exp.Expr], exp.Expr]


def _each(rule: Pass) -> Pass:
    """A pass that applies a rule to every node, innermost first."""
    return partial(rewrite, rule=rule)


QUERY_PASSES: tuple[Pass, ...] = (
    _each(spark_queries.drop_parentheses),
    _each(spark_queries.distinct_on),
    _each(spark_queries.sort_by_subqueries),
    _each(subqueries_above_groups),
    _each(spark_queries.values_as_selects),
    _each(spark_queries.series),
    _each(spark_queries.quantified),
    _each(spark_queries.constant_keys),
    _each(empty_total),
)
"""Passes that change the shape of a query."""

EXPRESSION_PASSES: tuple[Pass, ...] = (
    _each(spark_expressions.compare_intervals),
    _each(spark_expressions.literals),
    _each(spark_expressions.patterns),
    _each(spark_expressions.extract),
    _each(rewrite_call),
    _each(spark_expressions.arithmetic),
    _each(rewrite_cast),
)
"""Passes over expressions. Each leaves types in place for those after it."""


@dataclass(frozen=True)
class Translation:
    """What a translation needs besides the tree: Spark's names of the relations, the statement's constants, and what
    functions of the session give."""

    relations: Callable[[exp.Table], str]
    constants: Constants
    calls: Calls


def translate(tree: exp.Expr, translation: Translation) -> exp.Expr:
    """The tree after all passes, ready to be printed."""
    _refuse_windows(tree)
    made = put_constants(tree.copy(), translation.constants)
    made = put_session_calls(made, translation.calls)
    for one in (*QUERY_PASSES, *EXPRESSION_PASSES):
        made = one(made)
    return rewrite(made, partial(_name_relation, translation))


def _refuse_windows(tree: exp.Expr) -> None:
    """Windows that the planner of views has not taken out have no meaning to Spark."""
    for table in tree.find_all(exp.Table):
        window = note_of(table).window
        if window is not None:
            what = f"{window.kind.upper()} in a query that is not a view"
            raise not_supported(what, hint="Create a view, or filter by time.", position=position_of(table))


def query_text(tree: exp.Expr, types: tuple[SqlType, ...], translation: Translation) -> str:
    """A query as Spark SQL, its output columns c0, c1, ... of exactly the given types."""
    made = spark_queries.unambiguous_aliases(translate(tree, translation))
    return spark_text(_numbered(made, types))


def expression_text(tree: exp.Expr, translation: Translation) -> str:
    """A scalar expression as Spark SQL, of exactly its type."""
    return spark_text(_delivered(translate(tree, translation), type_of(tree)))


def _numbered(tree: exp.Expr, types: tuple[SqlType, ...]) -> exp.Expr:
    """`SELECT a AS x FROM t ORDER BY x` -> `SELECT a AS c0 FROM t ORDER BY c0`."""
    order = tree.args.get("order")
    if not isinstance(tree, exp.Select) or (order is not None and INTERVAL in types):
        return _wrapped(tree, types)
    renamed = {output.alias: f"c{place}" for place, output in enumerate(tree.expressions)}
    for key in order.find_all(exp.Column) if order is not None else ():
        if not key.args.get("table"):
            key.set("this", identifier(renamed[key.name]))
    outputs = [
        exp.Alias(this=_delivered(output.this, sql_type), alias=identifier(renamed[output.alias]))
        for output, sql_type in zip(tree.expressions, types, strict=True)
    ]
    tree.set("expressions", outputs)
    return tree


def _wrapped(tree: exp.Expr, types: tuple[SqlType, ...]) -> exp.Expr:
    """The query as a subquery `q` that is only renamed and cast: Spark keeps the order of its rows."""
    columns = [f"c{place}" for place in range(len(types))]
    outputs = [
        exp.Alias(
            this=_delivered(exp.Column(this=identifier(column), table=identifier("q")), sql_type),
            alias=identifier(column),
        )
        for column, sql_type in zip(columns, types, strict=True)
    ]
    alias = exp.TableAlias(this=identifier("q"), columns=[identifier(column) for column in columns])
    return exp.Select(expressions=outputs, from_=exp.From(this=exp.Subquery(this=tree, alias=alias)))


def _delivered(node: exp.Expr, sql_type: SqlType) -> exp.Expr:
    """A value in the form in which it leaves Spark: its column's type, or for an interval Spark's text of it.

    `values.intervals` reads that text; Spark has no Arrow form for an interval of months, days and time.
    """
    if sql_type == INTERVAL:
        return fill("CAST(_1 AS STRING)", node)
    note = note_of(node)
    is_stored = isinstance(node, exp.Column) and note.relation is not None and note.type == sql_type
    if is_stored or (isinstance(node, exp.Cast) and node.args["to"] == spark_type(sql_type)):
        return node
    return plain_cast(node, sql_type)


def _name_relation(translation: Translation, node: exp.Expr) -> exp.Expr:
    """A base relation under the name that Spark knows it by; a CTE under one that no relation can have."""
    if isinstance(node, exp.CTE):
        node.args["alias"].set("this", identifier(_cte_name(node.args["alias"].this.this)))
        return node
    if not isinstance(node, exp.Table):
        return node
    if isinstance(node.this, exp.Anonymous):
        return node
    spark_name = translation.relations(node) if note_of(node).relation is not None else _cte_name(node.name)
    made = exp.Table(this=identifier(spark_name), alias=node.args.get("alias"))
    return annotate(made, relation=note_of(node).relation)


def _cte_name(name: str) -> str:
    return f"with {name}"


def by_name(spark_names: Mapping[str, str]) -> Callable[[exp.Table], str]:
    """Looks up Spark's name of a relation by its own: `name`, or `schema.name` outside of public."""

    def look_up(table: exp.Table) -> str:
        relation = note_of(table).relation
        assert relation is not None
        key = relation_key(relation.schema, relation.name)
        if key not in spark_names:
            raise InternalError(f"relation {key} has no name in Spark")
        return spark_names[key]

    return look_up


def relation_key(schema: str, name: str) -> str:
    """How a relation is called in the mapping given to `to_spark`."""
    return name if schema == "public" else f"{schema}.{name}"

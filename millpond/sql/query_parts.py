"""Parts that queries of every kind share: the conversion of their output, row limits, positions, unique names."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from millpond.errors import SqlState, not_supported
from millpond.sql.coercion import coerce
from millpond.sql.context import BoundColumns, Context
from millpond.sql.nodes import error, position_of, type_of, unwrapped
from millpond.sql.sql_types import UNKNOWN
from millpond.types import BIGINT, TEXT, SqlType


def settled(query: BoundColumns) -> BoundColumns:
    """The query, its output of open type turned into text."""
    return converted(query, [TEXT if one == UNKNOWN else one for one in query.types])


def converted(query: BoundColumns, targets: Sequence[SqlType]) -> BoundColumns:
    """The query, its output columns cast to the given types."""
    if tuple(targets) != query.types:
        _convert(query.tree, targets)
    return BoundColumns(query.tree, query.names, tuple(targets), query.sources)


def _convert(tree: exp.Expr, targets: Sequence[SqlType]) -> None:
    if isinstance(tree, exp.SetOperation):
        _convert(tree.this, targets)
        _convert(tree.expression, targets)
    elif isinstance(tree, exp.Subquery):
        _convert(tree.this, targets)
    else:
        for output, target in zip(tree.expressions, targets, strict=True):
            if type_of(output.this) != target:
                output.set("this", coerce(output.this, target))


def unique_sources(names: Sequence[str]) -> list[str]:
    """Names that differ also where letter case does not count, made from names that may repeat.

    >>> unique_sources(["a", "A", "a"])
    ['a', 'A_1', 'a_2']
    """
    taken: set[str] = set()
    sources = []
    for name in names:
        source, number = name, 0
        while source.lower() in taken:
            number += 1
            source = f"{name}_{number}"
        taken.add(source.lower())
        sources.append(source)
    return sources


def is_position(written: exp.Expr) -> bool:
    """Whether a key is a number, also a negative one: it stands for an output column."""
    number = written.this if isinstance(written, exp.Neg) else written
    return isinstance(number, exp.Literal) and not number.is_string


def ordinal(written: exp.Expr, count: int, clause: str) -> int:
    """The output column, counted from 0, that a number in ORDER BY or GROUP BY stands for."""
    if not written.is_int:
        raise error(SqlState.SYNTAX_ERROR, f"non-integer constant in {clause}", written)
    place = -int(written.this.this) if isinstance(written, exp.Neg) else int(written.this)
    if not 1 <= place <= count:
        message = f"{clause} position {place} is not in select list"
        raise error(SqlState.INVALID_COLUMN_REFERENCE, message, written)
    return place - 1


def bind_limits(node: exp.Expr, tree: exp.Expr, context: Context) -> None:
    """LIMIT, FETCH FIRST and OFFSET: constants that Spark evaluates before it runs the query."""
    limit, offset = node.args.get("limit"), node.args.get("offset")
    if limit is not None:
        count = limit.args.get("count") if isinstance(limit, exp.Fetch) else limit.args.get("expression")
        options = limit.args.get("limit_options")
        if limit.args.get("expressions"):
            raise not_supported("LIMIT ... BY", position=position_of(node))
        if options is not None and (options.args.get("with_ties") or options.args.get("percent")):
            raise not_supported("FETCH ... WITH TIES", hint="Use rank() in a subquery.", position=position_of(node))
        count = exp.Literal.number(1) if count is None else count
        if not isinstance(count, exp.Null) and not (isinstance(count, exp.Var) and count.name.upper() == "ALL"):
            tree.set("limit", exp.Limit(expression=_row_count(count, "LIMIT", context)))
    if offset is not None and not isinstance(offset.expression, exp.Null):
        tree.set("offset", exp.Offset(expression=_row_count(offset.expression, "OFFSET", context)))


def _row_count(written: exp.Expr, clause: str, context: Context) -> exp.Expr:
    if any(isinstance(part, exp.Column) for part in written.walk()):
        message = f"argument of {clause} must not contain variables"
        raise error(SqlState.INVALID_COLUMN_REFERENCE, message, written)
    bound = context.bind(written)
    if not type_of(bound).is_number and type_of(bound) != UNKNOWN:
        message = f"argument of {clause} must be type bigint, not type {type_of(bound)}"
        raise error(SqlState.DATATYPE_MISMATCH, message, written)
    if isinstance(unwrapped(bound), exp.Neg):
        is_limit = clause == "LIMIT"
        sqlstate = SqlState.INVALID_ROW_COUNT_IN_LIMIT if is_limit else SqlState.INVALID_ROW_COUNT_IN_OFFSET
        raise error(sqlstate, f"{clause} must not be negative", written)
    return bound if type_of(bound).is_integer else coerce(bound, BIGINT)


def refuse_parts(node: exp.Expr, allowed: frozenset[str]) -> None:
    """Refuses every part of a query that is not among the known ones."""
    for part, value in node.args.items():
        if value and part not in allowed:
            words = {"locks": "FOR UPDATE", "into": "SELECT INTO", "qualify": "QUALIFY"}.get(part, f"{part} in a query")
            raise not_supported(words, position=position_of(node))

"""Functions in FROM: `generate_series`, and the windows and cycles over a stream.

A window keeps the relation it stands on in its note; the planner of views decides how it is run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlglot import exp

from millpond.errors import SqlState, not_supported
from millpond.relation import Relation
from millpond.sql.coercion import coerce, common_type
from millpond.sql.context import FROM_FUNCTION, Context
from millpond.sql.nodes import annotate, error, fold, identifier, position_of, type_of, typed
from millpond.sql.scope import ScopeColumn
from millpond.sql.sql_types import UNKNOWN, type_name
from millpond.types import BIGINT, INTEGER, INTERVAL, TIMESTAMP, TIMESTAMPTZ, SqlType

WINDOWS = {"tumble": 1, "hop": 2, "session": 1, "landmark": 0, "cycle": 1}
"""The functions over a stream, and how many sizes each takes."""

FindRelation = Callable[[str | None, str, exp.Expr], Relation]


@dataclass(frozen=True)
class BoundTableFunction:
    """A bound function in FROM; `scalar` if it returns one unnamed column."""

    tree: exp.Expr
    columns: tuple[ScopeColumn, ...]
    relation: Relation | None = None
    scalar: bool = False


def bind(node: exp.Anonymous, context: Context, alias: str, find_relation: FindRelation) -> BoundTableFunction:
    """The function bound, or an error if there is no such function that can stand in FROM."""
    name = str(node.this).lower()
    if name == "generate_series":
        return _generate_series(node, context, alias)
    if name in WINDOWS:
        return _window(node, name, context, alias, find_relation)
    raise not_supported(f"the function {name} in FROM", position=position_of(node))


def _generate_series(node: exp.Anonymous, context: Context, alias: str) -> BoundTableFunction:
    arguments = context.within(FROM_FUNCTION).bind_all(node.expressions)
    target = _series_type(node, [type_of(argument) for argument in arguments])
    step = INTERVAL if target in (TIMESTAMP, TIMESTAMPTZ) else target
    bounds = [coerce(argument, target) for argument in arguments[:2]]
    steps = [coerce(argument, step) for argument in arguments[2:]]
    call = typed(exp.Anonymous(this="generate_series", expressions=[*bounds, *steps]), target)
    column = ScopeColumn("generate_series", target, "generate_series")
    table = exp.Table(this=call, alias=exp.TableAlias(this=identifier(alias), columns=[identifier(column.source)]))
    return BoundTableFunction(table, (column,), scalar=True)


def _series_type(node: exp.Anonymous, types: list[SqlType]) -> SqlType:
    bounds = common_type(types[:2])
    if len(types) in (2, 3) and bounds is not None:
        if bounds.is_integer and all(one.is_integer or one == UNKNOWN for one in types):
            return common_type([one for one in types if one != UNKNOWN]) or INTEGER
        if len(types) == 3 and types[2] in (INTERVAL, UNKNOWN) and bounds.name in ("date", "timestamp", "timestamptz"):
            return TIMESTAMPTZ if bounds.name == "date" else bounds
        if bounds.name == "numeric":
            raise not_supported("generate_series of numeric", hint="Divide integers.", position=position_of(node))
    words = ", ".join(type_name(one) for one in types)
    hint = "No function matches the given name and argument types. You might need to add explicit type casts."
    raise error(SqlState.UNDEFINED_FUNCTION, f"function generate_series({words}) does not exist", node, hint=hint)


def _window(
    node: exp.Anonymous, name: str, context: Context, alias: str, find_relation: FindRelation
) -> BoundTableFunction:
    """`TUMBLE(stream, size)` and its kin: the stream's columns, then window_start and window_end."""
    written = node.expressions[0] if node.expressions else None
    if not isinstance(written, exp.Column) or isinstance(written.this, exp.Star):
        raise error(SqlState.SYNTAX_ERROR, f"{name.upper()} needs the name of a stream as its first argument", node)
    schema = fold(written.args["table"]) if written.args.get("table") else None
    relation = find_relation(schema, fold(written.this), written)
    sizes = [_size(argument, context) for argument in node.expressions[1:]]
    table = exp.Table(this=identifier(relation.name), db=identifier(relation.schema))
    annotate(table, relation=relation)
    call = exp.Anonymous(this=name, expressions=[table, *sizes])
    columns = [ScopeColumn(one.name, one.type, one.name, one.hidden) for one in relation.columns]
    columns += [ScopeColumn(one, kind, one) for one, kind in _bounds(relation, sizes)]
    made = exp.Table(this=call, alias=exp.TableAlias(this=identifier(alias)))
    return BoundTableFunction(made, tuple(columns), relation)


def _size(argument: exp.Expr, context: Context) -> exp.Expr:
    """A size: an interval or a number of rows; `cycles => 180` keeps its name."""
    inner = replace(context, clause=FROM_FUNCTION)
    if isinstance(argument, exp.Kwarg):
        bound = inner.bind(argument.expression)
        return typed(exp.Kwarg(this=exp.Var(this=argument.this.name.lower()), expression=bound), type_of(bound))
    bound = inner.bind(argument)
    return coerce(bound, INTERVAL) if type_of(bound) == UNKNOWN else bound


def _bounds(relation: Relation, sizes: list[exp.Expr]) -> list[tuple[str, SqlType]]:
    """Windows of rows are bounded by tuple ids, windows of time by the stream's clock."""
    by_rows = any(type_of(size).is_integer for size in sizes if not isinstance(size, exp.Kwarg))
    event_time = relation.column(relation.options.get("timestamp", ""))
    kind = BIGINT if by_rows else event_time.type if event_time else TIMESTAMPTZ
    return [("window_start", kind), ("window_end", kind)]

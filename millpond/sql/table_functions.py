"""Functions in FROM: `generate_series`, and windows over a stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from sqlglot import exp

from millpond.errors import SqlState, not_supported
from millpond.relation import Relation
from millpond.sql import stream_windows
from millpond.sql.coercion import coerce, common_type
from millpond.sql.context import FROM_FUNCTION, Context
from millpond.sql.nodes import error, identifier, position_of, type_of, typed
from millpond.sql.scope import ScopeColumn
from millpond.sql.sql_types import UNKNOWN, type_name
from millpond.sql.stream_windows import FindRelation
from millpond.stream_window import WindowKind
from millpond.types import INTEGER, INTERVAL, TIMESTAMP, TIMESTAMPTZ, SqlType


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
    if name in stream_windows.CALLS:
        return BoundTableFunction(*stream_windows.bind(node, cast(WindowKind, name), context, alias, find_relation))
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

"""Calls matched with the signatures of the function table, and the errors of those that fit none."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from millpond.errors import MillpondError, SqlState
from millpond.sql import functions
from millpond.sql.coercion import coerce, common_type
from millpond.sql.functions import CONSTANTS, Function
from millpond.sql.nodes import annotate, error, fold, note_of, position_of, type_of
from millpond.sql.sql_types import type_name
from millpond.types import SqlType

NO_FUNCTION = "No function matches the given name and argument types. You might need to add explicit type casts."

_SAME_TYPE_WORDS = {"coalesce": "COALESCE", "greatest": "GREATEST", "least": "LEAST"}
"""Functions that PostgreSQL's grammar knows, and whose type errors name them so."""


def function_name(node: exp.Expr) -> str:
    """The function's name: as quoted, or folded to lower case."""
    name = node.this
    return fold(name) if isinstance(name, exp.Identifier) else str(name).lower()


def matched(node: exp.Expr, function: Function, arguments: Sequence[exp.Expr]) -> exp.Anonymous:
    """The call with the signature that fits, its arguments cast to it."""
    types = [type_of(argument) for argument in arguments]
    found = functions.match(function, types, arguments)
    if found is None:
        raise undefined(function.name, types, node)
    cast = [coerce(argument, target) for argument, target in zip(arguments, found.arguments, strict=True)]
    made = exp.Anonymous(this=function.name, expressions=cast)
    annotate(made, type=found.result, function=function, overload=found.overload)
    position = position_of(node)
    if position is not None:
        made.update_positions(start=position - 1)
    _check_formats(made)
    return made


def _check_formats(call: exp.Anonymous) -> None:
    """Raises what is wrong with the literals among the arguments that decide the spelling in Spark."""
    note = note_of(call)
    if note.overload is None or not callable(note.overload.spark) or call.name in CONSTANTS:
        return
    try:
        note.overload.spark(call)
    except MillpondError as raised:
        raised.position = position_of(call)
        raise


def undefined(name: str, types: Sequence[SqlType], node: exp.Expr) -> MillpondError:
    """PostgreSQL's error for a call that no signature fits."""
    if name in _SAME_TYPE_WORDS and types:
        odd = next((place for place, one in enumerate(types) if common_type([types[0], one]) is None), -1)
        pair = f"{type_name(types[0])} and {type_name(types[odd])}"
        message = f"{_SAME_TYPE_WORDS[name]} types {pair} cannot be matched"
        return error(SqlState.DATATYPE_MISMATCH, message, node.expressions[odd])
    words = ", ".join(type_name(sql_type) for sql_type in types)
    return error(SqlState.UNDEFINED_FUNCTION, f"function {name}({words}) does not exist", node, hint=NO_FUNCTION)

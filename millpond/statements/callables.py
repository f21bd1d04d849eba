"""Python callables of the program as functions of SQL: their types by their annotations, their code pickled."""

from __future__ import annotations

import datetime
import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, get_type_hints

from millpond.errors import MillpondError, SqlState
from millpond.python_function import STATE, Parameter
from millpond.session import Session
from millpond.spark.python_functions import pickled
from millpond.sql.python_functions import check_keys, checked_parameters, read_type
from millpond.sql.statements import CreateFunction, Name
from millpond.statements.request import Request
from millpond.types import BIGINT, BOOLEAN, BYTEA, DATE, DOUBLE, NUMERIC, TEXT, TIMESTAMPTZ, SqlType

_TYPES: Mapping[object, SqlType] = {
    int: BIGINT,
    float: DOUBLE,
    bool: BOOLEAN,
    str: TEXT,
    bytes: BYTEA,
    Decimal: NUMERIC,
    datetime.date: DATE,
    datetime.datetime: TIMESTAMPTZ,
}
"""What the annotations mean; `X | None` means the same, and `list[X]`, the rows of a key, too."""


def define(
    session: Session,
    function: Callable[..., object],
    name: str | None,
    arguments: Sequence[str] | None,
    returns: str | None,
    stateful_by: Sequence[str],
) -> None:
    """CREATE OR REPLACE FUNCTION for a callable; nothing happens if one with the same text is there."""
    hints = get_type_hints(function)
    names = [one for one in inspect.signature(function).parameters if one != STATE or not stateful_by]
    if arguments is not None and len(arguments) != len(names):
        message = f"{len(arguments)} types were given for {len(names)} arguments"
        raise MillpondError(SqlState.INVALID_FUNCTION_DEFINITION, message)
    kinds = [_type(hints, one) for one in names] if arguments is None else [read_type(one) for one in arguments]
    parameters = checked_parameters([Parameter(*pair) for pair in zip(names, kinds, strict=True)])
    check_keys(stateful_by, parameters)
    result = _type(hints, "return") if returns is None else read_type(returns)
    called = name or str(getattr(function, "__name__", "function"))
    source, keys = _source(function), tuple(stateful_by)
    old = session.look(lambda execution: execution.transaction.functions.get(called))
    is_known = old is not None and (old.parameters, old.result, old.keys, old.body) == (
        parameters,
        result,
        keys,
        source,
    )
    if not is_known or not source or getattr(function, "__closure__", None):
        made = CreateFunction(Name(called), True, parameters, result, source, keys, pickled(function))
        with session.statement():
            session.run(made, Request(), alone=True)


def _type(hints: Mapping[str, object], name: str) -> SqlType:
    hint: Any = hints.get(name)
    found = _TYPES.get(hint)
    for part in getattr(hint, "__args__", ()):
        found = (
            found
            or _TYPES.get(part)
            or next((_TYPES[one] for one in getattr(part, "__args__", ()) if one in _TYPES), None)
        )
    if found is None:
        what = "its result" if name == "return" else f'argument "{name}"'
        hint_text = 'Annotate the function, or say arguments=["int", ...] and returns="text".'
        message = f"the type of {what} is not known"
        raise MillpondError(SqlState.INVALID_FUNCTION_DEFINITION, message, hint=hint_text)
    return found


def _source(function: Callable[..., object]) -> str:
    """Its text, to be shown; the pickled callable is what runs."""
    try:
        return textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        return ""

"""CREATE and DROP FUNCTION, read token by token, and what is checked of a function's parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from millpond.errors import MillpondError, SqlState, not_supported
from millpond.python_function import STATE, Parameter
from millpond.sql import definitions
from millpond.sql.clauses import relation_name
from millpond.sql.defined_functions import TYPES
from millpond.sql.statements import CreateFunction, DropFunction, Name, Statement
from millpond.sql.tokens import TokenCursor
from millpond.types import NUMERIC, TEXT, SqlType

_CLAUSES = ("LANGUAGE", "AS", "STATEFUL", "IMMUTABLE", "STABLE", "STRICT", "VOLATILE", "PARALLEL")

# -- statements -------------------------------------------------------------------------------------------------


def _create(cursor: TokenCursor, *, or_replace: bool) -> Statement:
    name = relation_name(cursor)
    parameters = _parameters(name, cursor)
    cursor.expect("RETURNS")
    result = _result(name, cursor)
    body: str | None = None
    language = ""
    keys: tuple[str, ...] = ()
    while not cursor.at_end:
        if cursor.accept("LANGUAGE"):
            language = cursor.next().text.lower()
        elif cursor.accept("STATEFUL", "BY"):
            keys = _names(cursor)
        elif cursor.accept("AS"):
            body = cursor.string()
        elif not (cursor.accept("IMMUTABLE") or cursor.accept("STABLE")):
            break
    cursor.end()
    if language not in ("python", "plpython3u"):
        raise not_supported("a function in another language than Python", hint="Write LANGUAGE python.")
    if body is None:
        raise MillpondError(SqlState.INVALID_FUNCTION_DEFINITION, "no function body specified")
    check_keys(keys, parameters)
    return CreateFunction(name, or_replace, parameters, result, body, keys)


def _parameters(name: Name, cursor: TokenCursor) -> tuple[Parameter, ...]:
    start, end = cursor.skip_parentheses()
    if not cursor.text[start + 1 : end - 1].strip():
        return ()
    columns, keys, checks = definitions.read_text(name.name, cursor.text, start, end)
    if keys or checks or any(column.default is not None or column.not_null for column in columns):
        raise not_supported("more than a name and a type in a parameter", position=start + 1)
    return checked_parameters([Parameter(column.name, column.type) for column in columns])


def _result(name: Name, cursor: TokenCursor) -> SqlType:
    start = cursor.position - 1
    while not cursor.at_end and cursor.token is not None and cursor.token.text.upper() not in _CLAUSES:
        cursor.next()
    return read_type(cursor.text[start : cursor.end_of_last], name.name)


def read_type(text: str, name: str = "function") -> SqlType:
    """A type that a parameter or a result may have, by its name.

    >>> str(read_type("varchar(10)"))
    'text'
    """
    written = f"(result {text})"
    columns, _, _ = definitions.read_text(name, written, 0, len(written))
    if len(columns) != 1:
        raise MillpondError(SqlState.SYNTAX_ERROR, f'"{text}" is not a type')
    return _plain(columns[0].type)


def _plain(kind: SqlType) -> SqlType:
    """As in PostgreSQL, a function takes and returns values of whatever length and precision."""
    made = TEXT if kind.is_string else NUMERIC if kind.name == "numeric" else kind
    if made not in TYPES:
        raise not_supported(f"a function with values of type {kind}")
    return made


def _names(cursor: TokenCursor) -> tuple[str, ...]:
    cursor.expect("(")
    names = [cursor.identifier()]
    while cursor.accept(","):
        names.append(cursor.identifier())
    cursor.expect(")")
    return tuple(names)


def _drop(cursor: TokenCursor) -> Statement:
    if_exists = cursor.accept("IF", "EXISTS")
    name = relation_name(cursor)
    types: tuple[SqlType, ...] | None = None
    if not cursor.at_end and cursor.token is not None and cursor.token.text == "(":
        start, end = cursor.skip_parentheses()
        inner = cursor.text[start + 1 : end - 1].strip()
        types = tuple(read_type(one) for one in inner.split(",")) if inner else ()
    cascade = cursor.accept("CASCADE")
    cursor.accept("RESTRICT")
    cursor.end()
    return DropFunction(name, if_exists, types, cascade)


HANDLERS: tuple[tuple[tuple[str, ...], Callable[[TokenCursor], Statement]], ...] = (
    (("CREATE", "FUNCTION"), lambda cursor: _create(cursor, or_replace=False)),
    (("CREATE", "OR", "REPLACE", "FUNCTION"), lambda cursor: _create(cursor, or_replace=True)),
    (("DROP", "FUNCTION"), _drop),
)


# -- checks -----------------------------------------------------------------------------------------------------


def checked_parameters(parameters: Sequence[Parameter]) -> tuple[Parameter, ...]:
    """Parameters with plain types and names that Python takes."""
    names = [one.name for one in parameters]
    for name in names:
        if not name.isidentifier() or name == STATE or names.count(name) > 1:
            message = f'parameter name "{name}" is used more than once, or no name in Python'
            raise MillpondError(SqlState.INVALID_FUNCTION_DEFINITION, message)
    return tuple(Parameter(one.name, _plain(one.type)) for one in parameters)


def check_keys(keys: Sequence[str], parameters: Sequence[Parameter]) -> None:
    odd = next((key for key in keys if key not in [one.name for one in parameters]), None)
    if odd is not None:
        raise MillpondError(SqlState.INVALID_FUNCTION_DEFINITION, f'STATEFUL BY names "{odd}", which is no parameter')

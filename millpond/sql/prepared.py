"""Prepared statements: how many parameters a text has, what types they take, and an INSERT with its values put in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sqlglot import exp

from millpond.sql.nodes import type_of
from millpond.sql.parameters import OpenParameter, Parameters, TypedText
from millpond.sql.statements import InsertLiterals, Name
from millpond.sql.values_parser import parse_insert_values
from millpond.types import SqlType

PARAMETERS_MAX = 65_535
"""The protocol counts them in 16 bits."""

_DOLLAR = re.compile(
    r"""
    ( [eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' | "(?:[^"]|"")*"          # what hides a parameter
    | \$((?:[^\W\d]\w*)?)\$.*?\$\2\$ | --[^\n]* | /\*.*?\*/ | [\w$]*\w\$\d+ )
    | \$([0-9]{1,9})
    """,
    re.VERBOSE | re.DOTALL,
)


def parameter_count(text: str) -> int:
    """The highest number among the parameters of a text.

    >>> parameter_count("SELECT $1, '$3', $2 + $1"), parameter_count("SELECT 1")
    (2, 0)
    """
    return max((int(match[3]) for match in _DOLLAR.finditer(text) if match[3]), default=0)


def with_literals(text: str, values: Sequence[TypedText]) -> str:
    """The text with its parameters written as literals.

    >>> with_literals("VALUES ($2, $1)", [TypedText("it's"), TypedText("1", SqlType("bigint"))])
    "VALUES ('1'::bigint, 'it''s')"
    """
    return _DOLLAR.sub(lambda match: _literal(values[int(match[3]) - 1]) if match[3] else match[0], text)


def insert_of_values(text: str, values: Sequence[TypedText]) -> InsertLiterals | None:
    """The statement if it is an INSERT of nothing but parameters and literals, which needs no tree and no Spark."""
    if text.lstrip()[:6].lower() != "insert":
        return None
    found = parse_insert_values(with_literals(text, values))
    return None if found is None else InsertLiterals(Name(found.table, found.schema, found.table_position), found)


def _literal(value: TypedText) -> str:
    if value.text is None:
        return "NULL"
    quoted = "'" + value.text.replace("'", "''") + "'"
    return quoted if value.type is None else f"{quoted}::{value.type.name}"


def open_parameters(declared: Sequence[SqlType | None]) -> Parameters:
    """Parameters without values, to bind a statement with and see what it makes of them."""
    return Parameters([OpenParameter(sql_type) for sql_type in declared])


def decided_types(trees: Iterable[exp.Expr]) -> dict[int, SqlType]:
    """The types that binding gave to open parameters, by their number: it wrote a cast around each."""
    found: dict[int, SqlType] = {}
    for tree in trees:
        for cast in tree.find_all(exp.Cast):
            if isinstance(cast.this, exp.Parameter) and cast.this.name.isdigit():
                found.setdefault(int(cast.this.name), type_of(cast))
    return found

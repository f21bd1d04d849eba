"""Parameters of a statement: `$1` and `%s` in the text, Python values beside it, literals in the tree.

A value never becomes text of the statement: it is put into the parsed tree as a typed literal.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlglot import exp

from millpond.errors import MillpondError, SqlState, not_supported
from millpond.sql.sql_types import to_data_type
from millpond.types import SqlType

Values = Sequence[object] | Mapping[str, object]

OPEN = "open parameter"
"""Marks a parameter without a value, in a statement that is bound only to learn its types."""


@dataclass(frozen=True)
class TypedText:
    """A value as text with the type that its sender declared; without one it is a literal whose place decides."""

    text: str | None
    type: SqlType | None = None


@dataclass(frozen=True)
class OpenParameter:
    """No value yet; perhaps a declared type."""

    type: SqlType | None = None


_PLACEHOLDER = re.compile(
    r"""
    ( '(?:[^']|'')*' | "(?:[^"]|"")*" | \$(\w*)\$.*?\$\2\$ | --[^\n]* | /\*.*?\*/ )   # what hides a placeholder
    | %% | %s | %\((\w+)\)s
    """,
    re.VERBOSE | re.DOTALL,
)


class Parameters:
    """The values of one execution, in the order of `$1`, `$2`, ..."""

    def __init__(self, values: Sequence[object]) -> None:
        self._values = values

    @classmethod
    def of(cls, text: str, values: Values) -> tuple[str, Parameters]:
        """Number the placeholders of a text that has `%s` or `%(name)s`; `$1` stays as it is.

        >>> text, parameters = Parameters.of("SELECT %s, '%s'", [1]); text
        "SELECT $1, '%s'"
        """
        numbered: list[object] = []

        def number(match: re.Match[str]) -> str:
            if match[1]:
                return match[1]
            if match[0] == "%%":
                return "%"
            numbered.append(_named(values, match[3]) if match[3] else _next(values, len(numbered)))
            return f"${len(numbered)}"

        rewritten = _PLACEHOLDER.sub(number, text)
        if numbered:
            if not isinstance(values, Mapping) and len(values) != len(numbered):
                message = f"the statement has {len(numbered)} placeholders but {len(values)} parameters were given"
                raise MillpondError(SqlState.UNDEFINED_PARAMETER, message)
            return rewritten, cls(numbered)
        if isinstance(values, Mapping):
            raise MillpondError(SqlState.UNDEFINED_PARAMETER, "named parameters need placeholders like %(name)s")
        return text, cls(list(values))

    def put_into(self, tree: exp.Expr) -> exp.Expr:
        """The tree with each parameter replaced by its value."""

        def replace(node: exp.Expr) -> exp.Expr:
            if not isinstance(node, exp.Parameter):
                return node
            number = int(node.name) if node.name.isdigit() else 0
            if not 1 <= number <= len(self._values):
                raise MillpondError(SqlState.UNDEFINED_PARAMETER, f"there is no parameter ${node.name}")
            value = self._values[number - 1]
            return _open(node, value) if isinstance(value, OpenParameter) else literal(value)

        return tree.transform(replace)


def _named(values: Values, name: str) -> object:
    if not isinstance(values, Mapping) or name not in values:
        raise MillpondError(SqlState.UNDEFINED_PARAMETER, f'there is no parameter "{name}"')
    return values[name]


def _next(values: Values, index: int) -> object:
    if isinstance(values, Mapping) or index >= len(values):
        raise MillpondError(SqlState.UNDEFINED_PARAMETER, f"there is no parameter ${index + 1}")
    return values[index]


def literal(value: object) -> exp.Expr:
    """A Python value as a literal. A string has no type yet, as in PostgreSQL, and takes that of its place."""
    if value is None:
        return exp.Null()
    if isinstance(value, TypedText):
        bare: exp.Expr = exp.Null() if value.text is None else exp.Literal.string(value.text)
        return bare if value.type is None else exp.Cast(this=bare, to=to_data_type(value.type))
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, int):
        return _number(str(value))
    if isinstance(value, float):
        text = repr(value) if math.isfinite(value) else str(value).replace("inf", "Infinity").replace("nan", "NaN")
        return _cast(text, "double precision")
    if isinstance(value, Decimal):
        return _number(format(value, "f")) if value.is_finite() else _cast(str(value), "numeric")
    if isinstance(value, str):
        return exp.Literal.string(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return _cast("\\x" + bytes(value).hex(), "bytea")
    if isinstance(value, datetime.datetime):
        return _cast(value.isoformat(sep=" "), "timestamp" if value.tzinfo is None else "timestamptz")
    if isinstance(value, datetime.date):
        return _cast(value.isoformat(), "date")
    if isinstance(value, datetime.timedelta):
        return _cast(f"{value.days} days {value.seconds}.{value.microseconds:06d} seconds", "interval")
    if isinstance(value, list | tuple):
        # The place of an empty array decides its type, as it does for a string.
        return exp.Array(expressions=[literal(one) for one in value]) if value else exp.Literal.string("{}")
    item = getattr(value, "item", None)
    if callable(item):
        return literal(item())
    raise not_supported(f"a parameter of type {type(value).__name__}")


def _open(node: exp.Expr, value: OpenParameter) -> exp.Expr:
    marked = node.copy()
    marked.meta[OPEN] = True
    return marked if value.type is None else exp.Cast(this=marked, to=to_data_type(value.type))


def _number(text: str) -> exp.Expr:
    negative = text.startswith("-")
    number = exp.Literal.number(text.lstrip("-"))
    return exp.Paren(this=exp.Neg(this=number)) if negative else number


def _cast(text: str, kind: str) -> exp.Expr:
    return exp.Cast(this=exp.Literal.string(text), to=exp.DataType.build(kind, dialect="postgres"))

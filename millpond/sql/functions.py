"""The table of functions: for each PostgreSQL function its signatures, its result types and its spelling in Spark.

What is not in the table does not exist. The rows are in `scalar_functions`, `time_functions` and
`aggregate_functions`; here are their shape, the lookup, and the choice between signatures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from sqlglot import exp

from millpond.python_function import PythonFunction
from millpond.sql.coercion import can_coerce, common_type, distance
from millpond.sql.sql_types import UNKNOWN
from millpond.types import (
    BIGINT,
    BOOLEAN,
    BYTEA,
    DATE,
    DOUBLE,
    INTEGER,
    INTERVAL,
    NUMERIC,
    REAL,
    SMALLINT,
    TEXT,
    TIMESTAMP,
    TIMESTAMPTZ,
    SqlType,
    numeric,
)

Kind = Literal["scalar", "aggregate", "window", "ordered-set"]

Builder = Callable[[exp.Anonymous], exp.Expr]
"""Builds the Spark expression of a call whose arguments are already Spark's and still carry their types."""


class TemplateOfOrder(Protocol):
    """A template over the arguments of an aggregate followed by its sort keys."""

    def __call__(self, keys: Sequence[exp.Ordered], *, distinct: bool) -> str: ...


@dataclass(frozen=True)
class OrderedTemplate:
    """The spelling of an aggregate that sorts and removes duplicates by itself."""

    of: TemplateOfOrder


ResultRule = Callable[[Sequence[SqlType], Sequence[exp.Expr]], SqlType]
"""The result type of a call, where it depends on the arguments' types or on a literal among them."""

TYPE_WORDS: dict[str, SqlType] = {
    "smallint": SMALLINT,
    "integer": INTEGER,
    "bigint": BIGINT,
    "real": REAL,
    "double": DOUBLE,
    "numeric": NUMERIC,
    "boolean": BOOLEAN,
    "text": TEXT,
    "bytea": BYTEA,
    "date": DATE,
    "timestamp": TIMESTAMP,
    "timestamptz": TIMESTAMPTZ,
    "interval": INTERVAL,
    "numeric(38,0)": numeric(38, 0),
}


CONSTANTS: dict[str, str] = {
    "now": "timestamptz",
    "current_timestamp": "timestamptz",
    "transaction_timestamp": "timestamptz",
    "statement_timestamp": "timestamptz",
    "clock_timestamp": "timestamptz",
    "localtimestamp": "timestamp",
    "current_date": "date",
    "current_user": "text",
    "session_user": "text",
    "current_role": "text",
    "current_schema": "text",
    "current_catalog": "text",
    "current_database": "text",
    "version": "text",
}
"""Functions without arguments whose value is one for the whole statement; translation puts the values in."""


@dataclass(frozen=True)
class Overload:
    """One signature.

    `arguments` are type words; `same` is any type, but one for all; `any` is each its own; `array` is any array.
    """

    arguments: tuple[str, ...]
    result: str | ResultRule
    spark: str | Builder | OrderedTemplate
    variadic: bool = False


@dataclass(frozen=True)
class Function:
    """A function by its PostgreSQL name; `python` if a user has defined it."""

    name: str
    kind: Kind
    overloads: tuple[Overload, ...]
    volatile: bool = False
    python: PythonFunction | None = None

    def __deepcopy__(self, memo: object) -> Function:
        return self


@dataclass(frozen=True)
class Match:
    """A chosen signature: the types its arguments must be given, and the type of its result."""

    overload: Overload
    arguments: tuple[SqlType, ...]
    result: SqlType


def row(
    name: str,
    signature: str,
    spark: str | Builder | OrderedTemplate,
    *,
    result: ResultRule | None = None,
    kind: Kind = "scalar",
    volatile: bool = False,
) -> Function:
    """A function with one signature, written `text integer -> text`; a star marks an argument that may repeat.

    >>> row("lpad", "text integer -> text", "LPAD(_1, _2, ' ')").overloads[0].arguments
    ('text', 'integer')
    """
    arguments, _, result_word = signature.partition("->")
    words = tuple(word.rstrip("*") for word in arguments.split())
    overload = Overload(words, result or result_word.strip(), spark, variadic=arguments.rstrip().endswith("*"))
    return Function(name, kind, (overload,), volatile)


def collect(rows: Iterable[Function]) -> dict[str, Function]:
    """The rows by name; rows of one name are its overloads."""
    table: dict[str, Function] = {}
    for new in rows:
        known = table.get(new.name)
        overloads = (*known.overloads, *new.overloads) if known else new.overloads
        table[new.name] = Function(new.name, new.kind, overloads, new.volatile)
    return table


def match(function: Function, types: Sequence[SqlType], nodes: Sequence[exp.Expr]) -> Match | None:
    """The signature that fits the argument types with the fewest and shortest implicit casts, if any does."""
    best: tuple[int, Match] | None = None
    for overload in function.overloads:
        fitted = _fit(overload, types, nodes)
        if fitted is not None and (best is None or fitted[0] < best[0]):
            best = fitted
    return best[1] if best else None


def _fit(overload: Overload, types: Sequence[SqlType], nodes: Sequence[exp.Expr]) -> tuple[int, Match] | None:
    words = _words_for(overload, len(types))
    if words is None:
        return None
    alike = common_type([given for word, given in zip(words, types, strict=True) if word == "same"])
    if alike is None:
        return None
    targets, cost = [], 0
    for word, given in zip(words, types, strict=True):
        target = _target(word, given, alike)
        if target is None:
            return None
        targets.append(target)
        cost += distance(given, target)
    return cost, Match(overload, tuple(targets), _result(overload, targets, nodes, alike))


def _words_for(overload: Overload, count: int) -> tuple[str, ...] | None:
    words = overload.arguments
    if overload.variadic and count >= len(words):
        return words + words[-1:] * (count - len(words))
    return words if len(words) == count else None


def _target(word: str, given: SqlType, alike: SqlType) -> SqlType | None:
    """The type an argument is given for a type word, or None if the word does not accept it."""
    if word == "same":
        return alike
    if word == "any":
        return TEXT if given == UNKNOWN else given
    if word == "number":
        return given if given.is_number else DOUBLE if given == UNKNOWN else None
    if word == "integral":
        return given if given.is_integer else BIGINT if given == UNKNOWN else None
    if word == "array":
        return given if given.is_array else None
    if word == "numeric" and given.name == "numeric":
        return given
    target = TYPE_WORDS[word]
    return target if can_coerce(given, target) else None


def _result(overload: Overload, targets: Sequence[SqlType], nodes: Sequence[exp.Expr], alike: SqlType) -> SqlType:
    if callable(overload.result):
        return overload.result(targets, nodes)
    if overload.result == "same":
        return alike
    return targets[0] if overload.result == "first" else TYPE_WORDS[overload.result]


def find(name: str) -> Function | None:
    """The function of that name."""
    return _table().get(name)


def _table() -> dict[str, Function]:
    # Imported here, as the rows are made of this module's records.
    from millpond.sql.function_rows import TABLE

    return TABLE

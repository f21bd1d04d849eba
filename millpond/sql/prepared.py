"""Prepared statements: how many parameters a text has, what types they take, and an INSERT with its values put in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from millpond.sql.nodes import type_of
from millpond.sql.parameters import OpenParameter, Parameters, TypedText
from millpond.sql.statements import InsertLiterals, Name
from millpond.sql.tokens import PARAMETER
from millpond.sql.values_parser import InsertValues, parse_insert_values
from millpond.types import SqlType
from millpond.values.literals import CASTS

PARAMETERS_MAX = 65_535
"""The protocol counts them in 16 bits."""


def parameter_count(text: str) -> int:
    """The highest number among the parameters of a text.

    >>> parameter_count("SELECT $1, '$3', $2 + $1"), parameter_count("SELECT 1")
    (2, 0)
    """
    return max((int(match[3]) for match in PARAMETER.finditer(text) if match[3]), default=0)


@dataclass(frozen=True)
class _Place:
    """Where a parameter stands in an INSERT, perhaps with a cast behind it."""

    number: int
    cast: SqlType | None

    def literal(self, value: TypedText) -> str | None:
        """The value as a literal in this place; None if its own type and the cast together are more than that."""
        if value.text is None:
            return "NULL"
        if self.cast is not None and not _reads_alike(value.type or self.cast, self.cast):
            return None
        quoted = "'" + value.text.replace("'", "''") + "'"
        final = self.cast or value.type
        return quoted if final is None else f"{quoted}::{final.name}"


def _reads_alike(one: SqlType, other: SqlType) -> bool:
    """Whether a text of one type can be read as the other at once, instead of being cast."""
    return one == other or (one.is_integer and other.is_integer) or (one.is_string and other.is_string)


@dataclass(frozen=True)
class InsertTemplate:
    """An INSERT of nothing but parameters and literals: with values it is one of literals, without tree and Spark.

    Each literal of `values` that stands for a parameter is a mark, by which `places` finds the parameter.
    """

    values: InsertValues
    places: Mapping[str, _Place]

    def statement(self, bindings: Sequence[Sequence[TypedText]]) -> InsertLiterals | None:
        """The statement with values, several bindings as rows of one; None if it takes more than literals."""
        columns = []
        for column in self.values.literals:
            filled = [self._filled(literal, binding) for binding in bindings for literal in column]
            columns.append(tuple(literal for literal in filled if literal is not None))
            if len(columns[-1]) != len(filled):
                return None
        rows = self.values.row_count * len(bindings)
        values = replace(self.values, literals=tuple(columns), row_count=rows, bound=True)
        return InsertLiterals(Name(values.table, values.schema, values.table_position), values)

    def _filled(self, literal: str, binding: Sequence[TypedText]) -> str | None:
        place = self.places.get(literal)
        return literal if place is None else place.literal(binding[place.number - 1])


def insert_template(text: str) -> InsertTemplate | None:
    """The template that a text is, if it is one.

    >>> template = insert_template("INSERT INTO t VALUES ($2, $1::text, 7)")
    >>> template.statement([[TypedText("it's"), TypedText("1", SqlType("bigint"))]]).values.literals
    (("'1'::bigint",), ("'it''s'::text",), ('7',))
    """
    if text.lstrip()[:6].lower() != "insert":
        return None
    # A mark is a string that cannot come from a client, whose texts never hold a zero byte.
    marked = PARAMETER.sub(lambda match: f"'\0{match[3]}'" if match[3] else match[0], text)
    found = parse_insert_values(marked)
    if found is None or found.defaulted:
        return None
    places: dict[str, _Place] = {}
    for literal in (literal for column in found.literals for literal in column if "\0" in literal):
        mark = _MARK.fullmatch(literal)
        if mark is None:
            return None
        places[literal] = _Place(int(mark[1]), CASTS[mark[2].lower()] if mark[2] else None)
    return InsertTemplate(replace(found, sql=text), places)


_MARK = re.compile(r"'\0([0-9]+)'(?:::(.+))?")


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

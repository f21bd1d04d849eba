"""Prepared statements: how many parameters a text has, what types they take, and an INSERT with its values put in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from millpond.sql.nodes import type_of
from millpond.sql.parameters import OpenParameter, Parameters, TypedText
from millpond.sql.statements import InsertLiterals, Name
from millpond.sql.tokens import PARAMETER
from millpond.sql.values_parser import InsertValues, parse_insert_values
from millpond.types import SqlType

PARAMETERS_MAX = 65_535
"""The protocol counts them in 16 bits."""


def parameter_count(text: str) -> int:
    """The highest number among the parameters of a text.

    >>> parameter_count("SELECT $1, '$3', $2 + $1"), parameter_count("SELECT 1")
    (2, 0)
    """
    return max((int(match[3]) for match in PARAMETER.finditer(text) if match[3]), default=0)


@dataclass(frozen=True)
class InsertTemplate:
    """An INSERT of nothing but parameters and literals: with values it is one of literals, without tree and Spark.

    Each literal of `values` that stands for a parameter is a mark, by which `numbers` finds the parameter.
    """

    values: InsertValues
    numbers: Mapping[str, int]

    def statement(self, bindings: Sequence[Sequence[TypedText]]) -> InsertLiterals:
        """The statement with values; several bindings are as many rows of one statement."""
        written = [[_literal(value) for value in binding] for binding in bindings]
        columns = tuple(tuple(self._column(column, written)) for column in self.values.literals)
        rows = self.values.row_count * len(bindings)
        values = replace(self.values, literals=columns, row_count=rows, bound=True)
        return InsertLiterals(Name(values.table, values.schema, values.table_position), values)

    def _column(self, column: Sequence[str], written: Sequence[Sequence[str]]) -> Iterator[str]:
        """A column's literals, for one binding after the other."""
        for binding in written:
            for literal in column:
                number = self.numbers.get(literal)
                yield literal if number is None else binding[number - 1]


def insert_template(text: str) -> InsertTemplate | None:
    """The template that a text is, if it is one.

    >>> template = insert_template("INSERT INTO t VALUES ($2, $1, 7)")
    >>> template.statement([[TypedText("it's"), TypedText("1", SqlType("bigint"))]]).values.literals
    (("'1'::bigint",), ("'it''s'",), ('7',))
    """
    if text.lstrip()[:6].lower() != "insert":
        return None
    # A mark is a string that cannot come from a client, whose texts never hold a zero byte.
    marked = PARAMETER.sub(lambda match: _mark(int(match[3])) if match[3] else match[0], text)
    found = parse_insert_values(marked)
    if found is None or found.defaulted:
        return None
    numbers = {_mark(number): number for number in range(1, parameter_count(text) + 1)}
    return InsertTemplate(replace(found, sql=text), numbers)


def _mark(number: int) -> str:
    return f"'\0{number}'"


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

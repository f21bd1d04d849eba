"""The fast way in for `INSERT INTO t VALUES (literal, ...), ...`: one regular expression, no tree, columns at once.

Loading data by INSERT means thousands of literals in a statement, and the general parser takes some hundred
microseconds for each row of them. Here a text is recognised or not: anything but plain literals, and not too many in
a row, gives None, and the general parser decides what the statement is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

import pyarrow as pa

from millpond.errors import MillpondError, SqlState, closest
from millpond.relation import Column
from millpond.values.failure import ConversionError
from millpond.values.literals import CASTS, array_of_literals

_BLANK = r"[ \t\r\n\f\v]"
_IDENTIFIER = r'(?:"(?:[^"]|"")++"|[^\W\d][\w$]*+)'
_NUMBER = r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?+"
_STRING = r"'[^']*+(?:''[^']*+)*+'"
_CAST = rf"::(?i:{'|'.join(sorted(CASTS, key=len, reverse=True))})\b"
_ESCAPE_STRING = r"[eE]'[^'\\]*+(?:(?:\\.|'')[^'\\]*+)*+'"
_WORD = rf"(?i:true|false|null|default|(?:date|timestamptz|timestamp|interval){_BLANK}*+{_STRING})"
_LITERAL = rf"{_NUMBER}|{_STRING}(?:{_CAST})?+|{_ESCAPE_STRING}|{_WORD}"

_HEAD = re.compile(
    rf"{_BLANK}*+(?i:insert){_BLANK}++(?i:into){_BLANK}++(?P<name>{_IDENTIFIER}(?:\.{_IDENTIFIER})?+){_BLANK}*+"
    rf"(?:\({_BLANK}*+(?P<columns>{_IDENTIFIER}(?:{_BLANK}*+,{_BLANK}*+{_IDENTIFIER})*+){_BLANK}*+\){_BLANK}*+)?+"
    rf"(?i:values){_BLANK}*+(?=\()"
)
_NAME = re.compile(_IDENTIFIER)
_FIRST_ROW = re.compile(rf"\({_BLANK}*+(?:{_LITERAL}){_BLANK}*+(?:,{_BLANK}*+(?:{_LITERAL}){_BLANK}*+)*+\)", re.DOTALL)
_ONE = re.compile(_LITERAL, re.DOTALL)


WIDTH_MAX = 100
"""Columns that a regular expression is made for. Making a longer one takes seconds, in which no thread can work."""


@lru_cache(maxsize=64)
def _rows_of(width: int) -> re.Pattern[str]:
    """Matches a row of that many literals and the comma behind it, or else everything that is left.

    Taking all that is left ends the search at the first place that is no such row; without that, a text with an
    unclosed quote would be searched again from each of its characters.
    """
    literals = rf"{_BLANK}*+,{_BLANK}*+".join([f"({_LITERAL})"] * width)
    row = rf"\({_BLANK}*+{literals}{_BLANK}*+\){_BLANK}*+(?:,{_BLANK}*+(?=\()|;?+{_BLANK}*+\Z)"
    return re.compile(rf"{row}|(.+)", re.DOTALL)


@dataclass(frozen=True)
class InsertValues:
    """An INSERT of literals: per column the literals as written; positions are 1-based, in `sql`.

    Where the literals are values that were bound to parameters (`bound`) they stand nowhere.
    """

    schema: str | None
    table: str
    table_position: int
    columns: tuple[str, ...] | None
    literals: tuple[tuple[str, ...], ...]
    row_count: int
    sql: str
    values_start: int
    bound: bool = False

    def position(self, row: int, column: int) -> int | None:
        """Where a literal stands. It is looked for only when an error needs it."""
        if self.bound:
            return None
        rows = _rows_of(len(self.literals)).finditer(self.sql, self.values_start)
        return next(islice(rows, row, None)).start(column + 1) + 1

    def column_position(self, column: int) -> int:
        """Where a name in the list of columns stands."""
        head = _HEAD.match(self.sql)
        assert head is not None
        names = _NAME.finditer(self.sql, head.start("columns"), head.end("columns"))
        return next(islice(names, column, None)).start() + 1

    @property
    def defaulted(self) -> tuple[int, ...]:
        """The columns, by their place, in which some row says DEFAULT."""
        return tuple(
            place
            for place, literals in enumerate(self.literals)
            if any(len(literal) == len("default") and literal.lower() == "default" for literal in literals)
        )


def parse_insert_values(sql: str) -> InsertValues | None:
    """The statement if it is an INSERT of plain literals, else None.

    >>> insert = parse_insert_values("INSERT INTO t (a, b) VALUES (1, 'x'), (2, NULL);")
    >>> insert.table, insert.columns, insert.literals
    ('t', ('a', 'b'), (('1', '2'), ("'x'", 'NULL')))
    >>> parse_insert_values("INSERT INTO t VALUES (1 + 1)") is None
    True
    """
    head = _HEAD.match(sql)
    first = _FIRST_ROW.match(sql, head.end()) if head else None
    if head is None or first is None:
        return None
    width = len(_ONE.findall(sql, first.start(), first.end()))
    if width > WIDTH_MAX:
        return None
    rows = _rows_of(width).findall(sql, head.end())
    if rows[-1][-1]:
        return None
    names = _names(head["name"])
    return InsertValues(
        schema=names[0] if len(names) == 2 else None,
        table=names[-1],
        table_position=head.start("name") + 1,
        columns=_names(head["columns"]) if head["columns"] else None,
        literals=tuple(zip(*rows, strict=True))[:-1],
        row_count=len(rows),
        sql=sql,
        values_start=head.end(),
    )


def _names(text: str) -> tuple[str, ...]:
    """The identifiers in a text, folded to lower case unless they are quoted."""
    return tuple(
        name[1:-1].replace('""', '"') if name.startswith('"') else name.lower() for name in _NAME.findall(text)
    )


def target_columns(insert: InsertValues, columns: Sequence[Column]) -> list[Column]:
    """The relation's columns that the literals are for, in their order."""
    if insert.columns is None:
        chosen = list(columns)[: len(insert.literals)]
    else:
        chosen = [_named(insert, place, columns) for place in range(len(insert.columns))]
    if len(insert.literals) > len(chosen):
        raise MillpondError(
            SqlState.SYNTAX_ERROR,
            "INSERT has more expressions than target columns",
            position=insert.position(0, len(chosen)),
        )
    if len(insert.literals) < len(chosen):
        raise MillpondError(
            SqlState.SYNTAX_ERROR,
            "INSERT has more target columns than expressions",
            position=insert.column_position(len(insert.literals)),
        )
    return chosen


def _named(insert: InsertValues, place: int, columns: Sequence[Column]) -> Column:
    assert insert.columns is not None
    name = insert.columns[place]
    if name in insert.columns[:place]:
        raise MillpondError(
            SqlState.DUPLICATE_COLUMN,
            f'column "{name}" specified more than once',
            position=insert.column_position(place),
        )
    found = next((column for column in columns if column.name == name), None)
    if found is None:
        raise MillpondError(
            SqlState.UNDEFINED_COLUMN,
            f'column "{name}" of relation "{insert.table}" does not exist',
            hint=closest(name, [column.name for column in columns]),
            position=insert.column_position(place),
        )
    return found


def insert_table(
    insert: InsertValues, columns: Sequence[Column], defaults: Mapping[str, Any] | None = None
) -> pa.Table:
    """The literals as an Arrow table of the declared types.

    `defaults` holds the Arrow scalars that DEFAULT stands for; a column without one gets NULL. Columns that the
    statement does not name are left out.
    """
    chosen = target_columns(insert, columns)
    arrays = []
    for place, (literals, column) in enumerate(zip(insert.literals, chosen, strict=True)):
        try:
            arrays.append(array_of_literals(literals, column, (defaults or {}).get(column.name)))
        except ConversionError as error:
            error.position = insert.position(error.row, place)
            raise
    return pa.Table.from_arrays(arrays, [column.name for column in chosen])

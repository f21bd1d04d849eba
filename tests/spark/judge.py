"""PostgreSQL as the judge: one statement on both engines, what each says, and whether they say the same."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal

import psycopg

from millpond import MillpondError, Pond
from millpond.types import SqlType

_DATABASE = """CREATE DATABASE judge TEMPLATE template0 ENCODING 'UTF8'
    LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8' LOCALE 'C'"""
"""Text compares by code point, as in Millpond, and upper() knows all letters."""

_FLOAT_DIGITS = {"real": 6, "double precision": 12}
"""Significant digits in which inexact numbers must agree: sums are formed in another order."""

_SUM_NOISE = 1e-9
"""What may be left of a sum of inexact numbers, such as a variance, that is zero in another order."""

_NUMERIC_DIGITS = 15
_NUMERIC_PLACES = 16
"""Exact numbers agree in 15 significant digits, or in 16 places, where Millpond's averages end."""


@dataclass(frozen=True)
class Rows:
    """The answer to a query: PostgreSQL's names of columns and types, and the values in its text form."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]


@dataclass(frozen=True)
class Failure:
    """The error that a statement ended with."""

    sqlstate: str
    message: str
    position: int | None


Answer = Rows | Failure


class Judge:
    """A connection to PostgreSQL that answers in the same terms as a pond."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection
        self._type_names: dict[int, str] = {}

    def ask(self, sql: str) -> Answer:
        """What PostgreSQL says."""
        try:
            cursor = self._connection.execute(sql.encode())
        except psycopg.Error as error:
            if error.sqlstate is None:
                # The connection is lost: that is no answer.
                raise
            position = error.diag.statement_position
            message = error.diag.message_primary or ""
            return Failure(error.sqlstate, message, int(position) if position else None)
        result = cursor.pgresult
        assert result is not None
        columns = range(result.nfields)
        names = tuple((result.fname(column) or b"").decode() for column in columns)
        types = tuple(self._type_name(result.ftype(column)) for column in columns)
        return Rows(
            names, types, tuple(tuple(_text(result, row, one) for one in columns) for row in range(result.ntuples))
        )

    def _type_name(self, oid: int) -> str:
        """A type without precision or length, which Millpond's results need not share."""
        if oid not in self._type_names:
            row = self._connection.execute("SELECT format_type(%s, NULL)", [oid]).fetchone()
            assert row is not None
            self._type_names[oid] = row[0]
        return self._type_names[oid]


def _text(result: psycopg.pq.abc.PGresult, row: int, column: int) -> str | None:
    value = result.get_value(row, column)
    return None if value is None else value.decode()


@contextmanager
def judge_at(url: str) -> Iterator[Judge]:
    """A judge with an empty database of its own on the server."""
    with psycopg.connect(url, autocommit=True) as server:
        server.execute("DROP DATABASE IF EXISTS judge")
        server.execute(_DATABASE)
    with psycopg.connect(url, dbname="judge", autocommit=True) as connection:
        connection.execute("SET timezone = 'UTC'")
        yield Judge(connection)


def ask_pond(pond: Pond, sql: str) -> Answer:
    """What Millpond says."""
    try:
        result = pond.execute(sql)
    except MillpondError as error:
        return Failure(error.sqlstate, error.message, error.position)
    names = tuple(column.name for column in result.columns)
    types = tuple(str(SqlType(column.type.name)) for column in result.columns)
    return Rows(names, types, tuple(tuple(row) for row in result.text_rows()))


def difference(expected: Answer, given: Answer, *, ordered: bool) -> str | None:
    """How what Millpond says differs from what PostgreSQL says, or None."""
    if isinstance(expected, Failure) or isinstance(given, Failure):
        return _failure_difference(expected, given)
    if expected.names != given.names:
        return f"columns are called {list(expected.names)}, not {list(given.names)}"
    if expected.types != given.types:
        return f"columns are of type {list(expected.types)}, not {list(given.types)}"
    return rows_difference(expected.rows, given.rows, expected.types, ordered=ordered)


def _failure_difference(expected: Answer, given: Answer) -> str | None:
    if isinstance(expected, Failure) and isinstance(given, Failure):
        same = expected.sqlstate == given.sqlstate
        return None if same else f"fails with {expected}, not with {given}"
    return f"fails with {expected}" if isinstance(expected, Failure) else f"does not fail, yet here {given}"


def rows_difference(
    expected: Sequence[Sequence[str | None]],
    given: Sequence[Sequence[str | None]],
    types: Sequence[str],
    *,
    ordered: bool,
) -> str | None:
    """How two results differ, as lists or as multisets, or None."""
    if len(expected) != len(given):
        return f"has {len(expected)} rows, not {len(given)}"
    if any(len(row) != len(types) for row in given):
        return f"has {len(types)} columns"
    pairs = list(
        zip(
            *((rows if ordered else sorted(rows, key=lambda row: _sort_key(row, types))) for rows in (expected, given)),
            strict=True,
        )
    )
    for left, right in pairs:
        if not all(same_value(*cell, noise=_SUM_NOISE) for cell in zip(left, right, types, strict=True)):
            return f"has the row {list(left)}, not {list(right)}"
    return None


def _sort_key(row: Sequence[str | None], types: Sequence[str]) -> list[tuple[bool, str]]:
    """Exact values first: they alone decide in most cases; numbers with few digits, as the rest may differ."""
    exact = [(value is None, value or "") for value, kind in zip(row, types, strict=True) if not _is_number(kind)]
    rough = [
        (value is None, f"{float(value or 0):.5e}") for value, kind in zip(row, types, strict=True) if _is_number(kind)
    ]
    return exact + rough


def _is_number(kind: str) -> bool:
    return kind in _FLOAT_DIGITS or kind == "numeric"


def same_value(expected: str | None, given: str | None, kind: str, *, noise: float = 0.0) -> bool:
    """Whether two values are the same: as text, numbers that may be rounded as numbers, apart by no more than noise.

    >>> same_value("0.3333333333333333", "0.33333333333333333333", "numeric"), same_value("1", "1.0", "text")
    (True, False)
    """
    if expected is None or given is None or expected == given:
        return expected == given
    if kind == "character":
        # Values of char(3) and char(4) in one column have no common length to be padded to.
        return expected.rstrip() == given.rstrip()
    if not _is_number(kind):
        return False
    if kind == "numeric":
        apart = abs(Decimal(expected) - Decimal(given))
        return apart <= max(abs(Decimal(expected)).scaleb(-_NUMERIC_DIGITS), Decimal(1).scaleb(-_NUMERIC_PLACES))
    return math.isclose(float(expected), float(given), rel_tol=10 ** -_FLOAT_DIGITS[kind], abs_tol=noise)

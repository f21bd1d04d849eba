"""Compares a view's rows with DuckDB's: exact where both are exact, in any order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from millpond.result import Result

Row = tuple[Any, ...]


def unpadded(result: Result) -> list[Row]:
    """The rows, char(n) without its blanks: DuckDB takes it for text."""
    padded = [column.type.name == "char" for column in result.columns]
    return [
        tuple(value.rstrip() if char and value else value for value, char in zip(row, padded, strict=True))
        for row in result.fetchall()
    ]


def typed(expected: Sequence[Row], given: Sequence[Row]) -> list[Row]:
    """Rows of an engine that writes values as text, with the types of those expected.

    >>> typed([(date(2026, 1, 31), Decimal("1.50"), "a")], [("2026-02-01", "2.50", "b")])
    [(datetime.date(2026, 2, 1), Decimal('2.50'), 'b')]
    """
    kinds = [
        next((type(value) for value in column if value is not None), str) for column in zip(*expected, strict=True)
    ]
    return [
        tuple(None if value is None else _of_type(kind, value) for kind, value in zip(kinds, row, strict=True))
        for row in given
    ]


def _of_type(kind: type, value: Any) -> object:
    if kind is date:
        return date.fromisoformat(value)
    return kind(value)


def difference(expected: Sequence[Row], given: Sequence[Row], relative: float = 1e-12) -> str | None:
    """The first difference, if any; numbers are equal to 12 digits, or as `relative` says, where DuckDB computes with
    doubles.

    >>> difference([(1, "a"), (2, 0.5)], [(2, Decimal("0.5")), (1, "a")])
    >>> difference([(1, "a")], [(1, "b")])
    "expected (1, 'a'), got (1, 'b')"
    """
    if len(given) != len(expected):
        return f"expected {len(expected)} rows, got {len(given)}"
    for left, right in zip(_sorted(expected), _sorted(given), strict=True):
        if len(left) != len(right) or not all(_same(*pair, relative) for pair in zip(left, right, strict=True)):
            return f"expected {left}, got {right}"
    return None


def _sorted(rows: Sequence[Row]) -> list[Row]:
    """Text decides first, then numbers in few digits: what is inexact may differ in the last ones."""

    def key(row: Row) -> list[tuple[bool, str]]:
        return [(value is None, f"{value:.6g}" if isinstance(value, float | Decimal) else str(value)) for value in row]

    return sorted(rows, key=key)


def _same(expected: Any, given: Any, relative: float) -> bool:
    if isinstance(expected, float) and isinstance(given, float | Decimal):
        return math.isclose(expected, float(given), rel_tol=relative)
    return bool(expected == given)

"""Compares a view's rows with DuckDB's: exact where both are exact, in any order."""

from __future__ import annotations

import math
from collections.abc import Sequence
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


def difference(expected: Sequence[Row], given: Sequence[Row]) -> str | None:
    """The first difference, if any; numbers count to 12 digits where DuckDB computes with doubles.

    >>> difference([(1, "a"), (2, 0.5)], [(2, Decimal("0.5")), (1, "a")])
    >>> difference([(1, "a")], [(1, "b")])
    "expected (1, 'a'), got (1, 'b')"
    """
    if len(given) != len(expected):
        return f"expected {len(expected)} rows, got {len(given)}"
    for left, right in zip(_sorted(expected), _sorted(given), strict=True):
        if len(left) != len(right) or not all(_same(*pair) for pair in zip(left, right, strict=True)):
            return f"expected {left}, got {right}"
    return None


def _sorted(rows: Sequence[Row]) -> list[Row]:
    """Text decides first, then numbers in few digits: what is inexact may differ in the last ones."""

    def key(row: Row) -> list[tuple[bool, str]]:
        return [(value is None, f"{value:.6g}" if isinstance(value, float | Decimal) else str(value)) for value in row]

    return sorted(rows, key=key)


def _same(expected: Any, given: Any) -> bool:
    if isinstance(expected, float) and isinstance(given, float | Decimal):
        return math.isclose(expected, float(given), rel_tol=1e-12)
    return bool(expected == given)

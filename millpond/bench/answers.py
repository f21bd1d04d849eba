"""Compares the answers of two engines, whose rows come in any order and whose fractions have different digits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal

from millpond.bench.peers.peer import Answers

Row = tuple[object, ...]


class WrongAnswerError(Exception):
    """An engine computed something else than the judge: its times mean nothing."""


def verify(engine: str, answers: Answers, truth: Answers, *, relative: float = 1e-9) -> None:
    """Raise unless every query has the same rows."""
    for name, expected in truth.items():
        if not same(answers[name], expected, relative=relative):
            shown = f"{sorted(map(_numbers, answers[name]))[:3]} instead of {sorted(map(_numbers, expected))[:3]}"
            raise WrongAnswerError(f"{engine} answers {name} with {shown} ...")


def same(rows: Sequence[Row], expected: Sequence[Row], *, relative: float) -> bool:
    """Whether both have the same rows of numbers, in whatever order, up to a relative error.

    >>> same([(2, Decimal("0.333333")), (1, None)], [(1, None), (2, 1 / 3)], relative=1e-4)
    True
    >>> same([(1, 2)], [(1, 3)], relative=1e-4)
    False
    """
    if len(rows) != len(expected):
        return False
    pairs = zip(sorted(map(_numbers, rows)), sorted(map(_numbers, expected)), strict=True)
    return all(
        len(one) == len(other) and all(math.isclose(a, b, rel_tol=relative) for a, b in zip(one, other, strict=True))
        for one, other in pairs
    )


def _numbers(row: Row) -> tuple[float, ...]:
    """A row as numbers, NULL as the smallest."""
    return tuple(-math.inf if value is None else float(value) for value in map(_numeric, row))


def _numeric(value: object) -> int | float | Decimal | str | None:
    assert value is None or isinstance(value, (int, float, Decimal, str))
    return value

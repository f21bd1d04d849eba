"""The records that rows of the table of aggregates are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

SMALL_UNITS_MAX = 2**32
LARGE_UNITS_MAX = 10**17
"""Of 2^31 numbers up to the first the sum is a bigint; of as many up to the second, a decimal of 27 digits."""


@dataclass(frozen=True)
class UnitTemplates:
    """How a chunk fills a column of a numeric that is in units (see `units.py`): `_1`, of which one is worth `_2`.

    `small` is for numbers up to `SMALL_UNITS_MAX`, `large` for those up to `LARGE_UNITS_MAX`.
    """

    small: str
    large: str

    def of(self, most: int) -> str | None:
        if most > LARGE_UNITS_MAX:
            return None
        return self.small if most <= SMALL_UNITS_MAX else self.large

    def formatted(self, fill: Callable[[str], str]) -> UnitTemplates:
        return UnitTemplates(fill(self.small), fill(self.large))


@dataclass(frozen=True)
class Partial:
    """One kept column: how a chunk fills it, how several merge, its Spark type; and how a numeric in units fills it,
    if that is not to be computed of decimals."""

    compute: str
    merge: str
    type: str
    units: UnitTemplates | None = None


@dataclass(frozen=True)
class Aggregate:
    """A function over arguments of some types (`takes`, in the words of `calls.argument_word`; empty for any).

    A subtractable one can also forget a part, by subtracting what was kept of it. `keys` are what `compute` is given
    besides the arguments: the sort keys of an ordered aggregate.
    """

    name: str
    partials: Mapping[str, Partial] = field(hash=False)
    finalize: str
    takes: frozenset[str] = frozenset()
    subtractable: bool = False
    keys: tuple[exp.Expr, ...] = ()


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())

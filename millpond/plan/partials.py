"""The records that rows of the table of aggregates are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp


@dataclass(frozen=True)
class Partial:
    """One kept column: how a chunk fills it, how several merge, its Spark type."""

    compute: str
    merge: str
    type: str


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

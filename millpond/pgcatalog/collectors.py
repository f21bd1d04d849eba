"""Aggregates that collect values in an order: array_agg and string_agg."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cmp_to_key
from typing import Any

Keyed = tuple[Any, tuple[Any, ...]]
"""A value and its sort keys."""


def arranged(values: Sequence[Keyed], flags: str) -> list[Any]:
    """The values in the order of their keys, with D without duplicates.

    For each key there are two flags: ascending or descending, NULLs first or last.

    >>> arranged([("a", (1,)), ("b", (None,)), ("c", (2,))], "dl")
    ['c', 'a', 'b']
    """
    distinct, flags = flags.startswith("D"), flags.removeprefix("D")
    kept = list({value: (value, keys) for value, keys in values}.values()) if distinct else list(values)
    if distinct and not flags:
        kept, flags = [(value, (value,)) for value, _ in kept], "al"
    pairs = [(flags[at] == "d", flags[at + 1] == "f") for at in range(0, len(flags), 2)]

    def compare(one: Keyed, other: Keyed) -> int:
        for mine, yours, (descending, nulls_first) in zip(one[1], other[1], pairs, strict=True):
            if mine == yours:
                continue
            if mine is None or yours is None:
                return -1 if (mine is None) == nulls_first else 1
            return -1 if (mine < yours) != descending else 1
        return 0

    return [value for value, _ in sorted(kept, key=cmp_to_key(compare))] if pairs else [value for value, _ in kept]


class ArrayCollector:
    """`mp_array_agg(value, flags, keys ...)`: NULL if there was no row."""

    def __init__(self) -> None:
        self._values: list[Keyed] = []
        self._flags = ""

    def step(self, value: object, flags: str, *keys: object) -> None:
        self._flags = flags
        self._values.append((value, keys))

    def finalize(self) -> str | None:
        return json.dumps(arranged(self._values, self._flags)) if self._values else None


class StringCollector:
    """`mp_string_agg(value, separator, flags, keys ...)`: NULLs do not count."""

    def __init__(self) -> None:
        self._values: list[Keyed] = []
        self._flags, self._separator = "", ""

    def step(self, value: object, separator: str | None, flags: str, *keys: object) -> None:
        self._flags, self._separator = flags, separator or ""
        if value is not None:
            self._values.append((value, keys))

    def finalize(self) -> str | None:
        if not self._values:
            return None
        return self._separator.join(str(value) for value in arranged(self._values, self._flags))

"""Rows on their way into sessions: where they are and whose they are, and the sessions of one key as they grow."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from millpond.values.arrays import Column, pc

Key = tuple[Any, ...]
"""Values of the columns that sessions are partitioned by."""

Places = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_FEW_ROWS = 8
"""So many rows are taken one by one sooner than sorted."""


@dataclass(frozen=True)
class Arrivals:
    """Rows of a stream in their order: where they are, and which of some keys they have."""

    places: Places
    codes: Places
    keys: Sequence[Key]

    def runs(self, chosen: Mask, gap: int) -> Iterator[tuple[Key, int, int, int]]:
        """Chosen rows of a key that follow each other within the gap: the first and the last place, and how many."""
        places, codes = self.places[chosen], self.codes[chosen]
        if len(places) <= _FEW_ROWS:
            for code, place in zip(codes.tolist(), places.tolist(), strict=True):
                yield self.keys[code], place, place, 1
            return
        order = np.lexsort((places, codes))
        places, codes = places[order], codes[order]
        begins = np.r_[True, (codes[1:] != codes[:-1]) | (np.diff(places) >= gap)]
        starts = np.flatnonzero(begins)
        ends = np.r_[starts[1:], len(places)]
        found = (codes[starts], places[starts], places[ends - 1], ends - starts)
        for code, first, last, rows in zip(*(column.tolist() for column in found), strict=True):
            yield self.keys[code], first, last, rows

    def by_key(self, chosen: Mask) -> tuple[Places, list[tuple[Key, int, int]]]:
        """The numbers of chosen rows, those of one key after the other, each key's in their order; and where those of
        each key begin and end."""
        numbers = np.flatnonzero(chosen)
        numbers = numbers[np.argsort(self.codes[numbers], kind="stable")]
        codes = self.codes[numbers]
        starts = np.flatnonzero(np.r_[True, np.diff(codes) != 0])
        keys = [self.keys[code] for code in codes[starts].tolist()]
        return numbers, list(zip(keys, starts.tolist(), [*starts[1:].tolist(), len(numbers)], strict=True))

    def around(self, some: Mask) -> tuple[Mask, Mask, Mask]:
        """All rows: those before the first of some rows of their key, or whose key has none of them; from the first to
        the last; and those after the last."""
        numbers, count = np.arange(len(self.places)), len(self.keys)
        of_some = np.flatnonzero(some)
        first, last = np.full(count, len(numbers)), np.full(count, len(numbers))
        last[self.codes[of_some]] = of_some
        first[self.codes[of_some[::-1]]] = of_some[::-1]
        before, after = numbers < first[self.codes], numbers > last[self.codes]
        return before, ~(before | after), after


def arrivals_of(places: Column, keys: Sequence[Column]) -> tuple[Arrivals, Places]:
    """Rows that have a place, and their numbers among all of them."""
    known = pc.is_valid(places).to_numpy().nonzero()[0]
    codes = np.zeros(len(known), np.int64)
    own = [column.take(pa.array(known)) for column in keys]
    for column in own:
        encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
        together = codes * len(encoded.dictionary) + encoded.indices.to_numpy()
        codes = np.unique(together, return_inverse=True)[1].astype(np.int64)
    examples = pa.array(np.unique(codes, return_index=True)[1].astype(np.int64))
    values = [column.take(examples).to_pylist() for column in own]
    return Arrivals(places.drop_null().to_numpy(), codes, list(zip(*values, strict=True)) or [()]), known


Outlived = Callable[[Sequence[int], int], int]
"""How many of the sessions that end at some places are not to be seen when a stream is complete up to a position."""


@dataclass
class GrowingSessions:
    """Sessions of one key while rows are put into them: firsts and lasts of their places, and how many rows; panes
    before `line` are of the past."""

    gap: int
    outlived: Outlived
    firsts: list[int]
    lasts: list[int]
    counts: list[int]
    line: int

    def put(self, first: int, last: int, rows: int) -> None:
        """Add rows that are of one session: it joins those that it touches together."""
        at, until = bisect_right(self.lasts, first - self.gap), bisect_left(self.firsts, last + self.gap)
        if at < until:
            first, last = min(first, self.firsts[at]), max(last, self.lasts[until - 1])
            rows += sum(self.counts[at:until])
        self.firsts[at:until], self.lasts[at:until], self.counts[at:until] = [first], [last], [rows]

    def settle(self, complete_to: int) -> None:
        """Forget what nobody is to see any more."""
        # Where a session ends is its last place and the gap.
        gone = self.outlived(self.lasts, complete_to - self.gap)
        if gone:
            self.line = max(self.line, self.lasts[gone - 1] // self.gap + 1)
            del self.firsts[:gone], self.lasts[:gone], self.counts[:gone]

    def take(self, places: Sequence[int], complete: Sequence[int]) -> Iterator[int]:
        """Put rows in, one after the other; the numbers of those that come too late, when the stream is complete up to
        there. Only one behind that can be late or meet a session that may have been forgotten."""
        for number, (place, complete_to) in enumerate(zip(places, complete, strict=True)):
            if place >= complete_to:
                self.put(place, place, 1)
                continue
            self.settle(complete_to)
            if place // self.gap >= self.line:
                self.put(place, place, 1)
                self.settle(complete_to)
            if place // self.gap < self.line:
                yield number

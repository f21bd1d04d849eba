"""Partials by pane, in memory, with blocks of panes merged in advance: a window is covered by few of them.

A block of level `l` has the panes [i * FANOUT^l, (i + 1) * FANOUT^l); one of level 0 is a pane. So however many panes a
window has, it is the union of some FANOUT blocks of each level, and a slide costs much the same.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from millpond.values.arrays import pc

FANOUT = 16
"""Children of a block: with few, many merges; with many, many rows in a window's cover."""

PIECES_MAX = 8
"""Partials of one pane that are merged when there are more."""

Block = tuple[int, int]
"""A level, and the place in it."""


@dataclass
class PaneTree:
    """Tables of partials, whose column `pane` says which pane each row is of. Rows of one group may stand in several
    tables of a pane: whoever reads them merges them.

    It is used under the lock of its state.
    """

    pane: str
    _panes: dict[int, list[pa.Table]] = field(default_factory=dict)
    _order: list[int] = field(default_factory=list)
    _blocks: dict[Block, pa.Table] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        return sum(piece.num_rows for pieces in self._panes.values() for piece in pieces)

    @property
    def count(self) -> int:
        """Panes that have rows."""
        return len(self._order)

    @property
    def bytes(self) -> int:
        """Memory of all tables."""
        pieces = [piece for pieces in self._panes.values() for piece in pieces]
        return sum(table.nbytes for table in (*pieces, *self._blocks.values()))

    def add(self, rows: pa.Table) -> None:
        """More partials. A pane that changes takes its blocks with it, until they are merged again."""
        for pane, piece in split_by(rows, self.pane):
            if pane not in self._panes:
                self._panes[pane] = []
                self._order.insert(bisect_left(self._order, pane), pane)
            self._panes[pane].append(piece)
            for block in [one for one in self._blocks if pane // FANOUT ** one[0] == one[1]]:
                del self._blocks[block]

    def expire(self, before: int) -> None:
        """Forget the panes before one, and the blocks that have any of them."""
        gone = bisect_left(self._order, before)
        for pane in self._order[:gone]:
            del self._panes[pane]
        del self._order[:gone]
        for level, place in list(self._blocks):
            if place * FANOUT**level < before:
                del self._blocks[level, place]

    def cover(self, first: int, last: int) -> list[pa.Table]:
        """Tables that have what the panes from the first to the last have, and nothing else."""
        found: list[pa.Table] = []
        at, end = bisect_left(self._order, first), bisect_right(self._order, last)
        while at < end:
            block = self._largest_block(self._order[at], first, last)
            if block is None:
                found += self._panes[self._order[at]]
                at += 1
            else:
                found.append(self._blocks[block])
                at = bisect_left(self._order, (block[1] + 1) * FANOUT ** block[0])
        return found

    def panes(self, first: int, last: int) -> list[pa.Table]:
        """Tables of the panes from the first to the last, each by itself."""
        found = self._order[bisect_left(self._order, first) : bisect_right(self._order, last)]
        return [piece for pane in found for piece in self._panes[pane]]

    def all(self) -> pa.Table | None:
        """Everything, pane by pane; None if there is nothing."""
        pieces = [piece for pane in self._order for piece in self._panes[pane]]
        return together(pieces) if pieces else None

    def _largest_block(self, pane: int, first: int, last: int) -> Block | None:
        """The largest block with the pane, within the window."""
        found, level = None, 1
        while level <= self._levels:
            place = pane // FANOUT**level
            if place * FANOUT**level < first or (place + 1) * FANOUT**level - 1 > last:
                break
            if (level, place) in self._blocks:
                found = (level, place)
            level += 1
        return found

    @property
    def _levels(self) -> int:
        return max((level for level, _ in self._blocks), default=0)

    # -- merging in advance ------------------------------------------------------------------------------------------

    def unmerged(self, closed: int, widest: int) -> dict[Block, list[pa.Table]]:
        """Panes of many pieces, and else the lowest blocks that can be merged: their panes are before `closed`, and a
        window of so many panes (the `widest`) has room for them."""
        pieces = {(0, pane): one for pane, one in self._panes.items() if len(one) > PIECES_MAX}
        if pieces:
            return pieces
        level = 1
        while FANOUT**level * 2 <= widest:
            found = self._unmerged_at(level, closed)
            if found:
                return found
            level += 1
        return {}

    def _unmerged_at(self, level: int, closed: int) -> dict[Block, list[pa.Table]]:
        size = FANOUT**level
        # The first block may have lost some of its panes, and would not be used again.
        oldest = self._order[0] if self._order else 0
        places = dict.fromkeys(pane // size for pane in self._order)
        whole = [one for one in places if one * size >= oldest and (one + 1) * size <= closed]
        wanted = [one for one in whole if (level, one) not in self._blocks]
        return {(level, one): self.cover(one * size, (one + 1) * size - 1) for one in wanted}

    def put(self, merged: Mapping[Block, pa.Table]) -> None:
        """Blocks as they were merged, or panes in one piece."""
        for (level, place), rows in merged.items():
            if level:
                self._blocks[level, place] = rows
            else:
                self._panes[place] = [rows]


def split_by(rows: pa.Table, column: str) -> Iterator[tuple[int, pa.Table]]:
    """The rows of each value of a column. Those without a value, whose time nobody knows, are in no pane."""
    known = rows.filter(pc.is_valid(rows.column(column)))
    if not known.num_rows:
        return
    ordered = known.take(pc.sort_indices(known, sort_keys=[(column, "ascending")])).combine_chunks()
    values = ordered.column(column).to_numpy()
    starts = np.flatnonzero(np.r_[True, values[1:] != values[:-1]]).tolist()
    for start, end in zip(starts, [*starts[1:], len(values)], strict=True):
        yield int(values[start]), ordered.slice(start, end - start)


def labelled(rows: Sequence[pa.Table], pane: str, label: int) -> pa.Table:
    """Tables as one, all of its rows of one pane."""
    table = together(rows)
    values = pa.repeat(pa.scalar(label, pa.int64()), table.num_rows)
    return table.set_column(table.schema.get_field_index(pane), pane, values)


def together(tables: Sequence[pa.Table]) -> pa.Table:
    """Tables as one. What came before a view joined has none of its columns."""
    return pa.concat_tables(tables, promote_options="default")

"""The rows of a window that is joined with another: those that have met all rows of the other side, and new ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from millpond.plan.paired import FIRST_FRAME, LAST_FRAME, PANE, ROW_IS_NEW, PairSide
from millpond.plan.shared import Member
from millpond.run.axis import places_of
from millpond.run.lifetimes import Lifetime
from millpond.state.pane_tree import PaneTree, together
from millpond.stream import Chunk
from millpond.stream_window import FOREVER
from millpond.values.arrays import Array, Column, pc

Span = tuple[int, int]
"""The first and the last of some panes."""

EVERYWHERE: Span = (-FOREVER, FOREVER)


@dataclass
class PairedRows:
    """Rows of one side in memory, one by one and not in arrays as they are stored. Those that are `pending` have yet to
    be paired; in `paired` are the others, by pane."""

    side: PairSide
    member: Member
    lifetime: Lifetime
    paired: PaneTree = field(default_factory=lambda: PaneTree(PANE))
    pending: tuple[pa.Table, ...] = ()

    def take(self, kept: pa.Table) -> None:
        """Rows as their state keeps them. What came before the view joined has no column of its own; rows without a
        pane are in no window."""
        names = self.member.names
        items, pane = names[self.side.grouping.partials[0].name], names[self.side.grouping.kept.keys[-1].name]
        if items in kept.column_names:
            rows = unnested(kept.filter(pc.is_valid(kept.column(pane))), items, pane, self.side.fields)
            self.pending += (rows,) if rows.num_rows else ()

    def untaken(self, chunk: Chunk, span: Span) -> pa.Table:
        """Rows of a chunk that no tick has taken, as far as they are in some panes."""
        window = self.lifetime.window
        rows = chunk.read([column.name for column in self.side.fields.values()])
        panes = _panes(places_of(chunk, window.column), window.step)
        return _within(rows.rename_columns(list(self.side.fields)).append_column(PANE, panes), span)

    def settle(self, paired: Sequence[pa.Table], first: int) -> None:
        """Some pending rows have met all others; those before a pane are no longer needed."""
        for rows in paired:
            self.paired.add(rows)
        self.paired.expire(first)
        left = [rows for rows in self.pending if not any(rows is one for one in paired)]
        self.pending = tuple(rows for one in left if (rows := one.filter(pc.field(PANE) >= first)).num_rows)
        pieces = self.paired.unmerged(0, 0)
        self.paired.put({block: together(tables).combine_chunks() for block, tables in pieces.items()})

    def with_lives(self, rows: pa.Table, oldest: int) -> pa.Table:
        """Rows with the frames that they are in, the `oldest` or later ones, instead of their panes."""
        first, last = self.lifetime.of(rows.column(PANE).to_numpy())
        made = rows.drop_columns([PANE]).append_column(FIRST_FRAME, pa.array(np.maximum(first, oldest)))
        return made.append_column(LAST_FRAME, pa.array(last))


@dataclass(frozen=True)
class SideLook:
    """The rows of one side at a moment, in the panes of a span."""

    rows: PairedRows
    span: Span
    paired: Sequence[pa.Table]
    new: Sequence[pa.Table]

    @classmethod
    def within(cls, rows: PairedRows, span: Span) -> SideLook:
        return cls(rows, span, rows.paired.cover(*span), [_within(one, span) for one in rows.pending])

    def and_untaken(self, chunks: Iterable[Chunk]) -> SideLook:
        """With rows of chunks, which are new."""
        return replace(self, new=[*self.new, *(self.rows.untaken(chunk, self.span) for chunk in chunks)])

    @property
    def new_rows(self) -> pa.Table:
        return together([_no_rows(self.rows.side), *(_flagged(rows, is_new=True) for rows in self.new)])

    @property
    def old_rows(self) -> pa.Table:
        none = _no_rows(self.rows.side)
        return together([none, _flagged(together(self.paired), is_new=False)]) if self.paired else none

    @property
    def all_rows(self) -> pa.Table:
        return together([self.new_rows, self.old_rows])

    def partners_of(self, other: SideLook) -> pa.Table:
        """New rows, and those of the others whose value a new row of the other side has."""
        own, theirs = self.rows.side.equal_field, other.rows.side.equal_field
        if own is None or theirs is None or not self.paired or not any(rows.num_rows for rows in other.new):
            return self.new_rows
        values = pc.unique(other.new_rows.column(theirs))
        old = self.old_rows
        return together([self.new_rows, old.filter(pc.is_in(old.column(own), value_set=values, skip_nulls=True))])


def unnested(kept: pa.Table, items: str, pane: str, fields: Mapping[str, object]) -> pa.Table:
    """The rows in arrays of structs one by one, with some of their fields and their pane."""
    lists = kept.column(items).combine_chunks()
    structs, parents = pc.list_flatten(lists), pc.list_parent_indices(lists)
    columns = {name: pc.struct_field(structs, name) for name in fields}
    return pa.table({**columns, PANE: kept.column(pane).combine_chunks().take(parents)})


def _panes(places: Column, step: int) -> Array:
    """The panes of places on an axis; a row without a place has none."""
    known = places.is_valid().to_numpy()
    return pa.array(places.fill_null(0).to_numpy() // step, pa.int64(), mask=~known)


def _within(rows: pa.Table, span: Span) -> pa.Table:
    return rows.filter((pc.field(PANE) >= span[0]) & (pc.field(PANE) <= span[1]))


def _flagged(rows: pa.Table, *, is_new: bool) -> pa.Table:
    return rows.append_column(ROW_IS_NEW, pa.repeat(pa.scalar(is_new), rows.num_rows))


def _no_rows(side: PairSide) -> pa.Table:
    columns = {field: pa.array([], column.type.arrow) for field, column in side.fields.items()}
    return _flagged(pa.table({**columns, PANE: pa.array([], pa.int64())}), is_new=False)

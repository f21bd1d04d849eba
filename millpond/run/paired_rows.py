"""The rows of a window that is joined with another: those that have met all rows of the other side, and new ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from millpond.plan.paired import PANE, ROW_IS_NEW, PairSide
from millpond.plan.shared import Member
from millpond.run.lifetimes import Lifetime
from millpond.state.pane_tree import PaneTree, together
from millpond.values.arrays import Column, pc

Span = tuple[int, int]
"""The first and the last of some panes."""


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
        """Rows as their state keeps them. What came before the view joined has no column of its own."""
        names = self.member.names
        items = names[self.side.grouping.partials[0].name]
        if items in kept.column_names:
            pane = names[self.side.grouping.kept.keys[-1].name]
            placed = kept.filter(pc.is_valid(kept.column(pane)))
            rows = unnested(placed, items, pane, self.side.fields)
            if rows.num_rows:
                self.pending += (rows,)

    def settle(self, paired: Sequence[pa.Table], first: int | None) -> None:
        """Some pending rows have met all others; those before a pane are no longer needed."""
        for rows in paired:
            self.paired.add(rows)
        kept = tuple(rows for rows in self.pending if not any(rows is one for one in paired))
        if first is not None:
            self.paired.expire(first)
            kept = tuple(rows.filter(pc.field(PANE) >= first) for rows in kept)
        self.pending = tuple(rows for rows in kept if rows.num_rows)
        pieces = self.paired.unmerged(0, 0)
        self.paired.put({block: together(tables).combine_chunks() for block, tables in pieces.items()})


@dataclass(frozen=True)
class SideLook:
    """The rows of one side at a moment."""

    rows: PairedRows
    paired: Sequence[pa.Table]
    new: Sequence[pa.Table]

    @classmethod
    def within(cls, rows: PairedRows, span: Span) -> SideLook:
        """Those of some panes."""
        new = [one.filter((pc.field(PANE) >= span[0]) & (pc.field(PANE) <= span[1])) for one in rows.pending]
        return cls(rows, rows.paired.cover(*span), new)

    def values(self) -> list[Column]:
        """By what new rows find partners."""
        name = self.rows.side.equal_field
        return [] if name is None else [one.column(name) for one in self.new]

    def joinable(self, wanted: Sequence[Column], *, others_new: bool) -> pa.Table | None:
        """New rows, and those of the paired ones that may have a partner among new rows of the other side: their values
        are `wanted`, if partners are found by values. None if there are no rows."""
        tables = [_flagged(one, is_new=True) for one in self.new if one.num_rows]
        if self.paired and others_new:
            found, name = together(self.paired), self.rows.side.equal_field
            if name is not None:
                values = pc.unique(pa.chunked_array([piece for one in wanted for piece in one.chunks]))
                found = found.filter(pc.is_in(found.column(name), value_set=values, skip_nulls=True))
            if found.num_rows:
                tables.append(_flagged(found, is_new=False))
        return together(tables) if tables else None


def unnested(kept: pa.Table, items: str, pane: str, fields: Mapping[str, object]) -> pa.Table:
    """The rows in arrays of structs one by one, with some of their fields and their pane."""
    lists = kept.column(items).combine_chunks()
    structs, parents = pc.list_flatten(lists), pc.list_parent_indices(lists)
    columns = {name: pc.struct_field(structs, name) for name in fields}
    return pa.table({**columns, PANE: kept.column(pane).combine_chunks().take(parents)})


def _flagged(rows: pa.Table, *, is_new: bool) -> pa.Table:
    return rows.append_column(ROW_IS_NEW, pa.repeat(pa.scalar(is_new), rows.num_rows))

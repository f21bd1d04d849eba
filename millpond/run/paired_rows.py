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
from millpond.state.pane_tree import together
from millpond.stream import Chunk
from millpond.stream_window import FOREVER
from millpond.values.arrays import Array, Column, pc

Span = tuple[int, int]
"""The first and the last of some panes."""

EVERYWHERE: Span = (-FOREVER, FOREVER)


@dataclass
class PairedRows:
    """Rows of one side in memory, one by one and not in arrays as they are stored. Those that are `pending` have yet to
    be paired; `paired` are the others, in the order of the column by which they find partners, if there is one."""

    side: PairSide
    member: Member
    lifetime: Lifetime
    paired: pa.Table = field(init=False)
    pending: tuple[pa.Table, ...] = ()

    def __post_init__(self) -> None:
        self.paired = _no_rows(self.side)

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
        left = [rows for rows in self.pending if not any(rows is one for one in paired)]
        self.pending = tuple(rows for one in left if (rows := one.filter(pc.field(PANE) >= first)).num_rows)
        found = together([self.paired, *paired]).filter(pc.field(PANE) >= first)
        equal = self.side.equal_field
        self.paired = (found if equal is None else found.sort_by(equal)).combine_chunks()

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
    paired: pa.Table
    new: Sequence[pa.Table]

    @classmethod
    def within(cls, rows: PairedRows, span: Span) -> SideLook:
        return cls(rows, span, rows.paired, [_within(one, span) for one in rows.pending])

    def and_untaken(self, chunks: Iterable[Chunk]) -> SideLook:
        """With rows of chunks, which are new."""
        return replace(self, new=[*self.new, *(self.rows.untaken(chunk, self.span) for chunk in chunks)])

    @property
    def new_rows(self) -> pa.Table:
        return _flagged(together([_no_rows(self.rows.side), *self.new]), is_new=True)

    @property
    def old_rows(self) -> pa.Table:
        return _flagged(_within(self.paired, self.span), is_new=False)

    @property
    def all_rows(self) -> pa.Table:
        return together([self.new_rows, self.old_rows])

    def partners_of(self, other: SideLook) -> pa.Table:
        """New rows, and those of the others whose value a new row of the other side has."""
        own, theirs = self.rows.side.equal_field, other.rows.side.equal_field
        if own is None or theirs is None:
            return self.new_rows
        partners = with_values(self.paired, own, pc.unique(other.new_rows.column(theirs)))
        return together([self.new_rows, _flagged(_within(partners, self.span), is_new=False)])


def with_values(rows: pa.Table, name: str, values: Array) -> pa.Table:
    """Those of the rows, which are in the order of a column, that have one of some values in it.

    >>> with_values(pa.table({"k": [1, 2, 2, 5, None]}), "k", pa.array([2, 3, 5, None])).column("k").to_pylist()
    [2, 2, 5]
    """
    column, values = rows.column(name), values.drop_null()
    first, end = (pc.search_sorted(column, values, side).to_numpy().astype(np.int64) for side in ("left", "right"))
    counts = end - first
    before = np.cumsum(counts) - counts
    return rows.take(pa.array(np.repeat(first - before, counts) + np.arange(counts.sum())))


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
    panes = rows.column(PANE)
    return rows.filter(pc.and_(pc.greater_equal(panes, span[0]), pc.less_equal(panes, span[1])))


def _flagged(rows: pa.Table, *, is_new: bool) -> pa.Table:
    return rows.append_column(ROW_IS_NEW, pa.repeat(pa.scalar(is_new), rows.num_rows))


def _no_rows(side: PairSide) -> pa.Table:
    columns = {field: pa.array([], column.type.arrow) for field, column in side.fields.items()}
    return pa.table({**columns, PANE: pa.array([], pa.int64())})

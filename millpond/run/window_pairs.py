"""Pairs of rows of two windows: partials of those that have met, so that a slide joins nothing but what is new.

They are a cache in memory. The rows of both windows are states, which ticks feed; rows that a tick took are pending
until they have been joined with all others, in the background. A read joins rows that are pending, or that no tick has
taken, itself: so it is right at any moment, and after a restart, when all rows are pending.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from millpond import interrupt
from millpond.errors import MillpondError
from millpond.plan.paired import APPEARS, EXPIRES, FIRST_FRAME, LAST_FRAME, PANE, ROW_IS_NEW, Pairs, PairSide
from millpond.plan.pipelines import Grouping
from millpond.run.kept import merged_with
from millpond.run.merge import SMALL_ROWS_MAX, Texts
from millpond.run.paired_rows import EVERYWHERE, PairedRows, SideLook, Span
from millpond.run.repeated_query import RepeatedQuery
from millpond.spark.runner import Input, QueryInput, Runner, StateInput, quote
from millpond.state.pane_tree import together
from millpond.stream import Chunk
from millpond.values.arrays import pc

Joinable = tuple[pa.Table, pa.Table]
"""Rows of both sides."""

_OF_ROWS = (FIRST_FRAME, LAST_FRAME)


@dataclass(frozen=True)
class PairLook:
    """What a frame has at a moment: partials of pairs that are kept, and the rows of both sides."""

    kept: Sequence[pa.Table]
    sides: tuple[SideLook, SideLook]

    def joinable(self) -> list[Joinable]:
        """What to join, so that all pairs with a new row are found once. Partners that are known by their values are
        few; else new rows meet all of the other side, and old ones only new ones."""
        left, right = self.sides
        if left.rows.side.equal is not None:
            return [(left.partners_of(right), right.partners_of(left))]
        return [(left.new_rows, right.all_rows), (left.old_rows, right.new_rows)]

    def lasting(self, oldest: int) -> list[Joinable]:
        """What to join, with the frames from the `oldest` on that each row is in."""
        left, right = (one.rows for one in self.sides)
        return [(left.with_lives(one, oldest), right.with_lives(other, oldest)) for one, other in self.joinable()]

    def and_untaken(self, chunks: Mapping[str, Mapping[int, Chunk]]) -> PairLook:
        """With the rows of chunks, by the names of groupings, that no tick has taken."""
        left, right = (one.and_untaken(chunks[one.rows.side.grouping.name].values()) for one in self.sides)
        return PairLook(self.kept, (left, right))


class WindowPairs:
    """The pairs of one view. Who feeds it holds the lock of the state that the rows are in."""

    def __init__(self, pairs: Pairs, rows: tuple[PairedRows, PairedRows], tag: str, repeated: RepeatedQuery) -> None:
        self._pairs, self._rows = pairs, rows
        self._tag, self._repeated, self._texts = tag, repeated, Texts(tag.replace("-", "_"))
        self._joined_texts: dict[tuple[str, ...], str] = {}
        self._tables: list[pa.Table] = []
        self._failed: list[int] | None = None
        self._lock, self._at_work = threading.Lock(), threading.Lock()

    @property
    def rows(self) -> int:
        """Rows of both sides that have been paired."""
        return sum(rows.paired.num_rows for rows in self._rows)

    @property
    def partials(self) -> int:
        """What is kept of pairs: one for each group and life."""
        return sum(table.num_rows for table in self._tables)

    def partials_with(self, new: int) -> int:
        """About how many partials there would be with those of pending rows and of so many more."""
        if not self._pairs.state.keys:
            return self.partials
        with self._lock:
            new += sum(rows.num_rows for side in self._rows for rows in side.pending)
            return self.partials + (new * min(self.partials, self.rows) // self.rows if self.rows else new)

    @property
    def are_pending(self) -> bool:
        """Whether there is something to do in the background."""
        return any(rows.pending for rows in self._rows)

    @property
    def state_key(self) -> str:
        """Its name in the mapping given to the upper pipeline."""
        return self._pairs.state.key

    def take(self, grouping: str, kept: pa.Table) -> None:
        """Rows that a tick took, of the sides that a grouping keeps."""
        with self._lock:
            for rows in self._rows:
                if rows.side.grouping.name == grouping:
                    rows.take(kept)

    def let_pair_up(self) -> bool:
        """Wait for what goes on in the background, as a reader would have to join the same rows; whether that was
        anything."""
        was_at_work = self._at_work.locked()
        with interrupt.holding(self._at_work):
            return was_at_work

    # -- reading -----------------------------------------------------------------------------------------------------

    def look(self, frames: range, spans: Mapping[str, Span]) -> PairLook:
        """What there is of some frames, whose windows have the panes of these spans."""
        with self._lock:
            left, right = (SideLook.within(rows, spans[rows.side.grouping.name]) for rows in self._rows)
            tables = list(self._tables)
        alive = (pc.field(APPEARS) <= frames[-1]) & (pc.field(EXPIRES) >= frames[0])
        return PairLook([table.filter(alive) for table in tables], (left, right))

    def query(
        self, look: PairLook, chunks: Mapping[str, Mapping[int, Chunk]], texts: Texts, repeated: RepeatedQuery
    ) -> QueryInput:
        """The merged state of one frame, with rows of chunks that no tick has taken."""
        found = look.and_untaken(chunks).joinable()
        joinable = [(one.drop_columns([PANE]), other.drop_columns([PANE])) for one, other in found]
        return self._merged(self._pairs.state, self._pairs.joined_text, joinable, look.kept, texts, repeated)

    def lasting_query(
        self,
        look: PairLook,
        chunks: Mapping[str, Mapping[int, Chunk]],
        frames: range,
        texts: Texts,
        repeated: RepeatedQuery,
    ) -> QueryInput:
        """The merged state of several frames, with the lives of pairs as its last keys: from which to which of these
        frames, counted from 0, so that later ones have the same text."""
        lasting = look.and_untaken(chunks).lasting(frames[0])
        joinable = [(_among(one, *_OF_ROWS, frames), _among(other, *_OF_ROWS, frames)) for one, other in lasting]
        kept = [_among(table, APPEARS, EXPIRES, frames) for table in look.kept]
        return self._merged(self._pairs.kept, self._pairs.lasting_text, joinable, kept, texts, repeated)

    def _merged(
        self,
        state: Grouping,
        joined_text: Callable[[Mapping[str, str]], str],
        joinable: Sequence[Joinable],
        kept: Sequence[pa.Table],
        texts: Texts,
        repeated: RepeatedQuery,
    ) -> QueryInput:
        """Partials that are kept, merged with those of pairs of rows with a new one."""
        small = (
            sum(table.num_rows for table in (*(rows for both in joinable for rows in both), *kept)) <= SMALL_ROWS_MAX
        )
        sources: list[str] = []
        inputs: dict[str, Input] = {}
        for number, both in enumerate(joinable):
            names: dict[str, str] = {}
            for side, rows in zip(self._pairs.sides, both, strict=True):
                name = names[side.key] = texts.name(side.relation.name, number)
                inputs[name] = StateInput((repeated.rows(name, _named(side, rows)),), _schema(side, rows), single=small)
            sources.append(self._printed(joined_text, names))
        if any(table.num_rows for table in kept):
            columns = [column.name for column in state.columns]
            name = texts.name(state.name, "kept")
            schema = ", ".join(f"{column.name} {column.type}" for column in state.columns)
            inputs[name] = StateInput((repeated.rows(name, together(kept).select(columns)),), schema, single=small)
            sources.append(f"SELECT {', '.join(columns)} FROM {name}")
        union = " UNION ALL ".join(sources)
        source = f"SELECT /*+ COALESCE(1) */ * FROM ({union})" if small else union
        return QueryInput(state.merge_text(f"({source})"), inputs)

    def _printed(self, joined_text: Callable[[Mapping[str, str]], str], names: Mapping[str, str]) -> str:
        key = (joined_text.__name__, *names.values())
        if key not in self._joined_texts:
            self._joined_texts[key] = joined_text(names)
        return self._joined_texts[key]

    # -- in the background -------------------------------------------------------------------------------------------

    def pair_up(self, runner: Runner, oldest: int, firsts: Mapping[str, int]) -> None:
        """Join what is pending with all rows, and keep the pairs. Frames before the `oldest` are no longer needed, nor
        panes before the first of each grouping."""
        with self._at_work:
            with self._lock:
                left, right = (SideLook.within(rows, EVERYWHERE) for rows in self._rows)
                tables, pending = self._tables, [rows.pending for rows in self._rows]
            if not any(pending) or self._failed == [len(one) for one in pending]:
                return
            try:
                tables, self._failed = self._paired(runner, PairLook(tables, (left, right)), oldest), None
            except MillpondError:
                # Whoever reads a window with these rows gets the error itself; they are tried again with other ones.
                self._failed, pending = [len(one) for one in pending], [(), ()]
                raise
            finally:
                self._settle(tables, pending, firsts)

    def _settle(
        self, tables: Sequence[pa.Table], paired: Sequence[Sequence[pa.Table]], firsts: Mapping[str, int]
    ) -> None:
        with self._lock:
            self._tables = list(tables)
            for rows, taken in zip(self._rows, paired, strict=True):
                rows.settle(taken, firsts[rows.side.grouping.name])

    def _paired(self, runner: Runner, look: PairLook, oldest: int) -> list[pa.Table]:
        """All tables of pairs after those of pending rows were added."""
        kept = [_alive(table, oldest) for table in look.kept]
        new = sum(rows.num_rows for side in look.sides for rows in side.new)
        merged = merged_with([table.num_rows for table in kept], new)
        joinable = look.lasting(oldest)
        taken, texts, repeated = kept[len(kept) - merged :], self._texts, self._repeated
        query = self._merged(self._pairs.kept, self._pairs.lasting_text, joinable, taken, texts, repeated)
        return [*kept[: len(kept) - merged], repeated.collect(runner, query.text, query.inputs, self._tag)]


def _alive(table: pa.Table, oldest: int) -> pa.Table:
    """Pairs that still live; when they appeared does not matter once all frames that are left have them."""
    alive = table.filter(pc.field(EXPIRES) >= oldest)
    appears = pc.max_element_wise(alive.column(APPEARS), oldest)
    return alive.set_column(alive.schema.get_field_index(APPEARS), APPEARS, appears)


def _among(table: pa.Table, first: str, last: str, frames: range) -> pa.Table:
    """Rows with the first and the last of some frames that have them, counted from 0."""
    ends = (pc.max_element_wise(table.column(first), frames[0]), pc.min_element_wise(table.column(last), frames[-1]))
    for name, end in zip((first, last), ends, strict=True):
        place = table.schema.get_field_index(name)
        table = table.set_column(place, name, pc.subtract(end, frames[0]))
    return table


def _named(side: PairSide, rows: pa.Table) -> pa.Table:
    """Rows under the names that the query which joins them uses."""
    names = {field: column.name for field, column in side.fields.items()}
    return rows.rename_columns([names.get(name, name) for name in rows.column_names])


def _schema(side: PairSide, rows: pa.Table) -> str:
    kinds = {field: (column.name, column.type.spark) for field, column in side.fields.items()}
    kinds |= {ROW_IS_NEW: (ROW_IS_NEW, "BOOLEAN")}
    kinds |= {name: (name, "BIGINT") for name in (FIRST_FRAME, LAST_FRAME)}
    return ", ".join(f"{quote(kinds[name][0])} {kinds[name][1]}" for name in rows.column_names)

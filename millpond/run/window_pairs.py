"""Pairs of rows of two windows: partials of those that have met, so that a slide joins nothing but what is new.

They are a cache in memory. The rows of both windows are states, which ticks feed; rows that a tick took are pending
until they have been joined with all others, in the background. A read joins rows that are pending, or that no tick has
taken, itself: so it is right at any moment, and after a restart, when all rows are pending.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from millpond.errors import MillpondError
from millpond.plan.paired import APPEARS, EXPIRES, FIRST_FRAME, LAST_FRAME, PANE, ROW_IS_NEW, Pairs, PairSide
from millpond.run.kept import merged_with
from millpond.run.merge import SMALL_ROWS_MAX, Texts
from millpond.run.paired_rows import PairedRows, SideLook, Span
from millpond.run.repeated_query import RepeatedQuery
from millpond.spark.runner import Input, QueryInput, Runner, StateInput, quote
from millpond.state.pane_tree import together
from millpond.stream import Chunk
from millpond.values.arrays import Column, pc


@dataclass(frozen=True)
class NewRows:
    """Rows of one side that no tick has taken: the query that makes them, and the chunks that they are in."""

    query: QueryInput
    chunks: Mapping[int, Chunk]

    def values(self, side: PairSide) -> list[Column]:
        """By what they find partners."""
        return [] if side.equal is None else [chunk.read([side.equal]).column(0) for chunk in self.chunks.values()]


@dataclass(frozen=True)
class PairLook:
    """What a frame has at a moment: pairs that are kept, and the rows of both sides."""

    kept: pa.Table | None
    sides: tuple[SideLook, SideLook]


class WindowPairs:
    """The pairs of one view. Who feeds it holds the lock of the state that the rows are in."""

    def __init__(self, pairs: Pairs, rows: tuple[PairedRows, PairedRows], tag: str, repeated: RepeatedQuery) -> None:
        self._pairs, self._rows = pairs, rows
        self._tag, self._repeated, self._texts = tag, repeated, Texts(tag.replace("-", "_"))
        self._tables: list[pa.Table] = []
        self._failed: list[int] | None = None
        self._lock, self._at_work = threading.Lock(), threading.Lock()

    @property
    def kept_rows(self) -> int:
        """Partials of pairs."""
        return sum(table.num_rows for table in self._tables)

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

    # -- reading -----------------------------------------------------------------------------------------------------

    def look(self, frame: int, spans: Mapping[str, Span]) -> PairLook:
        """What there is of a frame, whose windows have the panes of these spans."""
        with self._lock:
            sides = tuple(SideLook.within(rows, spans[rows.side.grouping.name]) for rows in self._rows)
            tables = list(self._tables)
        alive = (pc.field(APPEARS) <= frame) & (pc.field(EXPIRES) >= frame)
        kept = [table.filter(alive) for table in tables]
        return PairLook(together(kept) if kept else None, (sides[0], sides[1]))

    def query(self, look: PairLook, new: Mapping[str, NewRows], texts: Texts, repeated: RepeatedQuery) -> QueryInput:
        """The merged state of a frame, `new` rows of its sides included."""
        state = self._pairs.state
        sources, inputs = self._joined(look.sides, new, texts, repeated)
        if look.kept is not None and look.kept.num_rows:
            name = texts.name(state.name, "kept")
            schema = ", ".join(f"{column.name} {column.type}" for column in state.columns)
            rows = look.kept.select([column.name for column in state.columns])
            inputs[name] = StateInput((repeated.file(name, rows),), schema, single=True)
            sources.append(f"SELECT * FROM {name}")
        union = " UNION ALL ".join(sources)
        return QueryInput(state.merge_text(f"(SELECT /*+ COALESCE(1) */ * FROM ({union}))"), inputs)

    def _joined(
        self, sides: Sequence[SideLook], new: Mapping[str, NewRows], texts: Texts, repeated: RepeatedQuery
    ) -> tuple[list[str], dict[str, Input]]:
        """The text that makes partials of pairs with a new row, and its inputs."""
        untaken = [new.get(one.rows.side.grouping.name) for one in sides]
        names: dict[str, str] = {}
        inputs: dict[str, Input] = {}
        for place, look in enumerate(sides):
            other, chunk = sides[1 - place], untaken[1 - place]
            wanted = [*other.values(), *([] if chunk is None else chunk.values(other.rows.side))]
            found = look.joinable(wanted, others_new=chunk is not None or any(one.num_rows for one in other.new))
            name = names[look.rows.side.key] = texts.name(self._pairs.state.name, "rows", place)
            inputs[name] = _rows_input(name, look.rows.side, found, untaken[place], repeated)
        return [self._pairs.joined_text(names)], inputs

    # -- in the background -------------------------------------------------------------------------------------------

    def pair_up(self, runner: Runner, oldest: int | None, firsts: Mapping[str, int]) -> None:
        """Join what is pending with all rows, and keep the pairs. Frames before the `oldest` are no longer needed, nor
        panes before the first of each grouping."""
        with self._at_work:
            with self._lock:
                sides = [SideLook(rows, rows.paired.cover(*_EVERYTHING), rows.pending) for rows in self._rows]
                tables, pending = self._tables, tuple(rows.pending for rows in self._rows)
            if not any(pending) or self._failed == [len(one) for one in pending]:
                return
            try:
                tables, self._failed = self._paired(runner, sides, tables, oldest), None
            except MillpondError:
                # Whoever reads a window with these rows gets the error itself; they are tried again with other ones.
                self._failed, pending = [len(one) for one in pending], ((), ())
                raise
            finally:
                self._settle(tables, pending, firsts)

    def _settle(self, tables: list[pa.Table], paired: Sequence[Sequence[pa.Table]], firsts: Mapping[str, int]) -> None:
        with self._lock:
            self._tables = tables
            for rows, taken in zip(self._rows, paired, strict=True):
                rows.settle(taken, firsts.get(rows.side.grouping.name))

    def _paired(
        self, runner: Runner, sides: Sequence[SideLook], tables: Sequence[pa.Table], oldest: int | None
    ) -> list[pa.Table]:
        """All tables of pairs after those of pending rows were added."""
        kept = [_lasting(table, oldest) for table in tables]
        new = sum(rows.num_rows for side in sides for rows in side.new)
        merged = merged_with([table.num_rows for table in kept], new)
        taken = kept[len(kept) - merged :]
        names: dict[str, str] = {}
        inputs: dict[str, Input] = {}
        for place, look in enumerate(sides):
            other = sides[1 - place]
            found = look.joinable(other.values(), others_new=any(one.num_rows for one in other.new))
            name = names[look.rows.side.key] = self._texts.name("rows", place)
            inputs[name] = _lasting_input(name, look, found, oldest, self._repeated)
        sources = [self._pairs.lasting_text(names)]
        if any(table.num_rows for table in taken):
            name, state = self._texts.name("kept"), self._pairs.kept
            schema = ", ".join(f"{column.name} {column.type}" for column in state.columns)
            inputs[name] = StateInput((self._repeated.file(name, together(taken)),), schema, single=True)
            sources.append(f"SELECT {', '.join(column.name for column in state.columns)} FROM {name}")
        text = self._pairs.kept.merge_text(f"({' UNION ALL '.join(sources)})")
        return [*kept[: len(kept) - merged], self._repeated.frame(runner, text, inputs, self._tag).collect()]


_EVERYTHING = (-(1 << 62), 1 << 62)


def _lasting(table: pa.Table, oldest: int | None) -> pa.Table:
    """Pairs that still live; when they appeared does not matter once all frames that are left have them."""
    if oldest is None:
        return table
    alive = table.filter(pc.field(EXPIRES) >= oldest)
    appears = pc.max_element_wise(alive.column(APPEARS), oldest)
    return alive.set_column(alive.schema.get_field_index(APPEARS), APPEARS, appears)


def _rows_input(
    name: str, side: PairSide, found: pa.Table | None, new: NewRows | None, repeated: RepeatedQuery
) -> QueryInput:
    """The rows of a side under the names that the query which joins them uses."""
    columns = [f"{field} AS {quote(column.name)}" for field, column in side.fields.items()]
    outputs = ", ".join([*columns, quote(ROW_IS_NEW)])
    sources: list[str] = []
    inputs: dict[str, Input] = {}
    small = True
    if new is not None:
        sources.append(f"SELECT {', '.join([*side.fields, quote(ROW_IS_NEW)])} FROM ({new.query.text})")
        inputs.update(new.query.inputs)
        small = sum(chunk.rows for chunk in new.chunks.values()) <= SMALL_ROWS_MAX
    if found is not None or new is None:
        rows = _no_rows(side) if found is None else found
        small = small and rows.num_rows <= SMALL_ROWS_MAX
        file = repeated.file(name, rows.drop_columns([PANE]))
        inputs[f"{name}_kept"] = StateInput((file,), _schema(side), single=small)
        sources.append(f"SELECT * FROM {name}_kept")
    hint = "/*+ COALESCE(1) */ " if small else ""
    return QueryInput(f"SELECT {hint}{outputs} FROM ({' UNION ALL '.join(sources)})", inputs)


def _lasting_input(
    name: str, look: SideLook, found: pa.Table | None, oldest: int | None, repeated: RepeatedQuery
) -> QueryInput:
    """The rows of a side with their lives."""
    side = look.rows.side
    rows = _no_rows(side) if found is None else found
    first, last = look.rows.lifetime.of(rows.column(PANE).to_numpy())
    first = first if oldest is None else np.maximum(first, oldest)
    lives = {FIRST_FRAME: pa.array(first, pa.int64()), LAST_FRAME: pa.array(last, pa.int64())}
    table = rows.drop_columns([PANE])
    for column, values in lives.items():
        table = table.append_column(column, values)
    small = table.num_rows <= SMALL_ROWS_MAX
    schema = f"{_schema(side)}, {quote(FIRST_FRAME)} BIGINT, {quote(LAST_FRAME)} BIGINT"
    columns = [f"{field} AS {quote(column.name)}" for field, column in side.fields.items()]
    outputs = ", ".join([*columns, *map(quote, (ROW_IS_NEW, FIRST_FRAME, LAST_FRAME))])
    inputs: dict[str, Input] = {f"{name}_kept": StateInput((repeated.file(name, table),), schema, single=small)}
    return QueryInput(f"SELECT {outputs} FROM {name}_kept", inputs)


def _schema(side: PairSide) -> str:
    kinds = [f"{field} {column.type.spark}" for field, column in side.fields.items()]
    return ", ".join([*kinds, f"{quote(ROW_IS_NEW)} BOOLEAN"])


def _no_rows(side: PairSide) -> pa.Table:
    columns = {field: pa.array([], column.type.arrow) for field, column in side.fields.items()}
    return pa.table({**columns, ROW_IS_NEW: pa.array([], pa.bool_()), PANE: pa.array([], pa.int64())})

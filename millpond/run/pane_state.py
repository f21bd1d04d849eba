"""The state of windows: partials of each pane, of which views merge those that their windows have.

A tick adds the partials of its chunk, in memory and as a part on disk. Panes that no window needs any more are
forgotten; parts that are nothing but the past are written anew without it. So memory holds partials, not rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from millpond.plan.pipelines import Grouping
from millpond.plan.shared import MemberId
from millpond.run.axis import Axis, Places, places_of, span_of
from millpond.run.kept import KeptState
from millpond.run.late_rows import FoundLate, LateRows, unpublished
from millpond.run.repeated_query import RepeatedQuery
from millpond.run.statics import Statics
from millpond.spark.runner import Runner, StateInput
from millpond.state.pane_tree import FANOUT, Block, PaneTree, labelled, split_by, together
from millpond.state.records import LatePart, StateRecord
from millpond.stream import Chunk
from millpond.stream_window import SessionWindow
from millpond.values.arrays import pc

PARTS_MAX = 32
"""Parts of the newest ticks; with more of them, all are written as one."""

_LATE = "late"
"""Who listens for the late rows of a view."""

_LEVELS = 64
"""Labels of blocks have room for so many levels."""


@dataclass(frozen=True)
class Need:
    """What a view needs of a state: panes from `first` on, for windows of `panes` each; those before `closed` are
    complete."""

    first: int
    closed: int
    panes: int


@dataclass
class PaneState(KeptState):
    """A state whose last key is the pane. `axes` are those of its streams, `needs` asks each view what it needs, and
    `wishes` of how many rows it wants a chunk to be. `late` is where late rows of its streams go that its views keep,
    and `has_late` tells that some have arrived since the last tick. `on_taken` are told of partials that a
    tick took."""

    axes: Mapping[int, Axis] = field(default_factory=dict)
    tree: PaneTree = field(default_factory=lambda: PaneTree(""))
    merges: RepeatedQuery | None = None
    needs: dict[MemberId, Callable[[], Need | None]] = field(default_factory=dict)
    wishes: dict[MemberId, Callable[[], int | None]] = field(default_factory=dict)
    late: dict[tuple[MemberId, int], LateRows] = field(default_factory=dict)
    has_late: bool = False
    on_taken: dict[MemberId, Callable[[pa.Table], None]] = field(default_factory=dict)
    _absorbed: pa.Table | None = None
    _tidy: bool = False

    def load(self) -> None:
        """Take up the panes that are on disk."""
        for path in self.parts.paths(self.record.parts):
            self.tree.add(pq.read_table(path))

    def accepts(self, grouping: Grouping, statics: Statics) -> bool:
        """Sessions are kept by panes, too, but are not windows that others have."""
        return not isinstance(grouping.window, SessionWindow) and super().accepts(grouping, statics)

    def pin(self, held: ExitStack) -> None:
        """Readers find everything in memory."""

    def leave(self, member_id: MemberId) -> bool:
        with self.lock:
            self.needs.pop(member_id, None)
            self.wishes.pop(member_id, None)
            self.late = {key: late for key, late in self.late.items() if key[0] != member_id}
            self.on_taken.pop(member_id, None)
            for axis in self.axes.values():
                axis.on_events.pop(member_id, None)
                axis.on_events.pop((member_id, _LATE), None)
            return super().leave(member_id)

    def keep_late(self, member_id: MemberId, late: LateRows) -> None:
        """Have the rows published that come too late for a view."""

        def notice(events: Places, complete: Places) -> None:
            self.has_late = self.has_late or bool(late.is_late(events, complete).any())

        with self.lock:
            self.late[member_id, late.source] = late
            self.axes[late.source].on_events[member_id, _LATE] = notice

    # -- the insert half -----------------------------------------------------------------------------------

    def absorb(self, runner: Runner, stream: int, chunk: Chunk) -> StateRecord:
        """The state with the partials of a chunk; panes that are no longer needed are left out."""
        started = time.perf_counter()
        with self.lock:
            grouping, record = self.shared.grouping, self.record
            self.axes[stream].advance(chunk.end)
            needed = self._needed()
        taken, late = self._late_parts(stream, chunk)
        rows = self._collected(runner, grouping, (), {stream: chunk})
        self._absorbed = rows if needed is None else rows.filter(pc.field(grouping.keys[-1].name) >= needed.first)
        parts = (*record.parts, self.parts.write(self._absorbed)) if self._absorbed.num_rows else record.parts
        self.costs.add(started)
        axes = {oid: axis.saved for oid, axis in self.axes.items()}
        if (saved := axes[stream]) is not None:
            axes[stream] = replace(saved, taken=taken)
        waiting = unpublished(record.late, list(self.late.values()))
        return replace(record.advanced(stream, chunk.end, parts), axes=axes, late=(*waiting, *late))

    def _late_parts(self, stream: int, chunk: Chunk) -> tuple[int | None, list[LatePart]]:
        """How far the rows reach with a chunk, and those of it that come too late for views."""
        axis = self.axes[stream]
        if not axis.is_of_events:
            return None, []
        places = places_of(chunk, axis.column)
        events, known = places.drop_null().to_numpy(), np.flatnonzero(pc.is_valid(places).to_numpy())
        complete = axis.complete_before(events, axis.taken)
        parts = []
        for late in self._late_of(stream):
            at = np.flatnonzero(late.is_late(events, complete))
            if len(at):
                parts.append(late.kept(chunk, FoundLate(known[at], complete[at]), self.parts))
        span = span_of(places)
        reached = [one for one in (axis.taken, None if span is None else span.high) if one is not None]
        return max(reached, default=None), parts

    def _late_of(self, stream: int) -> list[LateRows]:
        """Who keeps late rows of a stream."""
        return [late for late in self.late.values() if late.source == stream]

    def publish_late(self) -> None:
        """Publish late rows that ticks have found."""
        with self.lock:
            kept, waiting = list(self.late.values()), self.record.late
        for part in waiting:
            for late in kept:
                late.publish(part, self.parts)

    def show(self, record: StateRecord) -> None:
        with self.lock:
            super().show(record)
            for oid, saved in record.axes.items():
                self.axes[oid].taken = None if saved is None else saved.taken
            self.has_late = self.has_late and any(axis.end > record.offsets[oid] for oid, axis in self.axes.items())
            if self._absorbed is not None:
                self.tree.add(self._absorbed)
                for listener in self.on_taken.values():
                    listener(self._absorbed)
                self._absorbed = None
            needed = self._needed()
            if needed is not None:
                self.tree.expire(needed.first)
            self._tidy = False

    @property
    def chunk_rows(self) -> int | None:
        """How many tuples are worth a tick, if fewer than usual."""
        wished = [rows for wish in self.wishes.values() if (rows := wish()) is not None]
        return min(wished, default=None)

    def _needed(self) -> Need | None:
        """What all views need; None if one cannot say yet."""
        needs = [need() for need in self.needs.values()]
        known = [need for need in needs if need is not None]
        if not known or len(known) < len(needs):
            return None
        return Need(min(one.first for one in known), min(one.closed for one in known), max(one.panes for one in known))

    # -- in the background ---------------------------------------------------------------------------------

    @property
    def is_tidy(self) -> bool:
        return self._tidy

    def compacted(self, runner: Runner) -> StateRecord | None:
        """Merge panes into blocks, in memory; and write the parts as one when they are many or mostly of the past."""
        with self.lock:
            grouping, needed = self.shared.grouping, self._needed()
            blocks = {} if needed is None else self.tree.unmerged(needed.closed, needed.panes)
        if blocks:
            merged = self._merged_blocks(runner, grouping, blocks)
            with self.lock:
                self.tree.put(merged)
        else:
            self._tidy = True
        return self._with_one_part()

    def _with_one_part(self) -> StateRecord | None:
        with self.lock:
            record, rows = self.record, self.tree.rows
            if len(record.parts) <= PARTS_MAX and record.rows <= 4 * max(rows, 1000):
                return None
            everything = self.tree.all()
        return replace(record, parts=() if everything is None else (self.parts.write(everything),))

    def _merged_blocks(
        self, runner: Runner, grouping: Grouping, blocks: Mapping[Block, list[pa.Table]]
    ) -> dict[Block, pa.Table]:
        pane = grouping.keys[-1].name
        rows = together([labelled(tables, pane, place * _LEVELS + level) for (level, place), tables in blocks.items()])
        merged = self._merge_rows(runner, grouping, rows)
        found = {}
        for label, one in split_by(merged, pane):
            place, level = divmod(label, _LEVELS)
            found[level, place] = labelled([one], pane, place * FANOUT**level)
        return found

    def _merge_rows(self, runner: Runner, grouping: Grouping, rows: pa.Table) -> pa.Table:
        """Rows of a state merged by Spark, which alone knows how all aggregates merge."""
        if self.merges is None:
            raise AssertionError("a state of windows was not opened")
        scratch = self.merges.rows("rows", rows)
        schema = ", ".join(f"{column.name} {column.type}" for column in grouping.columns)
        name = f"{self.tag.replace('-', '_')}_blocks"
        inputs = {name: StateInput((scratch,), schema, single=True)}
        return self.merges.collect(runner, grouping.merge_text(name), inputs, self.tag)

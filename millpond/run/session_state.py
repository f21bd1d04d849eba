"""The state of sessions: partials by key and pane, and which panes of a key are of one session.

A session's panes never come apart. So they are merged into its first one when there are many rows, and what is of no
session any more is left out: then the state has one row for each group in each session.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from millpond.plan.pipelines import Grouping
from millpond.run.late_rows import FoundLate
from millpond.run.pane_state import PARTS_MAX, PaneState
from millpond.run.session_list import FIRST_PANE, SessionList
from millpond.run.sessions import Keeps, Sessions
from millpond.run.statics import Statics
from millpond.spark.runner import Runner, StateInput
from millpond.state.pane_tree import PaneTree
from millpond.state.records import LatePart, SavedSessions, StateRecord
from millpond.stream import Chunk


@dataclass
class SessionState(PaneState):
    """The state of one view's grouping. `sessions` are those of the rows that it has taken; readers are ahead."""

    listed: SessionList | None = None
    sessions: Sessions = field(default_factory=lambda: Sessions(1, 0, Keeps(), 0))
    _ahead: Sessions | None = None
    _taken: Sessions | None = None
    _merged: pa.Table | None = None
    _rows_merged: int = 0
    late_rows: int = 0
    _counted_to: int = 0

    def begin(self, grouping: Grouping, keeps: Keeps) -> None:
        """Take up the sessions that are on disk."""
        self.listed = SessionList.of(grouping, f"sessions_{self.oid}")
        oid, saved = self.listed.stream.oid, self.record.sessions
        self.sessions = self.listed.no_sessions(self.axes[oid].delay_us, keeps, self.record.offsets[oid])
        if saved is not None:
            self.sessions.high = saved.high
            for path in self.parts.paths([saved.part]):
                self.sessions.load(pq.read_table(path))

    def accepts(self, grouping: Grouping, statics: Statics) -> bool:  # noqa: ARG002
        """What is kept, and which rows are late, depends on what a view retains: each has a state of its own."""
        return False

    def seen(self, end: int) -> Sessions:
        """The sessions of all rows before the tuple `end`."""
        if self._ahead is None or self._ahead.end < self.sessions.end:
            self._ahead = self.sessions.copy()
        if self._ahead.end < end:
            with self.axes[self._list.stream.oid].stream.hold(self._ahead.end, end) as chunk:
                self._take(self._ahead, chunk)
        return self._ahead

    @property
    def _list(self) -> SessionList:
        assert self.listed is not None, "a state of sessions was not opened"
        return self.listed

    def _take(self, sessions: Sessions, chunk: Chunk) -> FoundLate:
        """Put the rows of a chunk into sessions; those that are late."""
        arrivals, known = self._list.arrivals(chunk.read(self._list.columns))
        late = np.array(sessions.take(arrivals, chunk.end), np.int64).reshape(-1, 2)
        found = FoundLate(known[late[:, 0]], late[:, 1])
        self.late_rows += int((found.numbers + chunk.first >= self._counted_to).sum())
        self._counted_to = max(self._counted_to, chunk.end)
        return found

    # -- the insert half ---------------------------------------------------------------------------------------------

    def absorb(self, runner: Runner, stream: int, chunk: Chunk) -> StateRecord:
        record = super().absorb(runner, stream, chunk)
        assert self._taken is not None
        part = self.parts.write(self._taken.to_table([column.type.arrow for column in self._list.by]))
        return replace(record, sessions=SavedSessions(part, self._taken.high))

    def _late_parts(self, stream: int, chunk: Chunk) -> tuple[int | None, list[LatePart]]:
        with self.lock:
            self._taken = self.sessions.copy()
            found = self._take(self._taken, chunk)
        self._taken.settle()
        parts = [late.kept(chunk, found, self.parts) for late in self._late_of(stream) if len(found.numbers)]
        return self._taken.high, parts

    def show(self, record: StateRecord) -> None:
        with self.lock:
            if self._merged is not None:
                self.tree = PaneTree(self.tree.pane)
                self.tree.add(self._merged)
                self._merged = None
            super().show(record)
            # What a tick took that failed later is none of this.
            if self._taken is not None and self._taken.end == record.offsets[self._list.stream.oid]:
                self.sessions = self._taken
            self._taken = None
            self.tree.expire(self.sessions.first_pane)

    # -- in the background -------------------------------------------------------------------------------------------

    def compacted(self, runner: Runner) -> StateRecord | None:
        """Merge the panes of each session, when parts are many or mostly of the past."""
        with self.lock:
            grouping, record, sessions, everything = self.shared.grouping, self.record, self.sessions, self.tree.all()
        self._tidy = True
        needless = record.rows > 4 * max(self._rows_merged, 1000)
        if everything is None or (len(record.parts) <= PARTS_MAX and not needless):
            return None
        self._merged = self._by_session(runner, grouping, everything, sessions)
        self._rows_merged = self._merged.num_rows
        return replace(record, parts=(self.parts.write(self._merged),))

    def _by_session(self, runner: Runner, grouping: Grouping, rows: pa.Table, sessions: Sessions) -> pa.Table:
        """Rows of the state merged by Spark, those of a session as its first pane."""
        assert self.merges is not None, "a state of sessions was not opened"
        kept = [(key, one) for key, own in sessions.by_key.items() for one in own.sessions]
        name = f"{self.tag.replace('-', '_')}_rows"
        schema = ", ".join(f"{column.name} {column.type}" for column in grouping.columns)
        inputs = {
            name: StateInput((self.merges.rows("rows", rows),), schema, single=True),
            self._list.name: self._list.input(self.merges, kept),
        }
        *keys, pane = (f"x.{key.name}" for key in grouping.keys)
        first = f"s.{FIRST_PANE}"
        partials = [f"{one.merge_text} AS {one.name}" for one in grouping.partials]
        outputs = ", ".join([*keys, f"{first} AS {pane.removeprefix('x.')}", *partials])
        joined = f"{name} x JOIN {self._list.name} s ON {self._list.condition(grouping)}"
        text = f"SELECT {outputs} FROM {joined} GROUP BY {', '.join([*keys, first])}"
        return self.merges.collect(runner, text, inputs, self.tag)

"""Sessions of tuples that a stream holds, found and evaluated in one go: nothing is kept of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from millpond.plan.pipelines import Grouping, SplitPlan
from millpond.plan.shared import Member, SharedGrouping
from millpond.run.session_list import SESSION, SessionList
from millpond.run.session_query import Numbered, SessionQuery
from millpond.run.sessions import Keeps, Key, Session, Sessions
from millpond.run.statics import Statics
from millpond.spark.runner import Input, Runner
from millpond.stream import Chunk
from millpond.types import INTERVAL

_NO_VIEW = 0
"""Without states to share, a query has no name to be told from others by."""


def sessions_in(plan: SplitPlan, chunk: Chunk, delay_us: int, keeps: Keeps) -> Sessions:
    """The sessions of a chunk, in which rows may be late by some time."""
    listed = SessionList.of(plan.groupings[0], "")
    found = listed.no_sessions(delay_us, keeps, chunk.first)
    for piece in chunk.pieces(listed.columns):
        found.take(listed.arrivals(piece)[0], found.end + piece.num_rows)
    return found


@dataclass(frozen=True)
class SessionsOnce:
    """A split query over sessions of a chunk; `live` is what it reads besides, above its groupings."""

    plan: SplitPlan
    statics: Statics
    live: Mapping[str, Input]
    chunk: Chunk
    sessions: Sequence[tuple[Key, Session]]

    def rows(self, runner: Runner, tag: str, directory: Path) -> pa.Table:
        """Its answer for all of the sessions; scratch files go into a directory of its own."""
        if not self.sessions:
            return self._no_rows()
        groupings, name = self.plan.groupings, directory.name.replace("-", "_")
        members = {one.name: _member(one) for one in groupings}
        chunks = {one.name: {line.stream.oid: self.chunk for line in one.pipelines} for one in groupings}
        query = SessionQuery(self.plan, self.statics, members, name, directory)
        numbered = Numbered(self.sessions, 0, dict.fromkeys(chunks), chunks)
        made = query.run(runner, tag, self.live, self.plan.upper.names.constant, numbered)
        return made.drop_columns([SESSION])

    def _no_rows(self) -> pa.Table:
        types = [column.type for column in self.plan.upper.columns]
        kinds = [pa.string() if kind == INTERVAL else kind.arrow for kind in types]
        return pa.table({f"c{place}": pa.array([], kind) for place, kind in enumerate(kinds)})


def _member(grouping: Grouping) -> Member:
    """A grouping that shares with no other."""
    own = (_NO_VIEW, grouping.name)
    return SharedGrouping({}).joined(own, grouping.kept, ()).members[own]

"""A split plan run once, while its streams flow: chunks become partials as they come, the answer comes at the end.

The states are those of views, in scratch files instead of the catalog: a query that fails leaves nothing.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from millpond.plan.pipelines import Grouping, SplitPlan
from millpond.plan.shared import SharedGrouping
from millpond.run.kept import KeptState
from millpond.run.merge import KeptParts, Merge, Texts
from millpond.run.repeated_query import RepeatedQuery
from millpond.run.scans import Scans
from millpond.run.statics import Statics
from millpond.spark.runner import Frame, Input, QueryInput, Runner, renamed
from millpond.state.parts import PartStore
from millpond.state.records import StateRecord
from millpond.stream.shared_chunks import SharedChunk

_NO_VIEW = 0
"""In a state of its own a query has no name to be told from others by."""


class StreamQuery:
    """One query. `statics` is what it reads besides its streams, `directory` a new one for its states."""

    def __init__(
        self, plan: SplitPlan, scans: Scans, statics: Statics, runner: Runner, tag: str, directory: Path
    ) -> None:
        self._plan, self._scans, self._statics = plan, scans, statics
        self._runner, self._tag, self._directory = runner, tag, directory
        self._repeated = RepeatedQuery(directory)
        self._texts = Texts(f"query_{directory.name.replace('-', '_')}")
        self._states = {grouping.name: self._state(grouping) for grouping in plan.groupings}
        self._rest: dict[int, SharedChunk] = {}

    def read(self) -> None:
        """Take all chunks, until the streams have ended. The last ones, whose end is known, wait for the answer."""
        self._statics.compute()  # While the first tuples gather.
        for oid, taken in self._scans.chunks():
            if self._scans.by_stream[oid].ended:
                self._rest[oid] = taken
                continue
            try:
                self._absorb(oid, taken)
            finally:
                taken.release()
            self._scans.passed()

    def frame(self, names: Sequence[str] | None = None) -> Frame:
        """The answer, not computed yet, its columns c0, c1, ... or as named; the query must be kept until it is."""
        states = {grouping.key: self._merged(grouping.name) for grouping in self._plan.groupings}
        given: dict[str, Input] = {**self._statics.pinned, **states}
        read = dict.fromkeys(reference.key for reference in self._plan.upper.relations)
        inputs = {key: self._texts.name("upper", place) for place, key in enumerate(read)}
        text = renamed(self._plan.upper.to_spark(inputs), names)
        return self._runner.frame(text, {name: given[key] for key, name in inputs.items()}, self._tag)

    def close(self) -> None:
        """Let go of everything."""
        for taken in self._rest.values():
            taken.release()
        self._rest.clear()
        shutil.rmtree(self._directory, ignore_errors=True)

    def _state(self, grouping: Grouping) -> KeptState:
        offsets = {line.stream.oid: self._scans.by_stream[line.stream.oid].first for line in grouping.pipelines}
        shared = SharedGrouping({}).joined((_NO_VIEW, grouping.name), grouping, tuple(sorted(offsets.items())))
        parts = PartStore(self._directory / grouping.name, durable=False)
        repeated = RepeatedQuery(self._directory)
        return KeptState(_NO_VIEW, shared, StateRecord(offsets), self._statics, parts, {}, repeated, tag=self._tag)

    def _absorb(self, oid: int, taken: SharedChunk) -> None:
        started = time.perf_counter()
        for state in self._states.values():
            if oid in state.record.offsets:
                state.show(state.absorb(self._runner, oid, taken.chunk))
        self._scans.costs.stream_s += time.perf_counter() - started

    def _merged(self, name: str) -> QueryInput:
        state = self._states[name]
        member = state.shared.members[_NO_VIEW, name]
        kept = KeptParts(state.parts, state.record.parts, member.schema, member.keys, member.select)
        rest = {oid: taken.chunk for oid, taken in self._rest.items()}
        buckets, grouping = self._runner.buckets, member.grouping
        return Merge(buckets, self._texts, self._repeated, grouping, kept, rest, self._statics).query()

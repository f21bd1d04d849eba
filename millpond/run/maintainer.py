"""Keeps the states of one stream up: a tick takes all new segments as one chunk, for all states at once.

Steps of a tick; a crash between two of them repeats the tick from the committed offsets:

1. hold the tuples from the states' offset to the stream's end
2. each state turns them into new parts, which nobody sees yet
3. one catalog transaction records the new parts and offsets of all states
4. the states show their new version, their followers advance, and the old parts are removed
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack

from millpond.errors import MillpondError
from millpond.plan.shared import MemberId
from millpond.relation import Relation
from millpond.run.kept import KeptState
from millpond.spark.runner import Runner
from millpond.state.records import StateRecord
from millpond.stream import Chunk, StreamRelation

Commit = Callable[[dict[int, StateRecord]], None]
"""Records states, by oid, in one catalog transaction."""

SetAside = Callable[[MemberId, MillpondError], None]
"""Takes a view that fails out of its states."""

_IN_THE_DATA = ("21", "22")
"""The classes of errors that lie in the data: they come again however often the chunk is tried."""

_INTERNAL_ERROR = "XX"
_STRIKES_MAX = 3
"""How often a chunk is tried that fails for a reason we do not know. A full disk is tried again for ever."""


class Maintainer:
    """The states of one stream. `lock` is held by whoever ticks, and by whoever adds a state at a certain tuple."""

    def __init__(
        self, relation: Relation, stream: StreamRelation, runner: Runner, commit: Commit, set_aside: SetAside
    ) -> None:
        self.relation, self.stream = relation, stream
        self.lock = threading.RLock()
        self._runner, self._commit, self._set_aside = runner, commit, set_aside
        self._states: list[KeptState] = []

    def add(self, state: KeptState) -> None:
        with self.lock:
            self._states.append(state)

    def offset(self) -> int:
        """The first tuple that some state has yet to take. Others who follow the stream may be further behind."""
        taken = (self._offset(state) for state in list(self._states) if not state.closed)
        return min(taken, default=int(self.stream.stats().end_tid))

    def pending(self) -> int:
        """Tuples that some state has yet to take."""
        return self.stream.stats().end_tid - self.offset()

    def chunk_rows(self, usual: int) -> int:
        """How many tuples are worth a tick."""
        wished = (state.chunk_rows for state in list(self._states) if not state.closed)
        return min((rows for rows in wished if rows is not None), default=usual)

    def catch_up(self) -> None:
        """Bring all states to the stream's end as it is now. Whoever waits for the same tick shares it."""
        end = self.stream.stats().end_tid
        with self.lock:
            self._states = [state for state in self._states if not state.closed]
            if self.is_behind(end):
                self._tick()

    def is_behind(self, end: int) -> bool:
        """Whether some state has yet to take a tuple before `end`."""
        return any(self._offset(state) < end for state in list(self._states) if not state.closed)

    def compact(self) -> None:
        """Merge the parts of states that have many, while nothing else is to be done."""
        for state in list(self._states):
            if not state.is_tidy and not state.closed:
                with state.tick_lock:
                    record = state.compacted(self._runner)
                    if record is not None:
                        self._commit({state.oid: record})
                        state.show(record)

    def _offset(self, state: KeptState) -> int:
        return state.record.offsets[self.relation.oid]

    def _tick(self) -> None:
        end = self.stream.stats().end_tid
        for offset in sorted({self._offset(state) for state in self._states}):
            if offset < end:
                self._take(offset, end, [state for state in self._states if self._offset(state) == offset])

    def _take(self, offset: int, end: int, states: list[KeptState]) -> None:
        with self.stream.hold(offset, end) as chunk, ExitStack() as locked:
            for state in sorted(states, key=lambda one: one.oid):
                locked.enter_context(state.tick_lock)
            records = {state.oid: self._absorbed(state, chunk) for state in states}
            done = {oid: record for oid, record in records.items() if record is not None}
            self._commit(done)
            for state in states:
                if state.oid in done:
                    state.show(done[state.oid])

    def _absorbed(self, state: KeptState, chunk: Chunk) -> StateRecord | None:
        """A state after the chunk. Views that fail are set aside and hold nobody up; None if no view is left."""
        while not state.closed:
            try:
                return state.absorb(self._runner, self.relation.oid, chunk)
            except MillpondError as error:
                failing = self._failing(state, chunk, error)
                if not failing:
                    raise
                for member_id, own_error in failing.items():
                    self._set_aside(member_id, own_error)
        return None

    def _failing(self, state: KeptState, chunk: Chunk, error: MillpondError) -> dict[MemberId, MillpondError]:
        """Which views of a state are to blame for an error, each with its own."""
        members = list(state.shared.members)
        if error.sqlstate.value.startswith(_IN_THE_DATA):
            if len(members) == 1:
                return {members[0]: error}
            return self._tried_alone(state, chunk, members)
        state.strikes += 1
        lasting = error.sqlstate.value.startswith(_INTERNAL_ERROR) and state.strikes >= _STRIKES_MAX
        return dict.fromkeys(members, error) if lasting else {}

    def _tried_alone(self, state: KeptState, chunk: Chunk, members: list[MemberId]) -> dict[MemberId, MillpondError]:
        failing = {}
        for member_id in members:
            try:
                state.try_alone(self._runner, member_id, self.relation.oid, chunk)
            except MillpondError as own_error:
                failing[member_id] = own_error
        return failing

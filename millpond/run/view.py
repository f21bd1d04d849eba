"""A continuous view as its readers see it: its plan, the states it reads, and the answer it gave last.

A read merges what the states hold with the tuples that no tick has taken yet, and runs the upper pipeline. Nothing new
means that nothing is computed: the last answer is given again.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from millpond import interrupt
from millpond.errors import MillpondError
from millpond.files import Pins
from millpond.plan.pipelines import SplitPlan
from millpond.plan.shared import Member, MemberId
from millpond.relation import Relation
from millpond.run.kept import Costs, KeptState
from millpond.run.merge import KeptParts, Merge, Texts
from millpond.run.repeated_query import RepeatedQuery
from millpond.run.statics import Statics
from millpond.spark.runner import Input, QueryInput, Runner, changeable
from millpond.state.records import StateRecord, ViewRecord
from millpond.stream import Chunk, StreamRelation
from millpond.stream_window import moment

READ_ALONG_FILES = 6
READ_ALONG_ROWS = 20_000
"""A reader that takes along more than this asks the background for a tick, so that the next reader finds less."""


@dataclass(frozen=True)
class Answer:
    """What a view holds at a version of the tables that it reads live; `ends` are where it has read each stream to, by
    oid. Of a view over windows, `slide` is the newest one."""

    token: object
    rows: pa.Table
    made_at: float
    ends: Mapping[int, int]
    slide: int | None = None


@dataclass(frozen=True)
class Seen:
    """What a read works on, in place until it is over: a version of each state, and the tuples after it."""

    records: Mapping[str, StateRecord]
    chunks: Mapping[str, Mapping[int, Chunk]]

    def read_along(self) -> list[tuple[int, int]]:
        """Streams of which the read took something along, and from which tuple on."""
        return [(oid, chunk.first) for by_stream in self.chunks.values() for oid, chunk in by_stream.items()]

    def much_read_along(self) -> list[tuple[int, int]]:
        """Streams of which the read took along so much that it made a difference, and from which tuple on."""
        chunks = [item for by_stream in self.chunks.values() for item in by_stream.items()]
        much = [item for item in chunks if item[1].rows > READ_ALONG_ROWS or len(item[1].files) > READ_ALONG_FILES]
        return [(oid, chunk.first) for oid, chunk in much]


@dataclass
class ContinuousView:
    """One view. `statics` is what is joined below its groupings, from tables as they were at its creation.

    `states` are where its groupings are kept, as `members` among those of other views. A view with an `error` was set
    aside.
    """

    relation: Relation
    plan: SplitPlan
    statics: Statics
    record: ViewRecord
    states: Mapping[str, KeptState]
    members: Mapping[str, Member]
    streams: Mapping[int, StreamRelation]
    repeated: RepeatedQuery
    error: MillpondError | None = None
    costs: Costs = field(default_factory=Costs)
    pins: Pins = field(default_factory=Pins)
    ask_for_tick: Callable[[int, int], None] = lambda _stream, _offset: None
    lock: threading.RLock = field(default_factory=threading.RLock)
    _answer: Answer | None = None
    _file: tuple[Answer, Path] | None = None

    def member_id(self, grouping: str) -> MemberId:
        return self.relation.oid, grouping

    def __post_init__(self) -> None:
        self.texts = Texts(f"view_{self.relation.oid}")

    @property
    def is_open(self) -> bool:
        """Whether its streams are there."""
        return all(stream.is_open for stream in self.streams.values())

    @property
    def lag(self) -> int:
        """Tuples that have arrived and that some state has yet to take."""
        taken = {oid: min(state.record.offsets[oid] for state in self._states_of(oid)) for oid in self._followed}
        return sum(self.streams[oid].stats().end_tid - offset for oid, offset in taken.items())

    @property
    def tuples_in(self) -> int:
        """Tuples that the view has taken since its creation."""
        taken = {oid: self._states_of(oid)[0].record.taken.get(oid, 0) for oid in self._followed}
        return sum(taken.values()) - sum(self.record.taken_before.get(oid, 0) for oid in taken)

    @property
    def _followed(self) -> list[int]:
        return [oid for oid in self.streams if self._states_of(oid)]

    def _states_of(self, stream: int) -> list[KeptState]:
        return [state for state in self.states.values() if stream in state.record.offsets]

    # -- reading -------------------------------------------------------------------------------------------

    def answer(self, runner: Runner, tag: str, live: Mapping[str, Input], token: object) -> Answer:
        """What the view holds now, with the tuples that no tick has taken yet, in one Spark job under the reader's tag.

        `live` are the tables above its groupings, `token` tells their versions.
        """
        with interrupt.holding(self.lock):
            if self.error is not None:
                raise self.error
            ends = {oid: int(stream.stats().end_tid) for oid, stream in self.streams.items()}
            last = self._answer
            if last is not None and last.token == (ends, token) and not self.plan.reads_clock:
                return last
            with ExitStack() as held:
                ends, seen = self._hold(held)
                started = time.perf_counter()
                rows = self._computed(runner, tag, live, seen)
                self.costs.add(started)
                for oid, offset in seen.much_read_along():
                    self.ask_for_tick(oid, offset)
            self._answer = Answer((ends, token), rows, time.time(), ends)
            return self._answer

    def recent_answer(self, age_max_s: float) -> Answer | None:
        """The last answer, if it is not older than that."""
        last = self._answer
        if last is None or self.error is not None or time.time() - last.made_at > age_max_s:
            return None
        return last

    def _hold(self, held: ExitStack) -> tuple[dict[int, int], Seen]:
        """All states as they are at one moment, and the tuples that have arrived since: together one point in time."""
        with ExitStack() as locked:
            for state in sorted(self.states.values(), key=lambda one: one.oid):
                locked.enter_context(state.lock)
            records = {name: state.record for name, state in self.states.items()}
            ends = {oid: int(stream.stats().end_tid) for oid, stream in self.streams.items()}
            for state in self.states.values():
                state.pin(held)
            chunks = {
                name: {
                    oid: held.enter_context(self.streams[oid].hold(offset, ends[oid]))
                    for oid, offset in record.offsets.items()
                    if offset < ends[oid]
                }
                for name, record in records.items()
            }
        return ends, Seen(records, chunks)

    def _computed(self, runner: Runner, tag: str, live: Mapping[str, Input], seen: Seen) -> pa.Table:
        states = {grouping.key: self._merged(runner, grouping.name, seen) for grouping in self.plan.groupings}
        return self._run_upper(runner, tag, live, states)

    def _run_upper(
        self, runner: Runner, tag: str, live: Mapping[str, Input], states: Mapping[str, QueryInput]
    ) -> pa.Table:
        given: dict[str, Input] = {**self.statics.pinned, **live, **states}
        read = dict.fromkeys(reference.key for reference in self.plan.upper.relations)
        names = {key: self.texts.name("upper", place) for place, key in enumerate(read)}
        inputs = {name: changeable(given[key]) for key, name in names.items()}
        return self.repeated.collect(runner, self._upper_text(names), inputs, tag)

    def _upper_text(self, names: Mapping[str, str]) -> str:
        if not self.plan.has_constants:
            return self.texts.text(self.plan.upper, names)
        return self.plan.upper.to_spark(names, self._constant)

    def _constant(self, name: str) -> datetime | date | str | int | None:
        """What is constant during a read is that of the moment of the read."""
        return self.now() if name == "now" else self.plan.upper.names.constant(name)

    def now(self) -> datetime:
        """The time by the clock of its streams."""
        return moment(max(stream.now_us() for stream in self.streams.values()))

    def _merged(self, runner: Runner, name: str, seen: Seen) -> QueryInput:
        member = self.members[name]
        parts = seen.records[name].parts
        kept = KeptParts(self.states[name].parts, parts, member.schema, member.keys, member.select)
        chunks = seen.chunks[name]
        return Merge(runner.buckets, self.texts, self.repeated, member.grouping, kept, chunks, self.statics).query()

    def _no_rows(self) -> pa.Table:
        types = [column.type.arrow for column in self.relation.columns]
        return pa.table({f"c{place}": pa.array([], kind) for place, kind in enumerate(types)})

    # -- the answer as a file ------------------------------------------------------------------------------

    def file_of(self, answer: Answer, directory: Path) -> tuple[Path, Callable[[], None]]:
        """The answer as a Parquet file, for queries that read the view among other relations, and how to let it go.

        The file of an older answer is removed as soon as no query reads it.
        """
        with self.lock:
            if self._file is None or self._file[0] is not answer:
                path = directory / f"view-{uuid.uuid4().hex}.parquet"
                pq.write_table(answer.rows.rename_columns([c.name for c in self.relation.columns]), path)
                self._forget_file()
                self._file = (answer, path)
            path = self._file[1]
            return path, self.pins.pin(path)

    def forget(self) -> None:
        """Remove what the last read left, once it is unused."""
        with self.lock:
            self._forget_file()

    def _forget_file(self) -> None:
        if self._file is not None:
            path = self._file[1]
            self.pins.when_unused(path, partial(path.unlink, missing_ok=True))
            self._file = None

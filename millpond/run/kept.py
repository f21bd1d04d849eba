"""A state that continuous views keep: parts that grow by a chunk at each tick, for all views that share it.

New partials are parts of their own beside larger ones, and merge with those that are not much larger, as in a
log-structured merge tree: each tuple is merged a few times, and a read finds few parts.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

import pyarrow as pa

from millpond.plan.pipelines import Grouping
from millpond.plan.shared import Member, MemberId, SharedGrouping, Since
from millpond.run.merge import KeptParts, Merge, Texts
from millpond.run.repeated_query import RepeatedQuery
from millpond.run.statics import Statics, key_of
from millpond.spark.runner import Frame, QueryInput, Runner
from millpond.state.parts import PartStore
from millpond.state.records import Link, Part, StateRecord
from millpond.stream import Chunk, Follower

COLLECTED_ROWS_MAX = 100_000
"""Up to so many groups come to the driver and are written from there, which saves Spark's cost of writing files."""

PARTS_MAX = 8
"""With more parts a read would plan longer than it runs."""


@dataclass
class Costs:
    """Where the time went, for `millpond_views`."""

    seconds: float = 0.0
    runs: int = 0
    last_at: float | None = None

    def add(self, started: float) -> None:
        self.seconds += time.perf_counter() - started
        self.runs += 1
        self.last_at = time.time()


@dataclass
class KeptState:
    """One state. `statics` is what the first of its views reads below its grouping besides the streams, `tag` names its
    Spark jobs.

    `lock` guards what readers and members see; `tick_lock` is held while parts are made, until they are shown.
    """

    oid: int
    shared: SharedGrouping
    record: StateRecord
    statics: Statics
    parts: PartStore
    followers: Mapping[int, Follower]
    repeated: RepeatedQuery
    tag: str = ""
    costs: Costs = field(default_factory=Costs)
    lock: threading.RLock = field(default_factory=threading.RLock)
    tick_lock: threading.Lock = field(default_factory=threading.Lock)
    strikes: int = 0
    closed: bool = False

    def __post_init__(self) -> None:
        self.tag = self.tag or f"millpond-state-{self.oid}"

    # -- members -------------------------------------------------------------------------------------------

    def accepts(self, grouping: Grouping, statics: Statics) -> bool:
        """Whether a grouping over the same tables can join."""
        own = {key_of(static): None for pipeline in grouping.pipelines for static in pipeline.statics}
        same_tables = all(self.statics.definition(key) == statics.definition(key) for key in own)
        return not self.closed and same_tables and self.shared.accepts(grouping)

    def join(self, member_id: MemberId, grouping: Grouping, since: Since) -> Member:
        """Keep a grouping here from the next chunk on."""
        with self.lock:
            self.shared = self.shared.joined(member_id, grouping, since)
            self.record = replace(self.record, columns_made=self.shared.columns_made)
            return self.shared.members[member_id]

    def rejoin(self, member_id: MemberId, grouping: Grouping, since: Since, link: Link) -> Member:
        """Go on with a grouping that was kept here before the pond was closed."""
        with self.lock:
            self.shared = self.shared.rejoined(member_id, grouping, since, link.names, link.presence)
            return self.shared.members[member_id]

    def leave(self, member_id: MemberId) -> bool:
        """Keep a grouping no longer; whether nobody is left."""
        with self.lock:
            self.shared = self.shared.left(member_id)
            self.closed = self.closed or not self.shared.members
            return not self.shared.members

    def pin(self, held: ExitStack) -> None:
        """Keep in place what a reader needs, as long as it holds it."""
        for part in self.record.parts:
            held.callback(self.parts.pins.pin(part.name))

    def close(self) -> None:
        """Forget everything, once no reader uses it."""
        with self.lock:
            self.closed = True
            for follower in self.followers.values():
                follower.close()
            self.parts.remove_all(self.record.names())

    # -- the insert half -----------------------------------------------------------------------------------

    def absorb(self, runner: Runner, stream: int, chunk: Chunk) -> StateRecord:
        """The state after a chunk. It is not shown until the catalog has committed it."""
        started = time.perf_counter()
        with self.lock:
            grouping, record = self.shared.grouping, self.record
        merged = merged_with([part.rows for part in record.parts], chunk.rows)
        kept = record.parts[: len(record.parts) - merged]
        taken = record.parts[len(kept) :]
        part = self._store(runner, grouping, taken, {stream: chunk}, few=self._few(grouping, record, chunk))
        self.costs.add(started)
        return record.advanced(stream, chunk.end, (*kept, part))

    def try_alone(self, runner: Runner, member_id: MemberId, stream: int, chunk: Chunk) -> None:
        """Compute what one member keeps after a chunk, to see whether it fails."""
        with self.lock:
            alone = SharedGrouping({member_id: self.shared.members[member_id]}, self.shared.columns_made)
        self._collected(runner, alone.grouping, self.record.parts, {stream: chunk})

    @property
    def chunk_rows(self) -> int | None:
        """How many tuples are worth a tick, if fewer than usual."""
        return None

    @property
    def is_tidy(self) -> bool:
        """Whether there is nothing to do in the background."""
        return len(self.record.parts) < 2

    def compacted(self, runner: Runner) -> StateRecord | None:
        """The state with its parts merged into one, None if that is not worth it."""
        with self.lock:
            grouping, record = self.shared.grouping, self.record
        base, *newer = (part.rows for part in record.parts)
        if len(record.parts) < PARTS_MAX and sum(newer) * 2 < base:
            return None
        part = self._store(runner, grouping, record.parts, {}, few=base <= COLLECTED_ROWS_MAX)
        return replace(record, parts=(part,))

    def show(self, record: StateRecord) -> None:
        """Let readers see a committed version, and remove the parts that it no longer has."""
        with self.lock:
            gone = self.record.names() - record.names()
            # A view may have joined or left since the version was made.
            self.record = replace(record, columns_made=self.shared.columns_made)
            for stream, follower in self.followers.items():
                follower.advance(record.offsets[stream])
            self.strikes = 0
        self.parts.remove(gone)

    def _few(self, grouping: Grouping, record: StateRecord, chunk: Chunk) -> bool:
        """Whether the groups after a chunk are expected to be few: as many rows before made few of them."""
        groups = record.rows
        known = sum(record.taken.values()) >= chunk.rows or groups + chunk.rows <= COLLECTED_ROWS_MAX
        return not grouping.keys or (known and groups <= COLLECTED_ROWS_MAX)

    def _store(
        self, runner: Runner, grouping: Grouping, parts: Sequence[Part], chunks: Mapping[int, Chunk], *, few: bool
    ) -> Part:
        if few:
            return self.parts.write(self._collected(runner, grouping, parts, chunks))
        frame = self._frame(runner, grouping, parts, chunks)
        directory = self.parts.new_directory()
        frame.write(directory, buckets=runner.buckets, keys=[key.name for key in grouping.keys])
        return self.parts.adopt(directory, buckets=runner.buckets)

    def _frame(self, runner: Runner, grouping: Grouping, parts: Sequence[Part], chunks: Mapping[int, Chunk]) -> Frame:
        query = self._query(runner, grouping, parts, chunks)
        return self.repeated.frame(runner, query.text, query.inputs, self.tag)

    def _collected(
        self, runner: Runner, grouping: Grouping, parts: Sequence[Part], chunks: Mapping[int, Chunk]
    ) -> pa.Table:
        query = self._query(runner, grouping, parts, chunks)
        return self.repeated.collect(runner, query.text, query.inputs, self.tag)

    def _query(
        self, runner: Runner, grouping: Grouping, parts: Sequence[Part], chunks: Mapping[int, Chunk]
    ) -> QueryInput:
        names = ", ".join(column.name for column in grouping.columns)
        schema = ", ".join(f"{column.name} {column.type}" for column in grouping.columns)
        keys = tuple(key.name for key in grouping.keys)
        kept = KeptParts(self.parts, parts, schema, keys, lambda source: f"SELECT {names} FROM {source}")
        texts = Texts(_name(self.tag))
        return Merge(runner.buckets, texts, self.repeated, grouping, kept, chunks, self.statics).query()


def _name(tag: str) -> str:
    return tag.replace("-", "_")


def merged_with(sizes: Sequence[int], rows: int) -> int:
    """How many of the newest parts, by their rows, to merge with a chunk in the same job: as in a binary counter, those
    that are not larger than what is merged already.

    >>> merged_with([900_000, 40_000, 20_000], 20_000), merged_with([900_000, 40_000, 20_000], 10_000)
    (2, 0)
    """
    if sum(sizes) <= COLLECTED_ROWS_MAX:
        return len(sizes)
    merged = 0
    for size in reversed(sizes):
        if size > rows:
            break
        merged, rows = merged + 1, rows + size
    return merged

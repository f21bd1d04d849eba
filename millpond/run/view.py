"""A continuous view: its plan, its state, and the answer it gave last.

The insert half (`absorb`) turns a chunk of a stream into new parts; the read half (`answer`) merges what there is and
runs the upper pipeline. Nothing new means that nothing is computed: the last answer is given again.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from millpond.errors import MillpondError
from millpond.plan.pipelines import Grouping, SplitPlan, StreamPipeline
from millpond.relation import Relation
from millpond.spark.runner import FileInput, Input, QueryInput, Runner, StateInput
from millpond.sql.translate import relation_key
from millpond.state.parts import PartStore
from millpond.state.view_state import Part, ViewState
from millpond.stream import Chunk, StreamRelation

ROWS_MERGED_AT_ONCE = 100_000
"""A state of up to so many groups is merged with each new chunk in the same job, so that it is always one part."""

PARTS_MAX = 8
"""Parts of a larger state; with more of them a read would plan longer than it runs."""


def key_of(relation: Relation) -> str:
    """A relation's name in the mappings that pipelines are printed with."""
    return relation_key(relation.schema, relation.name)


@dataclass(frozen=True)
class Answer:
    """What a view holds at a version of its state and of the tables that it reads live; `ends` are where it has read
    each stream to, by oid."""

    token: object
    rows: pa.Table
    made_at: float
    ends: Mapping[int, int]


@dataclass
class Costs:
    """Where the time of a view went, for `millpond_views`."""

    insert_seconds: float = 0.0
    read_seconds: float = 0.0
    ticks: int = 0
    reads: int = 0
    last_tick_at: float | None = None


@dataclass
class ContinuousView:
    """One view. `statics` are the tables joined below its groupings, pinned to their version at creation.

    `lock` guards what readers see; `tick_lock` is held from absorbing a chunk until its state is shown, since a view
    of several streams has as many maintainers.
    """

    relation: Relation
    plan: SplitPlan
    statics: Mapping[str, FileInput]
    parts: PartStore
    state: ViewState
    error: MillpondError | None = None
    costs: Costs = field(default_factory=Costs)
    lock: threading.RLock = field(default_factory=threading.RLock)
    tick_lock: threading.Lock = field(default_factory=threading.Lock)
    _answer: Answer | None = None
    _file: tuple[Answer, Path] | None = None

    @property
    def tag(self) -> str:
        return f"millpond-view-{self.relation.oid}"

    # -- the insert half -----------------------------------------------------------------------------------

    def absorb(self, runner: Runner, stream: Relation, chunk: Chunk) -> ViewState:
        """The state after a chunk. It is not the view's until the catalog has committed it."""
        started = time.perf_counter()
        changed = {
            grouping.name: self._with_chunk(runner, grouping, {stream.oid: chunk})
            for grouping in self.plan.groupings
            if any(pipeline.stream.oid == stream.oid for pipeline in grouping.pipelines)
        }
        self.costs.insert_seconds += time.perf_counter() - started
        return self.state.advanced(stream.oid, chunk.end, changed)

    def _with_chunk(self, runner: Runner, grouping: Grouping, chunks: Mapping[int, Chunk]) -> tuple[Part, ...]:
        """A grouping's parts with a chunk: merged into one if they are small, beside the others if not."""
        before = self.state.parts.get(grouping.name, ())
        small = sum(part.rows for part in before) <= ROWS_MERGED_AT_ONCE
        part = self._store(runner, self._merged(runner, grouping, before if small else (), chunks), large=not small)
        if small:
            return (part,)
        if len(before) < PARTS_MAX:
            return (*before, part)
        return (self._store(runner, self._merged(runner, grouping, (*before, part), {}), large=True),)

    def _store(self, runner: Runner, query: QueryInput, *, large: bool) -> Part:
        frame = runner.frame(query.text, query.inputs, self.tag)
        if not large:
            return self.parts.write(frame.collect())
        directory = self.parts.new_directory()
        frame.write(directory)
        return self.parts.adopt(directory)

    # -- the read half -------------------------------------------------------------------------------------

    def answer(
        self, runner: Runner, tag: str, live: Mapping[str, Input], token: object, streams: Mapping[int, StreamRelation]
    ) -> Answer:
        """What the view holds now, with the tuples that no tick has taken yet, in one Spark job under the reader's tag.

        `live` are the tables above its groupings, `token` tells their versions.
        """
        with self.lock:
            if self.error is not None:
                raise self.error
            ends = {oid: stream.stats().end_tid for oid, stream in streams.items()}
            current = (self.state, tuple(ends.values()), token)
            if self._answer is None or self._answer.token != current:
                with ExitStack() as held:
                    for name in self.state.names():
                        held.callback(self.parts.pins.pin(name))
                    chunks = {
                        oid: held.enter_context(streams[oid].hold(self.state.offsets[oid], end))
                        for oid, end in ends.items()
                        if end > self.state.offsets[oid]
                    }
                    rows = self._computed(runner, tag, live, chunks)
                    self._answer = Answer(current, rows, time.time(), ends)
            return self._answer

    def recent_answer(self, age_max_s: float) -> Answer | None:
        """The last answer, if it is not older than that."""
        last = self._answer
        if last is None or self.error is not None or time.time() - last.made_at > age_max_s:
            return None
        return last

    def _computed(self, runner: Runner, tag: str, live: Mapping[str, Input], chunks: Mapping[int, Chunk]) -> pa.Table:
        started = time.perf_counter()
        states = {
            grouping.key: self._merged(runner, grouping, self.state.parts.get(grouping.name, ()), chunks)
            for grouping in self.plan.groupings
        }
        given: dict[str, Input] = {**self.statics, **live, **states}
        names = {reference.key: runner.new_name() for reference in self.plan.upper.relations}
        inputs = {name: given[key] for key, name in names.items()}
        rows = runner.frame(self.plan.upper.to_spark(names), inputs, tag).collect()
        self.costs.read_seconds += time.perf_counter() - started
        self.costs.reads += 1
        return rows

    # -- both ----------------------------------------------------------------------------------------------

    def _merged(
        self, runner: Runner, grouping: Grouping, parts: Sequence[Part], chunks: Mapping[int, Chunk]
    ) -> QueryInput:
        """Parts and the partials of chunks, merged: a query over both."""
        inputs: dict[str, Input] = {}
        sources = [
            self._partial(runner, pipeline, chunks[pipeline.stream.oid], inputs)
            for pipeline in grouping.pipelines
            if pipeline.stream.oid in chunks
        ]
        if parts or not sources:
            name = runner.new_name()
            schema = ", ".join(f"{column.name} {column.type}" for column in grouping.columns)
            inputs[name] = StateInput(self.parts.paths(parts), schema)
            sources.append(f"SELECT {', '.join(column.name for column in grouping.columns)} FROM {name}")
        # One part of a grouping, or one partial, is merged already.
        if len(sources) == 1 and (parts or grouping.keys) and len(parts) < 2:
            return QueryInput(sources[0], inputs)
        return QueryInput(grouping.merge_text(f"({' UNION ALL '.join(sources)})"), inputs)

    def _partial(self, runner: Runner, pipeline: StreamPipeline, chunk: Chunk, inputs: dict[str, Input]) -> str:
        """The text of a stream pipeline over a chunk; what it reads is added to `inputs`."""
        paths = tuple(str(file.path) for file in chunk.files)
        tids = (chunk.first, chunk.end) if chunk.is_cut else None
        given: dict[str, Input] = {key_of(static): self.statics[key_of(static)] for static in pipeline.statics}
        given[key_of(pipeline.stream)] = FileInput(paths, pipeline.stream.columns, is_stream=True, tids=tids)
        names = {key: runner.new_name() for key in given}
        inputs.update({names[key]: one for key, one in given.items()})
        return pipeline.to_spark(names)

    def file_of(self, answer: Answer, directory: Path) -> tuple[Path, Callable[[], None]]:
        """The answer as a Parquet file, for queries that read the view among other relations, and how to let it go.

        The file of an older answer is removed as soon as no query reads it.
        """
        with self.lock:
            if self._file is None or self._file[0] is not answer:
                path = directory / f"view-{uuid.uuid4().hex}.parquet"
                pq.write_table(answer.rows.rename_columns([c.name for c in self.relation.columns]), path)
                self.forget_file()
                self._file = (answer, path)
            path = self._file[1]
            return path, self.parts.pins.pin(path)

    def forget_file(self) -> None:
        """Remove the file of the last answer once it is unused."""
        if self._file is not None:
            path = self._file[1]
            self.parts.pins.when_unused(path, partial(path.unlink, missing_ok=True))
            self._file = None

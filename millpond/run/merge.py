"""Queries that merge: the parts of a state and the partials of chunks, as one relation for the pipeline above."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from millpond.plan.pipelines import Grouping, StreamPipeline
from millpond.run.repeated_query import RepeatedQuery
from millpond.run.statics import Statics, key_of
from millpond.run.units import counted_in_units
from millpond.spark.runner import Input, QueryInput, StateInput
from millpond.sql.bind import BoundQuery
from millpond.state.parts import PartStore
from millpond.state.records import Part
from millpond.stream import Chunk

SMALL_ROWS_MAX = 200_000
"""Up to so many rows are merged in one task: a shuffle would take longer than the work."""


@dataclass(frozen=True)
class KeptParts:
    """Parts of a state, with the columns and the keys that they have, and how a grouping reads itself from them."""

    store: PartStore
    parts: Sequence[Part]
    schema: str
    keys: tuple[str, ...]
    select: Callable[[str], str]

    @property
    def rows(self) -> int:
        return sum(part.rows for part in self.parts)


Clip = Callable[[str], str]
"""Takes some rows of a partial: Spark SQL in, and out."""


class Texts:
    """Names for inputs, the same ones for each query of one owner, and so the texts that were printed with them.

    An owner runs one query at a time.
    """

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._printed: dict[tuple[int, str], tuple[StreamPipeline | BoundQuery, str]] = {}

    def name(self, *parts: object) -> str:
        return "_".join((self._prefix, *map(str, parts)))

    def text(self, printable: StreamPipeline | BoundQuery, names: Mapping[str, str]) -> str:
        """A pipeline as Spark SQL; it is kept alive, so that nothing else has its id."""
        key = (id(printable), next(iter(names.values()), ""))
        if key not in self._printed:
            self._printed[key] = (printable, printable.to_spark(names))
        return self._printed[key][1]


class Merge:
    """Builds the query for one grouping from what was kept and what is new."""

    def __init__(
        self,
        buckets: int,
        texts: Texts,
        repeated: RepeatedQuery,
        grouping: Grouping,
        kept: KeptParts,
        chunks: Mapping[int, Chunk],
        statics: Statics,
        clip: Clip | None = None,
        *,
        apart: bool = False,
    ) -> None:
        """With `apart`, parts and partials are of panes and have groups several times; `clip` takes what is needed of
        a partial."""
        self._buckets, self._texts, self._repeated = buckets, texts, repeated
        self._grouping, self._kept, self._statics = grouping, kept, statics
        self._chunks = [
            (pipeline, chunks[pipeline.stream.oid]) for pipeline in grouping.pipelines if pipeline.stream.oid in chunks
        ]
        self._small = kept.rows + sum(chunk.rows for _, chunk in self._chunks) <= SMALL_ROWS_MAX
        self._inputs: dict[str, Input] = {}
        self._clip, self._apart = clip, apart

    def unmerged(self) -> QueryInput:
        """What was kept and what is new, side by side."""
        return QueryInput(" UNION ALL ".join(self._sources()), self._inputs)

    def _sources(self) -> list[str]:
        sources = [self._partial(pipeline, chunk) for pipeline, chunk in self._chunks]
        return sources + self._kept_sources() if self._kept.parts or not sources else sources

    def query(self) -> QueryInput:
        """The merged state. One part, or one partial of a grouping with keys, is merged already."""
        sources = self._sources()
        if self._grouping.concatenated:
            return QueryInput(" UNION ALL ".join(sources), self._inputs)
        single = len(sources) == 1 and len(self._kept.parts) < 2 and not self._apart
        if single and (self._kept.parts or self._grouping.keys):
            return QueryInput(sources[0], self._inputs)
        union = " UNION ALL ".join(sources)
        together = f"SELECT /*+ COALESCE(1) */ * FROM ({union})" if self._small else union
        return QueryInput(self._grouping.merge_text(f"({together})"), self._inputs)

    def _partial(self, pipeline: StreamPipeline, chunk: Chunk) -> str:
        """The text of a stream pipeline over a chunk; what it reads is added to the inputs."""
        given: dict[str, Input] = {key_of(static): self._statics[key_of(static)] for static in pipeline.statics}
        columns = pipeline.stream_columns
        name = self._texts.name(self._grouping.name, pipeline.stream.oid)
        given[key_of(pipeline.stream)] = self._repeated.new_tuples(name, chunk, columns, single=self._small)
        counted, inputs = counted_in_units(pipeline, given, chunk)
        names = {
            key: self._texts.name(self._grouping.name, pipeline.stream.oid, place) for place, key in enumerate(inputs)
        }
        self._inputs.update({names[key]: one for key, one in inputs.items()})
        text = self._texts.text(pipeline, names) if counted is pipeline else counted.to_spark(names)
        return text if self._clip is None else self._clip(text)

    def _kept_sources(self) -> list[str]:
        """The parts: those with buckets as they are, so that merging them needs no shuffle, and the others."""
        buckets = 0 if self._small else self._buckets
        bucketed = [part for part in self._kept.parts if buckets and part.buckets == buckets]
        others = [part for part in self._kept.parts if part not in bucketed]
        sources = [self._read(bucketed, buckets)] if bucketed else []
        if others or not bucketed:
            text = self._read(others, 0)
            if bucketed:
                keys = ", ".join(key.name for key in self._grouping.keys)
                text = f"SELECT /*+ REPARTITION({buckets}, {keys}) */ * FROM ({text})"
            sources.append(text)
        return sources

    def _read(self, parts: Sequence[Part], buckets: int) -> str:
        name = self._texts.name(self._grouping.name, "parts", buckets)
        paths = self._part_paths(parts, name, buckets)
        keys = self._kept.keys if buckets else ()
        self._inputs[name] = StateInput(paths, self._kept.schema, buckets, keys, single=self._small)
        return self._kept.select(name)

    def _part_paths(self, parts: Sequence[Part], name: str, buckets: int) -> tuple[str, ...]:
        """Files by buckets are known by their names, and change seldom; none at all cannot be read from a folder."""
        paths = self._kept.store.paths(parts)
        if buckets or not paths:
            return tuple(map(str, paths))
        return (self._repeated.files(name, paths),)

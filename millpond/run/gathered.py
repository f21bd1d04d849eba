"""A query that needs all tuples of its streams at once: they stay in place until the streams have ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from millpond.errors import MillpondError, SqlState
from millpond.plan.once import Gathered
from millpond.relation import Relation
from millpond.run.new_tuples import NewTuples
from millpond.run.scans import Scans
from millpond.spark.runner import FileInput
from millpond.stream.shared_chunks import SharedChunk


@dataclass
class GatheredStreams:
    """The tuples that a query has gathered, at most `rows_max` of them."""

    plan: Gathered
    scans: Scans
    rows_max: int
    _held: dict[int, list[SharedChunk]] = field(default_factory=dict)
    _rows: int = 0

    def read(self) -> None:
        """Hold all chunks, until the streams have ended."""
        for oid, taken in self.scans.chunks():
            self._held.setdefault(oid, []).append(taken)
            self._rows += taken.chunk.rows
            if self._rows > self.rows_max:
                self.close()
                raise self._too_many()
            self.scans.passed()

    def files(self) -> Mapping[str, FileInput]:
        """What stands for each stream in the query."""
        return {stream.name: self._file(stream) for stream in self.plan.streams}

    def close(self) -> None:
        for taken in (one for chunks in self._held.values() for one in chunks):
            taken.release()
        self._held.clear()

    def _file(self, stream: Relation) -> FileInput:
        parts = [NewTuples.of(taken.chunk) for taken in self._held.get(stream.oid, ())]
        cuts = [part.tids for part in parts if part.tids is not None]
        scan = self.scans.by_stream[stream.oid]
        paths = dict.fromkeys(path for part in parts for path in part.paths)
        return FileInput(
            tuple(paths), stream.columns, is_stream=True, tids=(scan.first, scan.position) if cuts else None
        )

    def _too_many(self) -> MillpondError:
        return MillpondError(
            SqlState.CONFIGURATION_LIMIT_EXCEEDED,
            f"the query has to keep more than {self.rows_max} tuples until its streams end",
            detail=f"It cannot be computed as they arrive: {self.plan.reason}.",
            hint="Group the stream in a subquery first, or raise stream_rows_max.",
        )

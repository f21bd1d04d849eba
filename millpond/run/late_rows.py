"""Late rows on their way from a tick to the stream of late rows, each exactly once.

Which rows are late follows from the order of the stream alone. A tick writes them as a part, which it commits together
with its offset; afterwards they are published, in a thread that may wait for room. The publication carries how far it
goes as its origin, so that nothing is published twice, whatever ends in between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from millpond.late_streams import LATE_COLUMNS
from millpond.relation import Relation
from millpond.run.axis import Places
from millpond.run.view import ContinuousView
from millpond.state.parts import PartStore
from millpond.state.records import LatePart
from millpond.stream import Chunk, Origin, StreamRelation


@dataclass(frozen=True)
class FoundLate:
    """Rows of a chunk, by their numbers in it, and up to where the stream was complete when each came."""

    numbers: Places
    complete: Places


IsLate = Callable[[Places, Places], npt.NDArray[np.bool_]]
"""Which events come too late for a view, or may do so; also told up to where the axis was complete before each."""


@dataclass(frozen=True)
class LateRows:
    """Where the late rows go that a view does not take of a stream, by its oid. The view may get another name."""

    view: ContinuousView
    source: int
    relation: Relation
    stream: StreamRelation
    is_late: IsLate

    def kept(self, chunk: Chunk, found: FoundLate, store: PartStore) -> LatePart:
        """Late rows of a chunk as a part, which somebody will publish."""
        own = chunk.read(self.relation.arrow_schema.names[len(LATE_COLUMNS) :]).take(found.numbers)
        names = pa.repeat(pa.scalar(self.view.relation.name), len(found.numbers))
        tids = pa.array(found.numbers + chunk.first, pa.int64())
        watermarks = pa.array(found.complete, pa.int64()).cast(LATE_COLUMNS[-1].type.arrow)
        rows = pa.table([names, tids, watermarks, *own.columns], schema=self.relation.arrow_schema)
        return LatePart(self.writer, self.source, chunk.end, store.write(rows))

    @property
    def writer(self) -> int:
        """As what the stream of late rows knows the view."""
        return self.view.relation.oid

    def has(self, part: LatePart) -> bool:
        """Whether a part goes there."""
        return (part.view, part.stream) == (self.writer, self.source)

    def is_published(self, part: LatePart) -> bool:
        origin = self.stream.origin(self.writer)
        return origin is not None and int(origin.progress) >= part.end

    def publish(self, part: LatePart, store: PartStore) -> None:
        """Publish a part, unless that has been done or it goes elsewhere."""
        if not self.has(part) or self.is_published(part):
            return
        with self.stream.stage() as staged:
            for path in store.paths([part.part]):
                staged.write(pq.read_table(path))
            staged.wait_for_room()
            staged.publish(Origin(self.writer, str(part.end)))


def unpublished(parts: Sequence[LatePart], late: Sequence[LateRows]) -> tuple[LatePart, ...]:
    """The parts that somebody has yet to publish; those of views that are gone are not."""
    return tuple(part for part in parts if any(one.has(part) and not one.is_published(part) for one in late))

"""A query without a grouping, run while its stream flows: the rows of each chunk go out once they are computed."""

from __future__ import annotations

import shutil
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from millpond.plan.once import Flow
from millpond.run.repeated_query import RepeatedQuery
from millpond.run.scans import Scans
from millpond.run.statics import key_of
from millpond.spark.runner import Frame, Input, Runner
from millpond.stream import Chunk
from millpond.stream.shared_chunks import SharedChunk

COLLECTED_BYTES_MAX = 64 << 20
"""What a chunk's rows may take in memory; more go by way of files."""


@dataclass
class FlowingQuery:
    """One query. `given` are the other relations that it reads, `directory` is a new one for what it works with."""

    plan: Flow
    scans: Scans
    given: Mapping[str, Input]
    runner: Runner
    tag: str
    directory: Path

    def __post_init__(self) -> None:
        self._repeated = RepeatedQuery(self.directory)
        self._names = {key: self.runner.new_name() for key in (*self.given, key_of(self.plan.stream))}
        self._text = self.plan.query.to_spark(self._names)

    def pieces(self) -> Iterator[pa.Table]:
        """The rows, until the stream has ended or there are as many as were asked for."""
        skip, left = self.plan.offset, self.plan.limit
        if left == 0:
            return
        for _, taken in self.scans.chunks():
            for piece in self._rows(taken):
                rows = piece.slice(skip, left)
                skip = max(0, skip - piece.num_rows)
                left = None if left is None else left - rows.num_rows
                if rows.num_rows:
                    yield rows
                if left == 0:
                    return
            self.scans.passed()

    def close(self) -> None:
        self.scans.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _rows(self, taken: SharedChunk) -> Iterator[pa.Table]:
        started = time.perf_counter()
        try:
            frame = self._frame(taken.chunk)
            few = frame.size_estimate() <= COLLECTED_BYTES_MAX
            pieces = [frame.collect()] if few else frame.pieces(self.directory / uuid.uuid4().hex)
            self.scans.costs.stream_s += time.perf_counter() - started
            yield from pieces
        finally:
            taken.release()

    def _frame(self, chunk: Chunk) -> Frame:
        stream = self.plan.stream
        new = self._repeated.new_tuples("new", chunk, stream.columns)
        inputs = {self._names[key]: one for key, one in {**self.given, key_of(stream): new}.items()}
        return self._repeated.frame(self.runner, self._text, inputs, self.tag)

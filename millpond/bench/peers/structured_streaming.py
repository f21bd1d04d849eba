"""Spark's Structured Streaming beside us: the same PySpark in a process of its own, fed the same rows as Parquet files.

It has no aggregate of an aggregate, so a query is a grouping that it keeps, and an answer that is computed from all
groups whenever a chunk has changed them. docs/BENCHMARKS.md says what is equal and what is not.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from millpond.bench.peers.peer import PeerRun
from millpond.bench.peers.script import run_script

_SCRIPT = Path(__file__).with_name("structured_streaming_job.py")


@dataclass(frozen=True)
class KeptGrouping:
    """A streaming query: a grouping of `events`, and the answers that are computed from its result, `grouped`."""

    grouping: str
    answers: Mapping[str, str]


class StructuredStreaming:
    """Structured Streaming, with a stream `events` and tables, all of them Parquet files."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._tables: dict[str, str] = {}

    def add_table(self, name: str, rows: pa.Table) -> None:
        """A table that is read once, before the clock starts."""
        self._tables[name] = str(self._write(name, rows, rows.num_rows))

    def run(
        self, queries: Sequence[KeptGrouping], events: pa.Table, warm_up: pa.Table, chunk_rows: int, file_rows: int
    ) -> PeerRun:
        """All queries side by side until all events are in their answers, after the same with the warm-up."""
        job = {
            "directory": str(self._directory / "work"),
            "tables": self._tables,
            "warm_up": str(self._write("warm_up", warm_up, -(-warm_up.num_rows // 2))),
            "events": str(self._write("events", events, file_rows)),
            "chunk_files": max(1, chunk_rows // file_rows),
            "queries": [asdict(query) for query in queries],
        }
        log = self._directory / "log"
        return run_script("Structured Streaming", Path(sys.executable), _SCRIPT, job, log)

    def _write(self, name: str, rows: pa.Table, file_rows: int) -> Path:
        directory = self._directory / name
        directory.mkdir(parents=True)
        for number, start in enumerate(range(0, rows.num_rows, file_rows)):
            pq.write_table(rows.slice(start, file_rows), directory / f"{number:06}.parquet", compression="none")
        return directory

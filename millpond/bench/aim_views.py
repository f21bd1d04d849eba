"""AIM's six views kept while calls arrive: calls a second from the first insert to the six final answers.

The views exist first. Calls then come as Arrow inserts of a million rows, and the time ends when all six views have
been read. Every answer is compared with DuckDB's over the same rows. Flink runs the six queries as one job, Structured
Streaming as six queries and once more as one whose state was put together by hand; DuckDB computes all six anew after
each chunk. All engines are warm: each has worked on a few rows before the clock starts.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
from rich.console import Console

import millpond
from millpond import Pond
from millpond.bench import aim, aim_structured
from millpond.bench.answers import verify
from millpond.bench.jobs import jobs_of_chunk, jobs_started
from millpond.bench.peers.duck import Duck
from millpond.bench.peers.flink import Flink
from millpond.bench.peers.peer import Answers, PeerMissingError
from millpond.bench.peers.structured_streaming import KeptGrouping, StructuredStreaming
from millpond.bench.rates import rates
from millpond.bench.report import Measurement, report
from millpond.bench.stopwatch import Spent, Stopwatch

EVENTS = 10_000_000
CHUNK_ROWS = 1_000_000
WARM_UP_ROWS = 50_000
FEW_ROWS = 10_000
PEERS = ("flink", "structured-streaming", "structured-by-hand", "duckdb")
TARGET_OF_FLINK = 10.0


def run(scale: float = 1.0, peers: Sequence[str] | None = None) -> None:
    """Measure and report; a scale of 1 is 10,000,000 calls of 1,000,000 customers."""
    console = Console(stderr=True, width=None if sys.stderr.isatty() else 110)
    workload = Workload.of_scale(scale)
    with TemporaryDirectory(prefix="millpond-bench-") as directory:
        bench = Bench(workload, Path(directory), PEERS if peers is None else peers, console)
        report("aim-views", bench.measure(), console)


@dataclass(frozen=True)
class Workload:
    """The rows, the same for all engines."""

    events: pa.Table
    customers: pa.Table
    chunk_rows: int

    @classmethod
    def of_scale(cls, scale: float) -> Workload:
        people = max(100, int(aim.CUSTOMERS * scale))
        events = aim.events(max(1_000, int(EVENTS * scale)), people)
        return cls(events, aim.customers(people), max(1, min(CHUNK_ROWS, events.num_rows // 10)))

    @property
    def warm_up(self) -> pa.Table:
        return self.events.slice(0, WARM_UP_ROWS)


class Bench:
    """The engines of one run, one after the other."""

    def __init__(self, workload: Workload, directory: Path, peers: Sequence[str], console: Console) -> None:
        self._workload, self._directory, self._peers, self._console = workload, directory, peers, console

    def measure(self) -> list[Measurement]:
        self._console.print("millpond ...", style="dim")
        own, jobs = self._millpond()
        spent = {"millpond": own}
        beside = {
            "flink": self._flink,
            "structured-streaming": lambda: self._structured_streaming("six", aim_structured.SIX_QUERIES),
            "structured-by-hand": lambda: self._structured_streaming("one", [aim_structured.BY_HAND]),
            "duckdb": self._duckdb,
        }
        for name in [name for name in beside if name in self._peers]:
            self._console.print(f"{name} ...", style="dim")
            try:
                spent[name] = beside[name]()
            except PeerMissingError as error:
                self._console.print(f"without {name}: {error}")
        return [*rates("six views", self._workload.events.num_rows, spent, TARGET_OF_FLINK), *jobs]

    def _millpond(self) -> tuple[Spent, list[Measurement]]:
        path = self._directory / "pond"
        with millpond.connect(path, view_chunk_rows=self._workload.chunk_rows) as pond:
            aim.create(pond, self._workload.customers, capacity_rows=4 * self._workload.events.num_rows)
            self._feed(pond, self._workload.warm_up)
            aim.recreate_views(pond)
            watch = Stopwatch()
            answers = self._feed(pond, self._workload.events)
            spent = watch.spent()
            jobs = self._jobs(pond)
        verify("millpond", answers, self._truth(self._workload.events))
        return spent, jobs

    def _jobs(self, pond: Pond) -> list[Measurement]:
        """Spark's jobs for one more chunk, and for reads that find a few more rows."""
        chunk = jobs_of_chunk(pond, "events", self._workload.events.slice(0, self._workload.chunk_rows))
        before = jobs_started(pond)
        self._feed(pond, self._workload.events.slice(0, min(FEW_ROWS, self._workload.chunk_rows - 1)))
        read = (jobs_started(pond) - before) / len(aim.VIEWS)
        return [
            Measurement("Spark jobs of a chunk, six views", chunk, "jobs"),
            Measurement("Spark jobs of a read after an insert", read, "jobs"),
        ]

    def _feed(self, pond: Pond, events: pa.Table) -> Answers:
        for chunk in aim.chunks(events, self._workload.chunk_rows):
            pond.insert("events", chunk)
        return {name: pond.execute(f"SELECT * FROM {name}").fetchall() for name in aim.VIEWS}

    def _truth(self, events: pa.Table) -> Answers:
        with Duck() as duck:
            duck.add_table("customers", aim.CUSTOMER_COLUMNS, self._workload.customers)
            duck.add_table("events", aim.EVENT_COLUMNS, events)
            return duck.answers(aim.VIEWS)

    def _flink(self) -> Spent:
        flink = Flink(self._directory, self._console)
        rows = self._workload
        for name, events in (("events", rows.events), ("warm_up", rows.warm_up)):
            flink.add_table(name, aim.EVENT_COLUMNS, events, rows.chunk_rows)
        flink.add_table("customers", aim.CUSTOMER_COLUMNS, rows.customers, rows.customers.num_rows // 2)
        checked = {name: query.replace("FROM events", "FROM warm_up") for name, query in aim.FLINK_VIEWS.items()}
        done = flink.run(aim.FLINK_VIEWS, checked)
        # Its division keeps six digits.
        verify("flink", done.answers, self._truth(rows.warm_up), relative=1e-4)
        return done.spent

    def _structured_streaming(self, name: str, queries: Sequence[KeptGrouping]) -> Spent:
        rows = self._workload
        peer = StructuredStreaming(self._directory / f"structured-streaming-{name}")
        peer.add_table("customers", rows.customers)
        done = peer.run(queries, rows.events, rows.warm_up, rows.chunk_rows, rows.chunk_rows)
        verify("structured streaming", done.answers, self._truth(rows.events))
        return done.spent

    def _duckdb(self) -> Spent:
        with Duck() as duck:
            duck.add_table("customers", aim.CUSTOMER_COLUMNS, self._workload.customers)
            duck.add_table("events", aim.EVENT_COLUMNS, self._workload.events.schema.empty_table())
            chunks = aim.chunks(self._workload.events, self._workload.chunk_rows)
            return duck.recompute("events", chunks, aim.VIEWS).spent

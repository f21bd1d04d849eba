"""AIM's six views kept while calls arrive: calls a second from the first insert to the six final answers.

The views exist first. Calls then come as Arrow inserts of a million rows, and the time ends when all six views have
been read. Every answer is compared with DuckDB's over the same rows. Flink runs the six queries as one job; DuckDB
computes all six anew after each chunk. All engines are warm: each has worked on a few rows before the clock starts.
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
from millpond.bench import aim
from millpond.bench.answers import verify
from millpond.bench.peers.duck import Duck
from millpond.bench.peers.flink import Flink
from millpond.bench.peers.peer import Answers, PeerMissingError
from millpond.bench.rates import rates
from millpond.bench.report import Measurement, report
from millpond.bench.stopwatch import Spent, Stopwatch

EVENTS = 10_000_000
CHUNK_ROWS = 1_000_000
WARM_UP_ROWS = 50_000
PEERS = ("flink", "duckdb")
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
        spent = {"millpond": self._millpond()}
        for name, measure in (("flink", self._flink), ("duckdb", self._duckdb)):
            if name in self._peers:
                try:
                    spent[name] = measure()
                except PeerMissingError as error:
                    self._console.print(f"without {name}: {error}")
        return rates("six views", self._workload.events.num_rows, spent, TARGET_OF_FLINK)

    def _millpond(self) -> Spent:
        self._console.print("millpond ...", style="dim")
        path = self._directory / "pond"
        with millpond.connect(path, view_chunk_rows=self._workload.chunk_rows) as pond:
            aim.create(pond, self._workload.customers, capacity_rows=4 * self._workload.events.num_rows)
            self._feed(pond, self._workload.warm_up)
            aim.recreate_views(pond)
            watch = Stopwatch()
            answers = self._feed(pond, self._workload.events)
            spent = watch.spent()
        verify("millpond", answers, self._truth(self._workload.events))
        return spent

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
        self._console.print("flink ...", style="dim")
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

    def _duckdb(self) -> Spent:
        self._console.print("duckdb ...", style="dim")
        with Duck() as duck:
            duck.add_table("customers", aim.CUSTOMER_COLUMNS, self._workload.customers)
            duck.add_table("events", aim.EVENT_COLUMNS, self._workload.events.schema.empty_table())
            chunks = aim.chunks(self._workload.events, self._workload.chunk_rows)
            return duck.recompute("events", chunks, aim.VIEWS).spent

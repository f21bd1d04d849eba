"""One view that counts, sums and averages by entity: how fast it is kept, what a read costs, and how old an answer is.

1. Events a second into 10,000 groups, for chunks of several sizes, from the first insert to the final answer; beside
   Flink, which runs the same query as one job, and Structured Streaming with chunks of the same sizes.
2. A read of 1,000,000 groups: when nothing has arrived since the last one, and when 10,000 rows have; beside the same
   query computed by Spark from the stream itself. And Spark's jobs for them, whose fixed cost small chunks pay for.
3. Events a second into 1,000,000 groups while four readers poll, beside those without readers.
4. The age of an answer while 10,000 events arrive each second: from the insert of a row to the answer that counts it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
from rich.console import Console

import millpond
from millpond import Pond
from millpond.bench import aim, polling, view_reads
from millpond.bench.answers import verify
from millpond.bench.freshness import Freshness
from millpond.bench.jobs import jobs_of_chunk, wait_until_read
from millpond.bench.peers.duck import Duck
from millpond.bench.peers.flink import Flink
from millpond.bench.peers.peer import PeerMissingError
from millpond.bench.peers.structured_streaming import KeptGrouping, StructuredStreaming
from millpond.bench.rates import rates
from millpond.bench.report import Measurement, report
from millpond.bench.stopwatch import Spent, Stopwatch

QUERY = (
    "SELECT entity_id, count(*) AS calls, sum(duration) AS total, avg(duration) AS mean FROM events GROUP BY entity_id"
)
FLINK_QUERY = QUERY.replace("avg(duration)", "avg(CAST(duration AS DOUBLE))")

CHUNKS_ROWS = (1_000_000, 2_000_000, 5_000_000)
FRESHNESS_SECONDS = 20.0
CHUNKS_COUNTED = 3
PEERS = ("flink", "structured-streaming", "spark")
TARGET_OF_FLINK = 5.0


def run(scale: float = 1.0, peers: Sequence[str] | None = None) -> None:
    """Measure and report; a scale of 1 is 10,000,000 events, and 1,000,000 groups for the reads."""
    console = Console(stderr=True, width=None if sys.stderr.isatty() else 110)
    # One pond stays open all the time, so that Spark, which all ponds share, does too.
    with TemporaryDirectory(prefix="millpond-bench-") as directory, millpond.connect():
        bench = Bench(scale, Path(directory), PEERS if peers is None else peers, console)
        report("simple-view", bench.measure(), console)


@dataclass(frozen=True)
class Sizes:
    """How many rows a scale means."""

    events: int
    entities: int
    insert: int
    groups_read: int
    insert_between_reads: int

    @classmethod
    def of_scale(cls, scale: float) -> Sizes:
        rows = (10_000_000, 10_000, 1_000_000, 1_000_000, 10_000)
        return cls(*(max(10, int(count * scale)) for count in rows))


class Bench:
    """The measurements of one run."""

    def __init__(self, scale: float, directory: Path, peers: Sequence[str], console: Console) -> None:
        self._scale, self._directory, self._peers, self._console = scale, directory, peers, console
        self._sizes = Sizes.of_scale(scale)
        self._events = aim.events(self._sizes.events, self._sizes.entities)

    def measure(self) -> list[Measurement]:
        flink = self._beside("flink", self._flink)
        self._kept(self._sizes.insert, self._events.slice(0, 3 * self._sizes.insert))  # Spark is warm from here on.
        found: list[Measurement] = []
        for chunk_rows in CHUNKS_ROWS:
            rows = max(1, int(chunk_rows * self._scale))
            spent = {"millpond": self._kept(rows, self._events), **flink}
            spent |= self._beside("structured-streaming", partial(self._structured_streaming, rows))
            found += rates(f"chunks of {rows:,} rows", self._events.num_rows, spent, TARGET_OF_FLINK)
        return [*found, *self._reads(), *self._freshness()]

    def _beside(self, peer: str, measure: Callable[[], Spent]) -> dict[str, Spent]:
        """What a peer took, if it is wanted and can run."""
        if peer not in self._peers:
            return {}
        self._console.print(f"{peer} ...", style="dim")
        try:
            return {peer: measure()}
        except PeerMissingError as error:
            self._console.print(f"without {peer}: {error}")
            return {}

    def _kept(self, chunk_rows: int, events: pa.Table) -> Spent:
        self._console.print(f"chunks of {chunk_rows:,} rows ...", style="dim")
        with self._pond(chunk_rows, events.num_rows) as pond:
            watch = Stopwatch()
            for rows in aim.chunks(events, self._sizes.insert):
                pond.insert("events", rows)
            answer = pond.execute("SELECT * FROM by_entity")
            spent = watch.spent()
        verify("millpond", {"by_entity": answer.fetchall()}, {"by_entity": _truth(events)})
        return spent

    def _flink(self) -> Spent:
        flink = Flink(self._directory, self._console)
        warm_up = self._events.slice(0, max(1, self._sizes.insert // 10))
        for name, events in (("events", self._events), ("warm_up", warm_up)):
            flink.add_table(name, aim.EVENT_COLUMNS, events, self._sizes.insert)
        checked = {"by_entity": FLINK_QUERY.replace("FROM events", "FROM warm_up")}
        done = flink.run({"by_entity": FLINK_QUERY}, checked)
        verify("flink", done.answers, {"by_entity": _truth(warm_up)})
        return done.spent

    def _structured_streaming(self, chunk_rows: int) -> Spent:
        peer = StructuredStreaming(self._directory / f"structured-streaming-{chunk_rows}")
        query = KeptGrouping(QUERY, {"by_entity": "SELECT * FROM grouped"})
        warm_up = self._events.slice(0, 3 * self._sizes.insert)
        done = peer.run([query], self._events, warm_up, chunk_rows, self._sizes.insert)
        verify("structured streaming", done.answers, {"by_entity": _truth(self._events)})
        return done.spent

    def _reads(self) -> list[Measurement]:
        sizes = self._sizes
        self._console.print(f"reads of {sizes.groups_read:,} groups ...", style="dim")
        events = aim.events(3 * sizes.groups_read, sizes.groups_read)
        more = aim.events(view_reads.READS * sizes.insert_between_reads, sizes.groups_read, seed=3)
        with self._pond(sizes.insert, 2 * (events.num_rows + more.num_rows)) as pond:
            for rows in aim.chunks(events, sizes.insert):
                pond.insert("events", rows)
            wait_until_read(pond, "events")
            inserts = aim.chunks(more, sizes.insert_between_reads)
            found = view_reads.measure(pond, inserts, QUERY, beside_spark="spark" in self._peers)
            found.append(self._jobs(pond, sizes.groups_read))
            self._console.print(f"{polling.READERS} readers of {sizes.groups_read:,} groups ...", style="dim")
            return found + polling.measure(pond, list(aim.chunks(events, sizes.insert_between_reads)))

    def _jobs(self, pond: Pond, groups: int) -> Measurement:
        """Spark's jobs for a chunk, on average: parts of a large state are merged now and then."""
        chunk = self._events.slice(0, self._sizes.insert)
        jobs = sum(jobs_of_chunk(pond, "events", chunk) for _ in range(CHUNKS_COUNTED)) / CHUNKS_COUNTED
        return Measurement(f"Spark jobs of a chunk, {groups:,} groups", jobs, "jobs")

    def _freshness(self) -> list[Measurement]:
        self._console.print("freshness ...", style="dim")
        with self._pond(self._sizes.insert, self._sizes.events) as pond:
            pond.insert("events", self._events.slice(0, self._sizes.insert))
            jobs = self._jobs(pond, self._sizes.entities)
            seconds = max(1.0, FRESHNESS_SECONDS * min(1.0, self._scale))
            return [jobs, *Freshness(pond, self._events).measure(seconds)]

    def _pond(self, chunk_rows: int, rows: int) -> Pond:
        """A new pond with the stream and the view."""
        pond = millpond.connect(view_chunk_rows=chunk_rows)
        capacity = max(2 * rows, 4 * chunk_rows)
        pond.execute(
            f"CREATE FOREIGN TABLE events ({aim.EVENT_COLUMNS}) SERVER stream "
            f"OPTIONS (durability 'memory', capacity '{capacity}')"
        )
        pond.execute(f"CREATE VIEW by_entity AS {QUERY}")
        return pond


def _truth(events: pa.Table) -> list[tuple[object, ...]]:
    with Duck() as duck:
        duck.add_table("events", aim.EVENT_COLUMNS, events)
        return duck.answers({"by_entity": QUERY})["by_entity"]

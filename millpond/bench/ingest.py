"""How fast rows get into a stream: Arrow inserts, many small writers, and COPY, beside what Parquet alone takes.

The rows are AIM's call events. The time of each run ends when every row is in a segment file that a reader could open,
so work that is put off at the insert is in it. Runs and their baselines take turns, and the median of each counts.
"""

from __future__ import annotations

import sqlite3
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from rich.console import Console

import millpond
from millpond import Pond
from millpond.bench.report import Measurement, report

_TYPES: dict[str, pa.DataType] = {
    "entity_id": pa.int32(),
    "duration": pa.int32(),
    "cost": pa.decimal128(10, 2),
    "occurred": pa.int64(),
    "long_distance": pa.bool_(),
}
SCHEMA = pa.schema(_TYPES)
COLUMNS = "entity_id int, duration int, cost numeric(10,2), occurred bigint, long_distance boolean"
WRITERS = 8
ROWS_A_WRITE = 100
REPEATS = 3


def events(rows: int, seed: int = 1) -> pa.Table:
    """Call events, the same for the same seed."""
    random = np.random.default_rng(seed)
    return pa.table(
        [
            pa.array(random.integers(0, 1_000_000, rows, dtype=np.int32)),
            pa.array(random.integers(1, 3_600, rows, dtype=np.int32)),
            pa.array(random.integers(0, 100_000, rows) / 100).cast(pa.decimal128(10, 2)),
            pa.array(np.arange(rows, dtype=np.int64) + 1_700_000_000_000),
            pa.array(random.random(rows) < 0.2),
        ],
        schema=SCHEMA,
    )


PEERS = ("parquet", "sqlite")


def run(scale: float = 1.0, peers: Sequence[str] | None = None) -> None:
    """Measure and report; a scale of 1 is 1,000,000 rows. Without `peers` all of them run beside."""
    rows = max(1_000, int(1_000_000 * scale))
    console = Console(stderr=True, width=None if sys.stderr.isatty() else 110)
    with TemporaryDirectory(prefix="millpond-bench-") as directory, millpond.connect(Path(directory) / "pond") as pond:
        bench = Bench(pond, Path(directory), events(rows), PEERS if peers is None else peers, console)
        report("ingest", bench.measure(), console)


class Bench:
    """The measurements of one run."""

    def __init__(self, pond: Pond, directory: Path, rows: pa.Table, peers: Sequence[str], console: Console) -> None:
        self._pond, self._directory, self._rows, self._peers = pond, directory, rows, peers
        self._console = console
        self._numbers = iter(range(1_000_000))

    def measure(self) -> list[Measurement]:
        sqlite = {"sqlite row inserts": self._sqlite()} if "sqlite" in self._peers else {}
        memory, log = self._pond.scratch, self._directory
        bare = "parquet" if "parquet" in self._peers else None
        return [
            self._compare(
                "arrow insert, memory",
                lambda: self._arrow("memory"),
                bare,
                lambda: self._parquet(memory),
                sqlite,
                1 / 3,
            ),
            self._compare(
                "arrow insert, log", lambda: self._arrow("log"), bare, lambda: self._parquet(log), sqlite, 1 / 4
            ),
            self._small("memory", sqlite, 200_000),
            self._small("log", sqlite, None),
            self._copy(sqlite),
        ]

    def _compare(
        self,
        metric: str,
        ours: Callable[[], float],
        bare: str | None,
        theirs: Callable[[], float],
        others: dict[str, float],
        target: float,
    ) -> Measurement:
        """Rows a second of ours and of the bare write, taking turns; the first turn only warms up."""
        self._console.print(f"{metric} ...", style="dim")
        mine, peer = [], []
        for turn in range(REPEATS + 1):
            bare_rate = theirs() if bare else 0.0
            rate = ours()
            if turn:
                mine.append(rate)
                peer.append(bare_rate)
        peers = {**({bare: statistics.median(peer)} if bare else {}), **others}
        return Measurement(metric, statistics.median(mine), "rows/s", peers, target, bare or "parquet")

    def _stream(self, durability: str) -> str:
        name = f"calls_{next(self._numbers)}"
        capacity = self._rows.num_rows * 4
        self._pond.execute(
            f"CREATE FOREIGN TABLE {name} ({COLUMNS}) SERVER stream "
            f"OPTIONS (durability '{durability}', capacity '{capacity}')"
        )
        return name

    def _timed(self, name: str, rows: int, action: Callable[[], object]) -> float:
        """Rows a second until a reader could open every row; the stream is gone afterwards."""
        relation = self._pond.services.catalog.snapshot.relations[name]
        stream = self._pond.services.streams.get(relation)
        started = time.perf_counter()
        action()
        with stream.hold() as chunk:
            seconds = time.perf_counter() - started
            assert chunk.rows == rows, f"{chunk.rows} of {rows} rows arrived"
        self._pond.execute(f"DROP FOREIGN TABLE {name}")
        return rows / seconds

    def _arrow(self, durability: str) -> float:
        name = self._stream(durability)
        return self._timed(name, self._rows.num_rows, lambda: self._pond.insert(name, self._rows))

    def _parquet(self, directory: Path) -> float:
        """What pyarrow alone takes to write the rows as Parquet, as a segment is written."""
        path = directory / "bare.parquet"
        started = time.perf_counter()
        pq.write_table(self._rows, path, compression="none", use_dictionary=False, store_decimal_as_integer=True)
        seconds = time.perf_counter() - started
        path.unlink()
        return self._rows.num_rows / seconds

    def _small(self, durability: str, others: dict[str, float], target: float | None) -> Measurement:
        metric = f"{WRITERS} threads of {ROWS_A_WRITE}-row inserts, {durability}"
        self._console.print(f"{metric} ...", style="dim")
        count = min(self._rows.num_rows, 200_000 if durability == "memory" else 40_000) // (WRITERS * ROWS_A_WRITE)
        tuples = list(zip(*(column.to_pylist() for column in self._rows.slice(0, ROWS_A_WRITE).columns), strict=True))
        mine, peer = [], []
        for turn in range(REPEATS + 1):
            bare_rate = self._parquet(self._pond.scratch if durability == "memory" else self._directory)
            name = self._stream(durability)
            write = partial(self._write_small, name, tuples, count)
            rate = self._timed(name, count * WRITERS * ROWS_A_WRITE, write)
            if turn:
                mine.append(rate)
                peer.append(bare_rate)
        peers = {**({"parquet": statistics.median(peer)} if "parquet" in self._peers else {}), **others}
        return Measurement(metric, statistics.median(mine), "rows/s", peers, target)

    def _write_small(self, name: str, tuples: list[tuple[object, ...]], count: int) -> None:
        def write(_: int) -> None:
            for _ in range(count):
                self._pond.insert(name, tuples)

        with ThreadPoolExecutor(WRITERS) as pool:
            list(pool.map(write, range(WRITERS)))

    def _copy(self, others: dict[str, float]) -> Measurement:
        path = self._directory / "calls.csv"
        pa_csv.write_csv(self._rows, path, pa_csv.WriteOptions(include_header=False))
        bare = "csv + parquet" if "parquet" in self._peers else None
        return self._compare(
            "COPY from CSV, log", lambda: self._copy_once(path), bare, lambda: self._bare_csv(path), others, 1 / 2
        )

    def _copy_once(self, path: Path) -> float:
        name = self._stream("log")
        return self._timed(name, self._rows.num_rows, lambda: self._pond.execute(f"COPY {name} FROM '{path}' CSV"))

    def _bare_csv(self, path: Path) -> float:
        """What pyarrow alone takes to read the file and write it as Parquet."""
        started = time.perf_counter()
        options = pa_csv.ConvertOptions(column_types={field.name: field.type for field in SCHEMA})
        table = pa_csv.read_csv(path, pa_csv.ReadOptions(column_names=SCHEMA.names), convert_options=options)
        target = self._directory / "bare.parquet"
        pq.write_table(table, target, compression="none", use_dictionary=False, store_decimal_as_integer=True)
        seconds = time.perf_counter() - started
        target.unlink()
        return table.num_rows / seconds

    def _sqlite(self) -> float:
        """Rows inserted and committed one by one, as a client of a row store would, each synced to disk."""
        self._console.print("sqlite row inserts ...", style="dim")
        rows = [
            tuple(map(str, row))
            for row in zip(*(c.to_pylist() for c in self._rows.slice(0, 1_000).columns), strict=True)
        ]
        connection = sqlite3.connect(self._directory / "rows.db", isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE calls (a, b, c, d, e)")
        started = time.perf_counter()
        for row in rows:
            connection.execute("INSERT INTO calls VALUES (?, ?, ?, ?, ?)", row)
        seconds = time.perf_counter() - started
        connection.close()
        return len(rows) / seconds

"""How fast the server answers: PostgreSQL's own programs, psql and pgbench, against `millpond serve`.

1. Reads a second of a view that has not changed, and how long each takes, for 1, 4 and 16 clients, by simple and by
   prepared queries; beside PostgreSQL, which reads the same rows from a table.
2. Rows a second from a CSV file by psql's \\copy into a stream; beside PostgreSQL, into a table.
3. Rows a second by psycopg's executemany into a stream; beside PostgreSQL, into a table.
4. Strict reads a minute of 64 clients while 10,000 rows arrive each second: every answer has all rows before it.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pyarrow.csv as pa_csv
from rich.console import Console

from millpond.bench import aim, programs
from millpond.bench.answers import WrongAnswerError
from millpond.bench.peers.peer import PeerMissingError
from millpond.bench.peers.postgres import postgres
from millpond.bench.programs import Load
from millpond.bench.report import Measurement, report
from millpond.bench.serving import serving
from millpond.bench.view_reads import percentile_99

CLIENTS = (1, 4, 16)
MODES = ("simple", "prepared")
GROUPS = 20
QUERY = "SELECT * FROM by_region"
VIEW = f"""SELECT entity_id % {GROUPS} AS region_id, count(*) AS calls, sum(duration) AS duration, sum(cost) AS cost
    FROM events GROUP BY entity_id % {GROUPS}"""
TABLE = "region_id int, calls bigint, duration bigint, cost numeric"

READS_A_SECOND = 2_000
MEDIAN_BELOW_MS = 2.0
COPIED_ROWS_A_SECOND = 400_000
STRICT_READS_A_MINUTE = 10_000
STRICT_CLIENTS = 64
ARRIVING_ROWS_A_SECOND = 10_000
ROWS_AN_INSERT = 100
PEERS = ("postgresql",)


def run(scale: float = 1.0, peers: Sequence[str] | None = None) -> None:
    """Measure and report; a scale of 1 is five seconds of reads for each number, and 2,000,000 rows to load."""
    console = Console(stderr=True, width=None if sys.stderr.isatty() else 110)
    try:
        for program in ("psql", "pgbench"):
            programs.find(program)
    except PeerMissingError as error:
        sys.exit(f"ERROR:  {error}")
    with TemporaryDirectory(prefix="millpond-bench-") as name, ExitStack() as servers:
        directory = Path(name)
        urls = {"millpond": servers.enter_context(serving(directory / "pond"))}
        if "postgresql" in (PEERS if peers is None else peers):
            try:
                urls["postgresql"] = servers.enter_context(postgres(directory / "postgres"))
            except PeerMissingError as error:
                console.print(f"without postgresql: {error}")
        report("serve", Bench(scale, directory, urls, console).measure(), console)


class Bench:
    """The measurements of one run, on servers by name: ours, and perhaps PostgreSQL."""

    def __init__(self, scale: float, directory: Path, urls: dict[str, str], console: Console) -> None:
        self._scale, self._directory, self._urls, self._console = scale, directory, urls, console
        self._events = aim.events(max(1_000, int(2_000_000 * scale)))

    def measure(self) -> list[Measurement]:
        self._create()
        found: list[Measurement] = []
        for mode in MODES:
            for clients in CLIENTS:
                found += self._reads(mode, clients)
        return [*found, self._copy(), self._many(), *self._strict()]

    # -- the parts -----------------------------------------------------------------------------------------------

    def _create(self) -> None:
        """The stream and its view here, a table with the view's rows there, and an answer that is known on both."""
        stream = f"CREATE FOREIGN TABLE events ({aim.EVENT_COLUMNS}) SERVER stream OPTIONS (durability 'memory')"
        with self._connected("millpond") as connection:
            connection.execute(stream)
            connection.execute(f"CREATE VIEW by_region AS {VIEW}")
            self._insert(connection, 10_000)
            rows = connection.execute(QUERY).fetchall()
        if "postgresql" in self._urls:
            with self._connected("postgresql") as connection:
                connection.execute(f"CREATE TABLE by_region ({TABLE})")
                connection.cursor().executemany("INSERT INTO by_region VALUES (%s, %s, %s, %s)", rows)
                connection.execute(f"CREATE TABLE events ({aim.EVENT_COLUMNS})")
        for name in self._urls:
            self._load(name, "simple", 1, 1.0)

    def _reads(self, mode: str, clients: int) -> list[Measurement]:
        shown = f"{mode}, {clients} client{'s' if clients > 1 else ''}"
        self._console.print(f"reads: {shown} ...", style="dim")
        loads = {name: self._load(name, mode, clients, 5 * self._scale) for name in self._urls}
        median = {name: statistics.median(load.latencies_ms) for name, load in loads.items()}
        late = {name: percentile_99(load.latencies_ms) for name, load in loads.items()}
        rate = {name: load.reads_a_second for name, load in loads.items()}
        limit = MEDIAN_BELOW_MS if clients == 1 else None
        return [
            _beside(f"reads, {shown}", "reads/s", rate, target=READS_A_SECOND),
            _beside(f"median, {shown}", "ms", median, target=limit, lower_is_better=True),
            _beside(f"p99, {shown}", "ms", late),
        ]

    def _copy(self) -> Measurement:
        self._console.print("psql's copy ...", style="dim")
        csv = self._directory / "events.csv"
        pa_csv.write_csv(self._events, csv, pa_csv.WriteOptions(include_header=False))
        rates = {}
        for name, url in self._urls.items():
            before = self._counted(name)
            rates[name] = self._events.num_rows / programs.copy_in(url, "events", csv)
            if self._counted(name) != before + self._events.num_rows:
                raise WrongAnswerError(f"{name} has not all rows that were copied")
        return _beside("COPY FROM STDIN by psql", "rows/s", rates, target=COPIED_ROWS_A_SECOND)

    def _many(self) -> Measurement:
        self._console.print("psycopg's executemany ...", style="dim")
        rows = self._tuples(max(1_000, int(50_000 * self._scale)))
        insert = "INSERT INTO events VALUES (%s, %s, %s, %s, %s)"
        rates = {}
        for name in self._urls:
            with self._connected(name) as connection:
                rates[name] = len(rows) / _seconds(lambda: connection.cursor().executemany(insert, rows))
        return _beside("executemany by psycopg", "rows/s", rates)

    def _strict(self) -> list[Measurement]:
        self._console.print(f"{STRICT_CLIENTS} readers while rows arrive ...", style="dim")
        self._read_while_arriving(10 * self._scale)  # Spark is warm from here on.
        load, rate = self._read_while_arriving(20 * self._scale)
        return [
            Measurement("strict reads meanwhile", 60 * load.reads_a_second, "reads/min", target=STRICT_READS_A_MINUTE),
            Measurement("median of strict reads", statistics.median(load.latencies_ms), "ms"),
            Measurement("p99 of strict reads", percentile_99(load.latencies_ms), "ms"),
            Measurement("rows that arrived meanwhile", rate, "rows/s", target=0.9 * ARRIVING_ROWS_A_SECOND),
        ]

    def _read_while_arriving(self, seconds: float) -> tuple[Load, float]:
        before = self._counted("millpond")
        with ThreadPoolExecutor(1) as pool:
            arriving = pool.submit(self._arrive, max(1.0, seconds))
            load = self._load("millpond", "prepared", STRICT_CLIENTS, seconds)
            inserted, rate = arriving.result()
        if self._counted("millpond") != before + inserted:
            raise WrongAnswerError("the view has not counted all rows that arrived")
        return load, rate

    # -- what they share -----------------------------------------------------------------------------------------

    def _connected(self, name: str) -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(self._urls[name], autocommit=True)

    def _load(self, name: str, mode: str, clients: int, seconds: float) -> Load:
        return programs.pgbench(
            self._urls[name], QUERY, clients=clients, mode=mode, seconds=seconds, directory=self._directory
        )

    def _counted(self, name: str) -> int:
        query = "SELECT count(*) FROM events" if name == "postgresql" else "SELECT sum(calls) FROM by_region"
        with self._connected(name) as connection:
            row = connection.execute(query).fetchone()
        assert row is not None
        return int(str(row[0]))

    def _tuples(self, rows: int) -> list[tuple[object, ...]]:
        return list(zip(*(column.to_pylist() for column in self._events.slice(0, rows).columns), strict=True))

    def _insert(self, connection: psycopg.Connection[tuple[object, ...]], rows: int) -> None:
        text = "".join("\t".join(map(str, row)) + "\n" for row in self._tuples(rows))
        with connection.cursor().copy("COPY events FROM STDIN") as copy:
            copy.write(text)

    def _arrive(self, seconds: float) -> tuple[int, float]:
        """Insert as the rate wants it; gives back how many rows, and what rate it was."""
        inserts = int(seconds * ARRIVING_ROWS_A_SECOND / ROWS_AN_INSERT)
        with self._connected("millpond") as connection:
            started = time.perf_counter()
            for number in range(inserts):
                due = started + number * ROWS_AN_INSERT / ARRIVING_ROWS_A_SECOND
                time.sleep(max(0.0, due - time.perf_counter()))
                self._insert(connection, ROWS_AN_INSERT)
            taken = time.perf_counter() - started
        return inserts * ROWS_AN_INSERT, inserts * ROWS_AN_INSERT / taken


def _beside(
    metric: str, unit: str, values: dict[str, float], *, target: float | None = None, lower_is_better: bool = False
) -> Measurement:
    """Our number beside the others."""
    peers = {name: value for name, value in values.items() if name != "millpond"}
    return Measurement(metric, values["millpond"], unit, peers, target, lower_is_better=lower_is_better)


def _seconds(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started

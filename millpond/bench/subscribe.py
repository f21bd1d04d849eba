"""Ten subscribers of a view that 50,000 rows a second flow into, one of which does not read; over the wire.

Every version that two subscribers saw is the same to both, in order, none is left out for those who read, and the last
one is the view. Meanwhile the server's memory stays where it was.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg
from rich.console import Console

from millpond.bench.answers import WrongAnswerError
from millpond.bench.report import Measurement, report
from millpond.bench.serving import Server, served
from millpond.bench.subscribers import ReadingClient, StuckClient
from millpond.bench.view_reads import percentile_99

ROWS_A_SECOND = 50_000
INSERTS_A_SECOND = 10
SUBSCRIBERS = 10
GROUPS = 1000
SECONDS = 60.0
WARM_SECONDS = 10.0
GROWTH_BELOW_MB = 200.0
STUCK_READS_S = 60.0

VIEW = f"SELECT id % {GROUPS} AS k, count(*) AS n, sum(x) AS x FROM flowing GROUP BY id % {GROUPS}"


def run(scale: float = 1.0, peers: Sequence[str] | None = None) -> None:  # noqa: ARG001
    """Measure and report; a scale of 1 is a minute."""
    console = Console(stderr=True, width=None if sys.stderr.isatty() else 110)
    with (
        TemporaryDirectory(prefix="millpond-bench-") as name,
        served(Path(name) / "pond") as server,
        psycopg.connect(server.url, autocommit=True) as writer,
    ):
        report("subscribe", Bench(server, writer, scale, console).measure(), console)


class Bench:
    """One run against a server, to which `writer` is connected."""

    def __init__(
        self, server: Server, writer: psycopg.Connection[tuple[Any, ...]], scale: float, console: Console
    ) -> None:
        self._server, self._writer, self._scale, self._console = server, writer, scale, console
        count = ROWS_A_SECOND // INSERTS_A_SECOND
        self._rows = "".join(f"{number}\t{number % 7}\n" for number in range(count))
        self._count = count

    def measure(self) -> list[Measurement]:
        self._writer.execute("CREATE STREAM flowing (id int, x int) WITH (durability = memory)")
        self._writer.execute(f"CREATE VIEW seen AS {VIEW}")
        self._insert()
        readers = [ReadingClient(self._server.url, "seen") for _ in range(SUBSCRIBERS - 1)]
        stuck = StuckClient(self._server.url, "seen")
        self._console.print("warming up ...", style="dim")
        self._flow(max(2.0, WARM_SECONDS * self._scale))
        before_mb = memory_mb(self._server.pid)
        self._console.print(f"{SUBSCRIBERS} subscribers for {SECONDS * self._scale:.0f} s ...", style="dim")
        seen_before = [len(reader.states) for reader in readers]
        rate, peak_mb = self._flow(SECONDS * self._scale)
        lag = self._lag()
        self._settle(readers)
        found = self._found(readers, seen_before, rate)
        self._check(readers)
        self._check_stuck(stuck)
        growth = peak_mb - before_mb
        return [
            *found,
            Measurement("versions that the stuck one had yet to take", lag, "versions"),
            Measurement("times that it was told of skipped ones", stuck.skips, "times"),
            Measurement("memory of the server, growth", growth, "MB", target=GROWTH_BELOW_MB, lower_is_better=True),
        ]

    def _insert(self) -> None:
        with self._writer.cursor().copy("COPY flowing FROM STDIN") as copy:
            copy.write(self._rows)

    def _flow(self, seconds: float) -> tuple[float, float]:
        """Insert as the rate wants it; gives back the rate it was, and the most memory that the server had."""
        started, peak_mb = time.perf_counter(), 0.0
        inserts = int(seconds * INSERTS_A_SECOND)
        for number in range(inserts):
            time.sleep(max(0.0, started + number / INSERTS_A_SECOND - time.perf_counter()))
            self._insert()
            peak_mb = max(peak_mb, memory_mb(self._server.pid))
        return inserts * self._count / (time.perf_counter() - started), peak_mb

    def _lag(self) -> int:
        row = self._writer.execute("SELECT max(lag) FROM millpond_subscriptions").fetchone()
        assert row is not None
        return int(row[0])

    def _settle(self, readers: list[ReadingClient]) -> None:
        """Wait until all readers have heard, twice, that nothing changed any more."""
        counts = [len(reader.states) + 3 for reader in readers]
        deadline = time.monotonic() + 60
        while any(len(one.states) < count and one.error is None for one, count in zip(readers, counts, strict=True)):
            if time.monotonic() > deadline:
                raise WrongAnswerError("a subscriber hears nothing")
            time.sleep(0.1)
        for reader in readers:
            reader.stop()

    def _found(self, readers: list[ReadingClient], before: list[int], rate: float) -> list[Measurement]:
        delays = [
            delay * 1000 for reader, seen in zip(readers, before, strict=True) for delay in reader.delays_s[seen:]
        ]
        versions = min(len(reader.states) - seen for reader, seen in zip(readers, before, strict=True))
        return [
            Measurement("rows that arrived", rate, "rows/s", target=0.95 * ROWS_A_SECOND),
            Measurement("versions, of the one who saw fewest", versions / (SECONDS * self._scale), "versions/s"),
            Measurement("from version to client, median", statistics.median(delays), "ms"),
            Measurement("from version to client, p99", percentile_99(delays), "ms"),
            Measurement("versions skipped by readers", sum(reader.skipped for reader in readers), "versions"),
        ]

    def _check(self, readers: list[ReadingClient]) -> None:
        """What one version is to one subscriber, it is to all; none misses one, and the last is the view."""
        known: dict[int, int] = {}
        for reader in readers:
            for version, state in reader.states.items():
                if known.setdefault(version, state) != state:
                    raise WrongAnswerError(f"version {version} is not the same to two subscribers")
        view = self._writer.execute("SELECT k::text, n::text, x::text FROM seen").fetchall()
        expected = sorted("\t".join(row) for row in view)
        if any(sorted(reader.rows.elements()) != expected for reader in readers):
            raise WrongAnswerError("a subscriber does not have what the view has")

    def _check_stuck(self, stuck: StuckClient) -> None:
        """The stuck one reads on at last, and comes to what the view has."""
        view = self._writer.execute("SELECT * FROM seen").fetchall()
        if not stuck.read_on(Counter(tuple(row) for row in view), STUCK_READS_S):
            raise WrongAnswerError("the stuck subscriber does not come to what the view has")


def memory_mb(pid: int) -> float:
    """What a process has in memory, without those that it started."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0

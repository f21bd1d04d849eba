"""How old an answer of the view `by_entity` is while rows keep coming: from a row's insert to the answer with it."""

from __future__ import annotations

import statistics
import time
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa

from millpond import Pond
from millpond.bench.report import Measurement
from millpond.bench.view_reads import calls, percentile_99, read

ROWS_A_SECOND = 10_000
ROWS_AN_INSERT = 100
MEDIAN_BELOW_MS = 151.0
"""What Flink took on such a machine with mini-batches of 100 ms."""


class Freshness:
    """A writer at a steady rate, and a reader that asks again as soon as it has its answer."""

    def __init__(self, pond: Pond, events: pa.Table) -> None:
        self._pond = pond
        self._rows = events.slice(0, ROWS_AN_INSERT)
        self._inserted_at: list[float] = []

    def measure(self, seconds: float) -> list[Measurement]:
        before = self._counted()
        ages: list[float] = []
        with ThreadPoolExecutor(1) as pool:
            writer = pool.submit(self._write, seconds)
            while not writer.done() or len(ages) < len(self._inserted_at):
                count = (self._counted() - before) // self._rows.num_rows
                now = time.perf_counter()
                ages += [(now - inserted) * 1_000 for inserted in self._inserted_at[len(ages) : count]]
            rate = writer.result()
        return [
            Measurement(
                "age of an answer, median", statistics.median(ages), "ms", target=MEDIAN_BELOW_MS, lower_is_better=True
            ),
            Measurement("age of an answer, p99", percentile_99(ages), "ms"),
            Measurement("events a second meanwhile", rate, "events/s", target=0.9 * ROWS_A_SECOND),
        ]

    def _write(self, seconds: float) -> float:
        """Insert as the rate wants it, and say what rate it was. A row counts from when it was due."""
        started = time.perf_counter()
        inserts = max(1, int(seconds * ROWS_A_SECOND / self._rows.num_rows))
        for number in range(inserts):
            due = started + number * self._rows.num_rows / ROWS_A_SECOND
            time.sleep(max(0.0, due - time.perf_counter()))
            self._inserted_at.append(due)
            self._pond.insert("events", self._rows)
        return inserts * self._rows.num_rows / (time.perf_counter() - started)

    def _counted(self) -> int:
        return calls(read(self._pond))

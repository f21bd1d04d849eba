"""What a read of the view `by_entity` costs, with nothing new and with a few new rows, and Spark's jobs for it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from millpond import Pond
from millpond.bench.answers import WrongAnswerError
from millpond.bench.jobs import jobs_started
from millpond.bench.report import Measurement

READS = 30
UNCHANGED_BELOW_MS = 2.0


def measure(pond: Pond, inserts: Iterable[pa.Table], query: str, *, beside_spark: bool) -> list[Measurement]:
    """Unchanged reads, and one read after each of the inserts; beside the view's query computed from the stream."""
    expected = calls(read(pond))
    jobs_before = jobs_started(pond)
    unchanged = [_milliseconds(lambda: read(pond)) for _ in range(READS)]
    jobs_between = jobs_started(pond)
    changed = []
    for rows in inserts:
        pond.insert("events", rows)
        changed.append(_milliseconds(lambda: read(pond)))
        expected += rows.num_rows
    jobs_after = jobs_started(pond)
    if calls(read(pond)) != expected:
        raise WrongAnswerError(f"the view counts {calls(read(pond)):,} calls instead of {expected:,}")
    spark = {"spark": _recomputed(pond, query)} if beside_spark else {}
    return [
        Measurement(
            "unchanged read, median",
            statistics.median(unchanged),
            "ms",
            spark,
            target=UNCHANGED_BELOW_MS,
            lower_is_better=True,
        ),
        Measurement("read after an insert, median", statistics.median(changed), "ms", spark),
        Measurement("read after an insert, p99", percentile_99(changed), "ms", spark),
        Measurement("Spark jobs of an unchanged read", (jobs_between - jobs_before) / READS, "jobs"),
        Measurement("Spark jobs of a read after an insert", (jobs_after - jobs_between) / len(changed), "jobs"),
    ]


def read(pond: Pond) -> pa.Table:
    """All rows of the view."""
    return pond.execute("SELECT * FROM by_entity").arrow()


def calls(answer: pa.Table) -> int:
    """How many rows of the stream an answer has counted."""
    return int(pc.sum(answer.column("calls")).as_py() or 0)


def percentile_99(values: Sequence[float]) -> float:
    """The value that one in a hundred exceeds; of few values the largest.

    >>> percentile_99(range(1, 201))
    198
    >>> percentile_99([3.0, 1.0])
    3.0
    """
    return sorted(values)[min(len(values) - 1, int(0.99 * len(values)) - (len(values) >= 100))]


def _recomputed(pond: Pond, query: str) -> float:
    return statistics.median(_milliseconds(lambda: pond.execute(query).arrow()) for _ in range(3))


def _milliseconds(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return (time.perf_counter() - started) * 1_000

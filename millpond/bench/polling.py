"""How many rows a second the view `by_entity` holds while readers poll it, each answer with all that was inserted."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa

from millpond import Pond
from millpond.bench.answers import WrongAnswerError
from millpond.bench.report import Measurement
from millpond.bench.view_reads import calls, read

READERS = 4


def measure(pond: Pond, inserts: Sequence[pa.Table]) -> list[Measurement]:
    """The same inserts twice, without and with readers; both until the view has answered with all rows."""
    rows = sum(one.num_rows for one in inserts)
    alone_seconds, _ = _polled(pond, inserts, readers=0)
    seconds, answers = _polled(pond, inserts, readers=READERS)
    return [
        Measurement(
            f"events a second with {READERS} readers",
            rows / seconds,
            "events/s",
            {"without readers": rows / alone_seconds},
        ),
        Measurement("answers a second to them", answers / seconds, "answers/s"),
    ]


def _polled(pond: Pond, inserts: Sequence[pa.Table], *, readers: int) -> tuple[float, int]:
    """The seconds that the inserts took until an answer had them all, and how many answers the readers got."""
    expected = calls(read(pond)) + sum(one.num_rows for one in inserts)
    done = threading.Event()
    with ThreadPoolExecutor(max(1, readers)) as pool:
        polls = [pool.submit(_poll, pond, done) for _ in range(readers)]
        started = time.perf_counter()
        try:
            for rows in inserts:
                pond.insert("events", rows)
            counted = calls(read(pond))
            seconds = time.perf_counter() - started
        finally:
            done.set()
        answers = sum(poll.result() for poll in polls)
    if counted != expected:
        raise WrongAnswerError(f"the view counts {counted:,} calls instead of {expected:,}")
    return seconds, answers


def _poll(pond: Pond, done: threading.Event) -> int:
    """Ask again as soon as there is an answer; returns how many there were."""
    answers, counted = 0, 0
    while not done.is_set():
        last, counted = counted, calls(read(pond))
        if counted < last:
            raise WrongAnswerError(f"the view counts {counted:,} calls after {last:,}")
        answers += 1
    return answers

"""What the view tests share: rows to insert, answers to compare, and tasks that run beside a test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pytest

from millpond import MillpondError, Pond
from millpond.state.records import StateRecord

OpenPond = Callable[..., Pond]
"""Opens a pond, with the settings that are given."""


def numbers(first: int, end: int) -> pa.Table:
    """Rows for a stream `(k int, v int)`: k is the last digit of v."""
    values = range(first, end)
    return pa.table({"k": pa.array([v % 10 for v in values], pa.int32()), "v": pa.array(values, pa.int32())})


def rows(pond: Pond, sql: str) -> list[tuple[Any, ...]]:
    return sorted(pond.execute(sql).fetchall())


def error_of(pond: Pond, sql: str) -> tuple[str, str]:
    """The SQLSTATE and the message that a statement fails with."""
    with pytest.raises(MillpondError) as caught:
        pond.execute(sql)
    return caught.value.sqlstate, caught.value.message


@contextmanager
def in_background(*tasks: Callable[[], None]) -> Iterator[None]:
    """Runs tasks beside the body; what fails in them fails the test."""
    with ThreadPoolExecutor(len(tasks)) as pool:
        running: list[Future[None]] = [pool.submit(task) for task in tasks]
        yield
        for task in running:
            task.result()


def last_job(pond: Pond) -> int:
    """The newest Spark job's number; their count will not do, because Spark forgets the oldest ones."""
    return max(pond.services.runner.session.sparkContext.statusTracker().getJobIdsForGroup(None), default=-1)


def states(pond: Pond) -> dict[int, StateRecord]:
    """What the catalog records of the states that views keep."""
    return pond.services.catalog.states()

"""What the window tests share: a pond whose clock is set by hand, opened again and again, and its stream of events."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import millpond
from millpond import Pond
from tests.windows.random_windows import micros

START = datetime(2024, 2, 28, 12, 0, tzinfo=UTC)


class Clock:
    """The time, which goes on only when it is told to."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> int:
        return micros(self.now)

    def pass_(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def open_pond(shared_spark: None, tmp_path: Path, clock: Clock) -> Iterator[Callable[[], Pond]]:
    """Opens the pond of the test; the one that was open before is closed."""
    opened: list[Pond] = []

    def open_again() -> Pond:
        for pond in opened:
            pond.close()
        opened.append(millpond.connect(tmp_path / "pond", master="local[2]", clock=clock))
        return opened[-1]

    yield open_again
    for pond in opened:
        pond.close()


@pytest.fixture
def timed(open_pond: Callable[[], Pond]) -> Pond:
    """A pond with a stream of events, which may be five seconds late."""
    pond = open_pond()
    options = "timestamp = at, watermark = '5s', idle = '1min'"
    pond.execute(f"CREATE STREAM s (k int, v int, at timestamptz) WITH ({options})")
    return pond


def rows(pond: Pond, sql: str) -> list[tuple[Any, ...]]:
    return sorted(pond.execute(sql).fetchall())


def at(seconds: float) -> str:
    return (START + timedelta(seconds=seconds)).isoformat()


def event(pond: Pond, seconds: float, value: int = 1, key: int = 0) -> None:
    pond.execute(f"INSERT INTO s VALUES ({key}, {value}, '{at(seconds)}')")


def tick(pond: Pond) -> None:
    for view in pond.services.views.all():
        for stream in view.streams:
            pond.services.views.catch_up(stream)

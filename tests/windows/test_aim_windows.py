"""The windows of AIM's analytics matrix: today, this week, the last day and week, the last events of each entity."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

import millpond
from millpond import Pond
from tests.windows.random_windows import micros

START = datetime(2024, 2, 24, 21, 0, tzinfo=UTC)  # a Saturday: soon the day ends, then the week
COLUMNS = (
    "entity, count(*) AS n, sum(cost) AS s, min(cost) AS a, max(cost) AS b,"
    " sum(duration) AS d, min(duration) AS e, max(duration) AS f"
)


@dataclass(frozen=True)
class Call:
    entity: int
    cost: int
    duration: int
    at: datetime


Chosen = Callable[[Sequence[Call], datetime], Iterable[Call]]


def _day(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _since(first: Callable[[datetime], datetime]) -> Chosen:
    return lambda calls, now: [call for call in calls if call.at >= first(now)]


def _step_before(now: datetime, step: timedelta, age: timedelta) -> datetime:
    """Rows leave in steps: at the last one, those went that were older than the age."""
    return now - (now - datetime(1970, 1, 1, tzinfo=UTC)) % step - age


def _last(number: int) -> Chosen:
    def chosen(calls: Sequence[Call], _now: datetime) -> Iterable[Call]:
        for entity in {call.entity for call in calls}:
            yield from [call for call in calls if call.entity == entity][-number:]

    return chosen


WINDOWS: dict[str, tuple[str, Chosen]] = {
    "today": (
        "calls WHERE date_trunc('day', arrival_timestamp) = date_trunc('day', now())",
        _since(_day),
    ),
    "this_week": (
        "calls WHERE date_trunc('week', arrival_timestamp) = date_trunc('week', now())",
        _since(lambda now: _day(now) - timedelta(days=now.weekday())),
    ),
    "last_day": (
        "calls WHERE arrival_timestamp > now() - interval '24 hours'",
        _since(lambda now: _step_before(now, timedelta(minutes=10), timedelta(hours=24))),
    ),
    "last_week": (
        "calls WHERE arrival_timestamp > now() - interval '7 days'",
        _since(lambda now: _step_before(now, timedelta(hours=1), timedelta(days=7))),
    ),
    **{f"last_{n}": (f"LAST(calls, {n} PARTITION BY entity) w", _last(n)) for n in (10, 100, 1000)},
}


def expected(calls: Iterable[Call]) -> list[tuple[int, ...]]:
    of: dict[int, list[Call]] = {}
    for call in calls:
        of.setdefault(call.entity, []).append(call)
    return sorted(
        (
            entity,
            len(own),
            sum(one.cost for one in own),
            min(one.cost for one in own),
            max(one.cost for one in own),
            sum(one.duration for one in own),
            min(one.duration for one in own),
            max(one.duration for one in own),
        )
        for entity, own in of.items()
    )


@pytest.fixture
def clock() -> list[datetime]:
    return [START]


@pytest.fixture
def aim(shared_spark: None, tmp_path: Path, clock: list[datetime]) -> Iterator[Pond]:
    with millpond.connect(tmp_path / "pond", master="local[2]", clock=lambda: micros(clock[0])) as pond:
        pond.execute("CREATE STREAM calls (entity int, cost int, duration int)")
        for name, (source, _) in WINDOWS.items():
            pond.execute(f"CREATE VIEW {name} AS SELECT {COLUMNS} FROM {source} GROUP BY entity")
        yield pond


def test_all_windows_of_one_stream_are_right_across_ends_of_days_and_weeks(aim: Pond, clock: list[datetime]) -> None:
    random, calls = Random(7), list[Call]()
    for step in (1, 150, 1, 120, 35, 60 * 24, 60 * 26, 60 * 24 * 5):  # minutes until the next instant
        burst = [Call(random.randint(0, 4), random.randint(1, 99), random.randint(1, 999), clock[0]) for _ in range(90)]
        calls += burst
        aim.insert("calls", [(call.entity, call.cost, call.duration) for call in burst])
        clock[0] += timedelta(minutes=step)
        for name, (_, chosen) in WINDOWS.items():
            given = sorted(aim.execute(f"SELECT * FROM {name}").fetchall())
            assert given == expected(chosen(calls, clock[0])), f"{name} at {clock[0]}"


def test_old_rows_leave_without_new_ones(aim: Pond, clock: list[datetime]) -> None:
    aim.insert("calls", [(1, 5, 6)])
    clock[0] += timedelta(hours=23)
    assert aim.execute("SELECT entity FROM last_day").fetchall() == [(1,)]
    clock[0] += timedelta(hours=2)
    assert aim.execute("SELECT entity FROM last_day").fetchall() == []
    assert aim.execute("SELECT entity FROM last_10").fetchall() == [(1,)]

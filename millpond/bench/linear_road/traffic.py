"""Cars on expressways, made up: each enters somewhere, drives as fast as the traffic lets it, and leaves again.

More and more cars are on the road, until about 1,700 of them report each second on an expressway. All are moved once
in half a minute, when each reports at a second of its own. The same seed gives the same traffic.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np
import pyarrow as pa

from millpond.bench.linear_road.road import (
    BALANCE,
    DAYS,
    ENTRY_LANE,
    EXIT_LANE,
    EXPENDITURE,
    FEET,
    HOURS_S,
    POSITION,
    REPORT_S,
    SCHEMA,
    SEGMENTS,
    TRAVEL_LANES,
    WEST,
)

Integers = np.ndarray[tuple[int, ...], np.dtype[np.int64]]
Choice = np.ndarray[tuple[int, ...], np.dtype[np.int64 | np.bool_]]
Numbers = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

FREE_MPH, SLOWEST_MPH = 65.0, 8.0
CROWDED = 150.0
"""Cars in a segment at which it is half as fast as a free one."""

GROWTH = 0.53
"""The number of cars grows with this power of time: about 12,000,000 reports in three hours."""

TRIP_SEGMENTS = (2, 25)
ACCIDENT_INTERVAL_S, ACCIDENT_S = 1200, 900
"""How often there is one on each expressway, and how long it lasts."""

QUESTIONS = 0.006
"""The part of the reports that come with a question; five of six ask for the balance."""

FEET_A_REPORT = FEET * REPORT_S / 3600
"""How far one mile an hour goes between two reports."""


@dataclass
class _Cars:
    """Those on the road, a number in each array."""

    vid: Integers
    xway: Integers
    direction: Integers
    position: Numbers
    speed: Numbers
    last_segment: Integers
    lane: Integers
    second: Integers
    stopped_until: Integers

    @classmethod
    def none(cls) -> _Cars:
        return cls(
            **{
                one.name: np.zeros(0, dtype=float if one.name in ("position", "speed") else np.int64)
                for one in fields(cls)
            }
        )

    def __len__(self) -> int:
        return len(self.vid)

    @property
    def segment(self) -> Integers:
        return (self.position // FEET).astype(np.int64)

    @property
    def places(self) -> Integers:
        """Numbers of expressway, direction and segment together."""
        return (self.xway * 2 + self.direction) * SEGMENTS + self.segment

    def taken(self, chosen: Choice) -> _Cars:
        return _Cars(**{one.name: getattr(self, one.name)[chosen] for one in fields(self)})

    def joined(self, others: _Cars) -> _Cars:
        both = {one.name: np.concatenate([getattr(self, one.name), getattr(others, one.name)]) for one in fields(self)}
        return _Cars(**both)


class Traffic:
    """The input of a run: `reports_a_second` at the end, on each expressway."""

    def __init__(self, expressways: int = 1, seed: int = 1, reports_a_second: float = 1700.0) -> None:
        self._random = np.random.default_rng(seed)
        self._expressways = expressways
        self._most = reports_a_second * REPORT_S * expressways
        weights = 0.5 + self._random.random(SEGMENTS)
        self._entries = weights / weights.sum()
        self._cars = _Cars.none()
        self._next_vid, self._next_qid = 0, 0

    def minutes(self, count: int = HOURS_S // 60) -> Iterator[pa.Table]:
        """The input of one minute after the other, in the order of its time."""
        for minute in range(count):
            yield pa.concat_tables([self._half_minute(minute * 60), self._half_minute(minute * 60 + REPORT_S)])

    def _half_minute(self, start: int) -> pa.Table:
        self._move(start)
        self._enter(start)
        if start and start % ACCIDENT_INTERVAL_S == 0:
            for xway in range(self._expressways):
                self._crash(xway, start)
        cars = self._cars
        leaving = cars.lane == EXIT_LANE
        made = self._reports(cars, start)
        self._cars = cars.taken(~leaving)
        return made

    # -- driving -----------------------------------------------------------------------------------------------------

    def _move(self, now: int) -> None:
        """Drive on for half a minute, as fast as the density of each segment allows."""
        cars = self._cars
        density = np.bincount(cars.places, minlength=self._expressways * 2 * SEGMENTS)[cars.places]
        wished = FREE_MPH / (1 + (density / CROWDED) ** 2) + self._random.normal(0, 6, len(cars))
        stopped = cars.stopped_until > now
        cars.speed = np.where(stopped, 0.0, np.clip(wished, SLOWEST_MPH, 100.0))
        forward = np.where(cars.direction == WEST, -1.0, 1.0)
        cars.position = np.clip(cars.position + forward * cars.speed * FEET_A_REPORT, 0, SEGMENTS * FEET - 1)
        travelling = np.asarray(TRAVEL_LANES)[cars.vid % len(TRAVEL_LANES)]
        ahead = np.where(cars.direction == WEST, cars.segment <= cars.last_segment, cars.segment >= cars.last_segment)
        cars.lane = np.where(ahead & ~stopped, EXIT_LANE, travelling)

    def _enter(self, now: int) -> None:
        """Let as many cars in as are missing at this time of the day."""
        wanted = self._most * ((now + REPORT_S) / HOURS_S) ** GROWTH
        count = max(0, round(wanted) - len(self._cars))
        random = self._random
        segment = random.choice(SEGMENTS, size=count, p=self._entries)
        direction = random.integers(0, 2, count)
        trip = random.integers(*TRIP_SEGMENTS, count)
        new = _Cars(
            vid=np.arange(self._next_vid, self._next_vid + count),
            xway=random.integers(0, self._expressways, count),
            direction=direction,
            position=segment * float(FEET) + random.integers(0, FEET, count),
            speed=np.clip(random.normal(35, 8, count), SLOWEST_MPH, 60.0),
            last_segment=np.clip(np.where(direction == WEST, segment - trip, segment + trip), 0, SEGMENTS - 1),
            lane=np.full(count, ENTRY_LANE),
            second=random.integers(0, REPORT_S, count),
            stopped_until=np.zeros(count, dtype=np.int64),
        )
        self._next_vid += count
        self._cars = self._cars.joined(new)

    def _crash(self, xway: int, now: int) -> None:
        """Two cars of one direction stop at the same place of the same lane."""
        cars = self._cars
        driving = np.flatnonzero((cars.xway == xway) & (cars.lane != EXIT_LANE) & (cars.stopped_until <= now))
        places = cars.places[driving]
        together = driving[np.bincount(places)[places] > 1]
        if len(together):
            first = self._random.choice(together)
            beside = together[(cars.places[together] == cars.places[first]) & (together != first)]
            pair = [first, self._random.choice(beside)]
            cars.position[pair] = np.floor(cars.position[first])
            cars.lane[pair] = TRAVEL_LANES[0]
            cars.stopped_until[pair] = now + ACCIDENT_S

    # -- telling -----------------------------------------------------------------------------------------------------

    def _reports(self, cars: _Cars, start: int) -> pa.Table:
        """What all cars report in half a minute, and what some of them ask, by time."""
        count = len(cars)
        order = np.lexsort((cars.vid, cars.second))
        cars = cars.taken(order)
        reports = {
            "type": np.full(count, POSITION),
            "time": start + cars.second,
            "vid": cars.vid,
            "speed": cars.speed.astype(np.int64),
            "xway": cars.xway,
            "lane": cars.lane,
            "dir": cars.direction,
            "seg": cars.segment,
            "pos": cars.position.astype(np.int64),
        }
        asked = self._questions(cars, start)
        both = pa.concat_tables([_table(reports), asked])
        by_time = np.argsort(both.column("time").to_numpy(), kind="stable")
        return both.take(by_time)

    def _questions(self, cars: _Cars, start: int) -> pa.Table:
        random = self._random
        asking = cars.taken(np.flatnonzero(random.random(len(cars)) < QUESTIONS))
        count = len(asking)
        qid = np.arange(self._next_qid, self._next_qid + count)
        self._next_qid += count
        kind = np.where(random.random(count) < 1 / 6, EXPENDITURE, BALANCE)
        common = {"time": start + asking.second, "vid": asking.vid, "qid": qid, "type": kind}
        history = {"xway": random.integers(0, self._expressways, count), "day": random.integers(1, DAYS + 1, count)}
        about_history = kind == EXPENDITURE
        return pa.concat_tables(
            [
                _table({name: column[~about_history] for name, column in common.items()}),
                _table({name: column[about_history] for name, column in {**common, **history}.items()}),
            ]
        )


def _table(columns: dict[str, Integers]) -> pa.Table:
    """Columns as input; what is not among them is NULL."""
    count = len(next(iter(columns.values())))
    arrays = [
        pa.array(columns[field.name]).cast(field.type) if field.name in columns else pa.nulls(count, field.type)
        for field in SCHEMA
    ]
    return pa.table(arrays, schema=SCHEMA)

"""What the answers of a run must be, computed from its input one report after the other, in plain Python.

- Of each minute and segment: how many cars reported in it, their average speed (to six digits), and the mean of the
  last five such averages.
- An accident is where, in a minute, two cars reported a place that each had reported four times in a row.
- The toll that follows from a minute is that of cars which enter the segment in the next one. A car enters where its
  first report of a segment comes from another lane than the exit.
- A balance is what a car was told to pay before the minute in which it asks.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

import pyarrow as pa

from millpond.bench.linear_road.road import (
    AVERAGED_MINUTES,
    BALANCE,
    EXIT_LANE,
    EXPENDITURE,
    POSITION,
    STOPPED_CARS,
    STOPPED_REPORTS,
    downstream,
    toll,
)

_DIGITS = Decimal("0.000001")


class Place(NamedTuple):
    """A segment in one direction."""

    xway: int
    direction: int
    segment: int


class Notification(NamedTuple):
    """What a car is told when it enters a segment."""

    time: int
    vid: int
    place: Place
    toll: int


@dataclass
class _Car:
    """What must be known of a car between its reports."""

    place: Place | None = None
    position: int = -1
    times: int = 0
    charged: int = 0
    """Before this minute."""


@dataclass
class Expected:
    """The answers to all input that was added, minute by minute. Tolls of 0 are not among `tolls`."""

    tolls: dict[tuple[int, Place], int] = field(default_factory=dict)
    notifications: list[Notification] = field(default_factory=list)
    balances: dict[int, int] = field(default_factory=dict)
    expenditures: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    """By question: the car, the expressway and the day that it is about."""

    accidents: set[tuple[int, Place]] = field(default_factory=set)
    """Minutes and where in them cars stood."""

    _cars: defaultdict[int, _Car] = field(default_factory=lambda: defaultdict(_Car))
    _averages: defaultdict[Place, deque[Decimal]] = field(
        default_factory=lambda: defaultdict(lambda: deque(maxlen=AVERAGED_MINUTES))
    )
    _asked_now: dict[Place, int] = field(default_factory=dict)

    def add_minute(self, minute: int, rows: pa.Table) -> None:
        """The input of one minute, in the order of its time."""
        speeds: defaultdict[Place, list[int]] = defaultdict(list)
        cars: defaultdict[Place, set[int]] = defaultdict(set)
        stopped: defaultdict[tuple[Place, int], set[int]] = defaultdict(set)
        told: list[Notification] = []
        for row in zip(*(column.to_pylist() for column in rows.columns), strict=True):
            kind, time, vid, speed, xway, lane, direction, segment, position, qid, day = row
            if kind == POSITION:
                place = Place(xway, direction, segment)
                speeds[place].append(speed)
                cars[place].add(vid)
                told += self._drive(time, vid, place, position, lane)
                if self._cars[vid].times >= STOPPED_REPORTS:
                    stopped[place, position].add(vid)
            elif kind == BALANCE:
                self.balances[qid] = self._cars[vid].charged
            elif kind == EXPENDITURE:
                self.expenditures[qid] = (vid, xway, day)
        for one in told:
            self._cars[one.vid].charged += one.toll
        self.notifications += told
        accidents = {place for (place, _), vids in stopped.items() if len(vids) >= STOPPED_CARS}
        self.accidents |= {(minute, place) for place in accidents}
        self._ask_tolls(minute, speeds, cars, accidents)

    def _drive(self, time: int, vid: int, place: Place, position: int, lane: int) -> Iterable[Notification]:
        car = self._cars[vid]
        enters = car.place != place and lane != EXIT_LANE
        car.times = car.times + 1 if car.position == position else 1
        car.place, car.position = place, position
        return [Notification(time, vid, place, self._asked_now.get(place, 0))] if enters else []

    def _ask_tolls(
        self,
        minute: int,
        speeds: dict[Place, list[int]],
        cars: dict[Place, set[int]],
        accidents: set[Place],
    ) -> None:
        """What cars have to pay in the minute after this."""
        self._asked_now = {}
        for place, found in speeds.items():
            averages = self._averages[place]
            averages.append((Decimal(sum(found)) / len(found)).quantize(_DIGITS, ROUND_HALF_UP))
            ahead = downstream(place.segment, place.direction)
            accident = any(place._replace(segment=segment) in accidents for segment in ahead)
            asked = toll(len(cars[place]), sum(averages, Decimal(0)) / len(averages), accident=accident)
            if asked:
                self._asked_now[place] = self.tolls[minute, place] = asked

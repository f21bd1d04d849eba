"""What Linear Road fixes: the expressway, the kinds of input, and what a mile costs."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa

SEGMENTS = 100
"""Of an expressway, in each of its two directions; each is a mile long."""

FEET = 5280
"""Of a segment. Positions are feet from the western end."""

REPORT_S = 30
"""A car tells where it is twice a minute."""

HOURS_S = 3 * 3600
ENTRY_LANE, EXIT_LANE = 0, 4
TRAVEL_LANES = (1, 2, 3)
EAST, WEST = 0, 1
"""Directions: of a car that drives east, segments and positions grow."""

POSITION, BALANCE, EXPENDITURE = 0, 2, 3
"""Kinds of input: where a car is, and questions for what it owes and what it paid on a day before."""

DAYS = 69
"""For so many days before today, what each car paid on each expressway is known."""

STOPPED_REPORTS = 4
"""A car that has told the same place so often in a row has stopped."""

STOPPED_CARS = 2
"""So many that have stopped at one place are an accident."""

ACCIDENT_SEGMENTS = 5
"""A segment is affected by an accident in it, or in one of the next four that its cars would come to."""

BUSY_CARS, SLOW_MPH, AVERAGED_MINUTES = 50, 40, 5
"""A toll is asked where more cars than this were in the last minute, and slower than this over the last five."""

SCHEMA = pa.schema(
    [
        ("type", pa.int16()),
        ("time", pa.int32()),
        ("vid", pa.int32()),
        ("speed", pa.int32()),
        ("xway", pa.int16()),
        ("lane", pa.int16()),
        ("dir", pa.int16()),
        ("seg", pa.int16()),
        ("pos", pa.int32()),
        ("qid", pa.int32()),
        ("day", pa.int16()),
    ]
)
"""Of the input: of a question only type, time, vid and qid are set, and xway and day of one for expenditure."""


def toll(cars: int, latest_average: Decimal, *, accident: bool) -> int:
    """What a car pays that enters a segment in the minute after one with so many cars.

    >>> [toll(cars, Decimal(mph), accident=False) for cars, mph in ((60, 30), (50, 30), (60, 40))]
    [200, 0, 0]
    """
    if accident or latest_average >= SLOW_MPH or cars <= BUSY_CARS:
        return 0
    return 2 * (cars - BUSY_CARS) ** 2


def downstream(segment: int, direction: int) -> range:
    """The segments whose accidents affect a segment.

    >>> list(downstream(10, EAST)), list(downstream(2, WEST))
    ([10, 11, 12, 13, 14], [2, 1, 0])
    """
    if direction == EAST:
        return range(segment, min(SEGMENTS, segment + ACCIDENT_SEGMENTS))
    return range(segment, max(-1, segment - ACCIDENT_SEGMENTS), -1)

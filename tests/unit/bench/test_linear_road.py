"""Linear Road's input keeps the rules of the road, and the expected answers follow from it, on cases done by hand."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest

from millpond.bench.linear_road.expected import Expected, Notification, Place
from millpond.bench.linear_road.road import (
    BALANCE,
    ENTRY_LANE,
    EXIT_LANE,
    FEET,
    POSITION,
    REPORT_S,
    SCHEMA,
    STOPPED_REPORTS,
    downstream,
)
from millpond.bench.linear_road.traffic import Traffic

MINUTES = 30
Row = dict[str, Any]


@pytest.fixture(scope="module")
def traffic() -> list[pa.Table]:
    return list(Traffic(expressways=2, seed=3, reports_a_second=20).minutes(MINUTES))


def reports(tables: list[pa.Table]) -> list[Row]:
    return [row for table in tables for row in table.to_pylist() if row["type"] == POSITION]


def test_the_same_seed_gives_the_same_traffic(traffic: list[pa.Table]) -> None:
    again = list(Traffic(expressways=2, seed=3, reports_a_second=20).minutes(MINUTES))
    other = next(Traffic(expressways=2, seed=4, reports_a_second=20).minutes(1))
    assert again == traffic
    assert other != traffic[0]


def test_input_comes_in_the_order_of_its_time_and_minute(traffic: list[pa.Table]) -> None:
    times = [[row["time"] for row in table.to_pylist()] for table in traffic]
    assert all(one == sorted(one) for one in times)
    assert all(time // 60 == minute for minute, one in enumerate(times) for time in one)


def test_more_and_more_cars_report(traffic: list[pa.Table]) -> None:
    counts = [len(reports([table])) for table in traffic]
    assert counts == sorted(counts)
    assert counts[-1] > 3 * counts[0]


def test_a_car_reports_each_half_minute_from_its_entry_to_its_exit(traffic: list[pa.Table]) -> None:
    by_car: defaultdict[int, list[Row]] = defaultdict(list)
    for row in reports(traffic):
        assert row["seg"] == row["pos"] // FEET
        by_car[row["vid"]].append(row)
    for told in by_car.values():
        assert {after["time"] - before["time"] for before, after in pairwise(told)} <= {REPORT_S}
        assert [row["lane"] == ENTRY_LANE for row in told] == [True] + [False] * (len(told) - 1)
        assert not any(row["lane"] == EXIT_LANE for row in told[:-1])
        assert len({(row["xway"], row["dir"]) for row in told}) == 1


def test_there_are_accidents(traffic: list[pa.Table]) -> None:
    stopped: defaultdict[tuple[int, ...], defaultdict[int, int]] = defaultdict(lambda: defaultdict(int))
    for row in reports(traffic):
        stopped[row["xway"], row["dir"], row["pos"]][row["vid"]] += 1
    crashed = [place for place, cars in stopped.items() if sum(n >= STOPPED_REPORTS for n in cars.values()) >= 2]
    assert {place[0] for place in crashed} == {0, 1}


def test_cars_ask_for_their_balance(traffic: list[pa.Table]) -> None:
    asked = [row for table in traffic for row in table.to_pylist() if row["type"] != POSITION]
    assert sorted(row["qid"] for row in asked) == list(range(len(asked)))
    assert any(row["type"] == BALANCE for row in asked)


# -- what is expected ------------------------------------------------------------------------------------------------


def position(time: int, vid: int, segment: int, speed: int = 20, lane: int = 1, offset: int = 0) -> Row:
    place = {"xway": 0, "dir": 0, "seg": segment, "pos": segment * FEET + offset}
    return {"type": POSITION, "time": time, "vid": vid, "speed": speed, "lane": lane, **place}


def balance(time: int, vid: int, qid: int) -> Row:
    return {"type": BALANCE, "time": time, "vid": vid, "qid": qid}


def expected(*minutes: list[Row]) -> Expected:
    found = Expected()
    for minute, rows in enumerate(minutes):
        full = [{name: row.get(name) for name in SCHEMA.names} for row in rows]
        found.add_minute(minute, pa.Table.from_pylist(full, schema=SCHEMA))
    return found


def crowd(minute: int, count: int, segment: int, speed: int = 20) -> list[Row]:
    return [position(minute * 60, 1000 + car, segment, speed, offset=car + minute) for car in range(count)]


def test_a_busy_slow_minute_asks_a_toll_of_those_who_enter_in_the_next() -> None:
    found = expected(
        [position(0, 1, 9), *crowd(0, 60, 10)],
        [position(60, 1, 10), position(61, 2, 10, lane=EXIT_LANE), position(62, 1, 10, offset=5), balance(63, 1, 1)],
        [balance(120, 1, 2)],
    )
    assert found.tolls == {(0, Place(0, 0, 10)): 200}
    assert [one for one in found.notifications if one.time == 60] == [Notification(60, 1, Place(0, 0, 10), 200)]
    assert not [one for one in found.notifications if one.time in (61, 62)]
    assert found.balances == {1: 0, 2: 200}


def test_the_average_is_that_of_five_minutes() -> None:
    fast = [crowd(minute, 60, 10, speed=90) for minute in range(2)]
    slow = [crowd(minute, 60, 10, speed=20) for minute in range(2, 8)]
    found = expected(*fast, *slow)
    # (2 * 90 + 3 * 20) / 5 = 48, then (90 + 4 * 20) / 5 = 34.
    assert [minute for minute, _ in found.tolls] == [5, 6, 7]


def test_an_accident_ahead_asks_nothing() -> None:
    """Two cars tell the same place four times by minute 1; segment 7 is five before theirs."""
    minutes = []
    for minute in range(3):
        stopped = [position(minute * 60 + second, vid, 12, 0) for second in (0, 30) for vid in (1, 2)]
        others = [row for segment in (12, 8, 7) for row in crowd(minute, 60, segment)]
        for row in others:
            row["vid"] += 10_000 * row["seg"]
        minutes.append([*stopped, *others])
    found = expected(*minutes)
    assert sorted((minute, place.segment) for minute, place in found.tolls) == [(0, 7), (0, 8), (0, 12), (1, 7), (2, 7)]
    assert [*downstream(7, 0)] == [7, 8, 9, 10, 11]

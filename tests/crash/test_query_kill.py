"""Kills a process whose continuous queries are at work, and checks that each source row was inserted exactly once."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

import millpond
from tests.crash.query_writer import CYCLE
from tests.crash.test_kill import SEED
from tests.crash.test_view_kill import KILLS_OF_VIEWS, kill_writer
from tests.queries.support import caught_up


@pytest.mark.timeout(120 * KILLS_OF_VIEWS)
def test_kills_neither_lose_nor_double_a_row(shared_spark: None, tmp_path: Path) -> None:
    print(f"MILLPOND_CRASH_SEED={SEED}")
    chance, acknowledged = random.Random(SEED), 0
    for _ in range(KILLS_OF_VIEWS):
        acknowledged = max(acknowledged, kill_writer("query_writer", tmp_path / "pond", chance))
        with millpond.connect(tmp_path / "pond", master="local[2]") as pond:
            caught_up(pond, "into_table", "into_stream", "behind")
            count = pond.execute("SELECT count(*) FROM s").fetchall()[0][0]
            assert count >= acknowledged
            assert numbers(pond, "copied") == list(range(1, count + 1))
            assert numbers(pond, "even") == numbers(pond, "chained") == list(range(2, count + 1, 2))
            check_cycles(pond, count // CYCLE)
            ordered = [n for (n,) in pond.execute("SELECT n FROM even ORDER BY tid").fetchall()]
            assert ordered == sorted(ordered)
    assert acknowledged > 0


def check_cycles(pond: millpond.Pond, cycles: int) -> None:
    """Each cycle is there once, as a whole, and saw those before it."""
    deadline = time.monotonic() + 60
    while (found := pond.execute("SELECT count(*) FROM cycled").fetchall()[0][0]) < CYCLE * cycles:
        assert time.monotonic() < deadline, found
        time.sleep(0.05)
    assert numbers(pond, "cycled") == list(range(1, CYCLE * cycles + 1))
    by_cycle = pond.execute(
        "SELECT cycle, count(*), min(before), max(before) FROM cycled GROUP BY 1 ORDER BY 1"
    ).fetchall()
    assert by_cycle == [(cycle, CYCLE, CYCLE * cycle, CYCLE * cycle) for cycle in range(cycles)]


def numbers(pond: millpond.Pond, relation: str) -> list[int]:
    return [n for (n,) in pond.execute(f"SELECT n FROM {relation} ORDER BY n").fetchall()]

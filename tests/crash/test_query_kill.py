"""Kills a process whose continuous queries are at work, and checks that each source row was inserted exactly once."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import millpond
from tests.crash.test_kill import SEED
from tests.crash.test_view_kill import KILLS_OF_VIEWS, kill_writer
from tests.queries.support import caught_up


@pytest.mark.long
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
            ordered = [n for (n,) in pond.execute("SELECT n FROM even ORDER BY tid").fetchall()]
            assert ordered == sorted(ordered)
    assert acknowledged > 0


def numbers(pond: millpond.Pond, relation: str) -> list[int]:
    return [n for (n,) in pond.execute(f"SELECT n FROM {relation} ORDER BY n").fetchall()]

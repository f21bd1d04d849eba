"""Kills a process while it publishes late rows, and checks that each of them was published exactly once."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import millpond
from tests.crash.test_kill import SEED
from tests.crash.test_view_kill import KILLS_OF_VIEWS, kill_writer


@pytest.mark.timeout(120 * KILLS_OF_VIEWS)
def test_kills_neither_lose_nor_double_a_late_row(shared_spark: None, tmp_path: Path) -> None:
    print(f"MILLPOND_CRASH_SEED={SEED}")
    chance, acknowledged = random.Random(SEED), 0
    for _ in range(KILLS_OF_VIEWS):
        acknowledged = max(acknowledged, kill_writer("late_writer", tmp_path / "pond", chance))
        with millpond.connect(tmp_path / "pond", master="local[2]") as pond:
            views = pond.services.views
            for oid in views.all()[0].streams:
                views.catch_up(oid)
            views.late.publish()
            count = pond.execute("SELECT count(*) FROM s").fetchall()[0][0]
            assert count >= acknowledged
            for view in ("tumbled", "met"):
                late = pond.execute("SELECT n, late_tid FROM s_late WHERE late_view = $1 ORDER BY tid", [view])
                assert late.fetchall() == [(n, n - 1) for n in range(10, count + 1, 10)]
    assert acknowledged > 0

"""Kills a process in the middle of the ticks of its views, and checks that no tuple is missing or counted twice,
and that each late one was published exactly once."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import millpond
from tests.crash.test_kill import KILLS, ROOT, SEED

KILLS_OF_VIEWS = max(2, KILLS // 50)
"""Each starts a JVM, so there are fewer."""


def kill_writer(name: str, directory: Path, chance: random.Random) -> int:
    """Start a writer, kill it some time after it began to write, and return the last acknowledged number."""
    command = [sys.executable, "-m", f"tests.crash.{name}", str(directory)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "write\n"
        first = process.stdout.readline()
        time.sleep(chance.uniform(0.5, 4))
        process.send_signal(signal.SIGKILL)
        rest, errors = process.communicate()
    assert errors == ""
    return max(int(line[4:]) for line in (first + rest).splitlines(keepends=True) if line.endswith("\n"))


@pytest.mark.timeout(300 * KILLS_OF_VIEWS)
def test_kills_neither_lose_nor_double_a_tuple(shared_spark: None, tmp_path: Path) -> None:
    print(f"MILLPOND_CRASH_SEED={SEED}")
    chance, acknowledged = random.Random(SEED), 0
    for _ in range(KILLS_OF_VIEWS):
        acknowledged = max(acknowledged, kill_writer("view_writer", tmp_path / "pond", chance))
        with millpond.connect(tmp_path / "pond", master="local[2]") as pond:
            count, total, high = pond.execute("SELECT * FROM total").fetchall()[0]
            assert count >= acknowledged
            assert (total, high) == (count * (count + 1) // 2, count)
            digits = dict(pond.execute("SELECT * FROM by_digit").fetchall())
            assert digits == {digit: len(range(digit or 10, count + 1, 10)) for digit in range(10)}
            assert pond.execute("VERIFY VIEW by_digit").fetchall() == [(10, 0, 0)]
            assert pond.execute("VERIFY VIEW met").fetchall() == [(1, 0, 0)]
            last = count // 10 * 10
            expected = [(50, last - 49, last)] if last >= 50 else []
            assert pond.execute("SELECT * FROM last_fifty").fetchall() == expected
            check_late(pond, count)
    assert acknowledged > 0


def check_late(pond: millpond.Pond, count: int) -> None:
    """Every tenth row is late for both views over windows of events."""
    views = pond.services.views
    for oid in views.all()[0].streams:
        views.catch_up(oid)
    views.late.publish()
    for view in ("tumbled", "met"):
        late = pond.execute("SELECT n, late_tid FROM s_late WHERE late_view = $1 ORDER BY tid", [view])
        assert late.fetchall() == [(n, n - 1) for n in range(10, count + 1, 10)]

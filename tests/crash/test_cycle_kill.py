"""Kills a process at each step of a cycle's commit, and at random moments of its cycles: all of them are in both tables
once, and what they saw and remember of the cycles before is what an uninterrupted query does."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import millpond
from tests.crash.cycle_writer import CREATE, CYCLE, STEPS
from tests.crash.test_kill import KILLS, ROOT, SEED

RANDOM_KILLS = 5 if KILLS <= 20 else KILLS * 2 // 5
KILLED_AT = (*STEPS, *[""] * RANDOM_KILLS)
DEADLINE_S = 120.0


def start(directory: Path, step: str) -> subprocess.Popen[str]:
    """A writer, which does nothing yet."""
    command = [sys.executable, "-m", "tests.crash.cycle_writer", str(directory), step]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, cwd=ROOT)


def killed(writer: subprocess.Popen[str], wait_s: float | None) -> int:
    """Let a writer write until it dies, or is killed so long after its first cycles; the last acknowledged number."""
    assert writer.stdin is not None
    assert writer.stdout is not None
    assert writer.stdout.readline() == "warm\n"
    writer.stdin.write("go\n")
    writer.stdin.flush()
    lines = [writer.stdout.readline()]
    if wait_s is not None:
        # It is at most two cycles ahead of the query: so one was committed.
        while acknowledged(lines[-1]) < acknowledged(lines[0]) + 3 * CYCLE:
            lines.append(writer.stdout.readline())
        time.sleep(wait_s)
        writer.send_signal(signal.SIGKILL)
    rest, errors = writer.communicate(timeout=DEADLINE_S)
    assert (writer.returncode, errors) == (-signal.SIGKILL, "")
    whole = [line for line in ("".join(lines) + rest).splitlines(keepends=True) if line.endswith("\n")]
    return max(map(acknowledged, whole))


def acknowledged(line: str) -> int:
    return int(line.removeprefix("ack "))


@pytest.mark.long
@pytest.mark.timeout(120 * len(KILLED_AT))
def test_kills_neither_lose_nor_double_a_cycle(shared_spark: None, tmp_path: Path) -> None:
    print(f"MILLPOND_CRASH_SEED={SEED}")
    chance, directory = random.Random(SEED), tmp_path / "pond"
    warm, cycles = start(directory, KILLED_AT[0]), 0
    for step, following in zip(KILLED_AT, [*KILLED_AT[1:], None], strict=True):
        written = killed(warm, None if step else chance.uniform(0, 2))
        if following is not None:
            warm = start(directory, following)
        with millpond.connect(directory, master="local[2]") as pond:
            count = pond.execute("SELECT count(*) FROM s").fetchall()[0][0]
            assert count >= written
            cycles = count // CYCLE
            check(pond, "killed", cycles)
            print(f"killed {f'when {step}' if step else 'at random'}: {written} rows, {cycles} cycles")
            if following is None:
                compare(pond, cycles)
    assert cycles > 0


def check(pond: millpond.Pond, name: str, cycles: int) -> None:
    """Each cycle is in both tables once, as a whole, and saw those before it."""
    known, deadline = 0, time.monotonic() + DEADLINE_S
    while (found := pond.execute(f"SELECT count(*) FROM {name}_sums").fetchall()[0][0]) < cycles:
        if found > known:
            known, deadline = found, time.monotonic() + DEADLINE_S
        assert time.monotonic() < deadline, (
            found,
            pond.execute("SELECT state, error FROM millpond_queries").fetchall(),
        )
        time.sleep(0.02)
    by_cycle = pond.execute(
        f"SELECT cycle, count(*), min(n), max(n), count(DISTINCT n), min(sums_before), max(sums_before)"
        f" FROM {name}_rows GROUP BY cycle ORDER BY cycle"
    ).fetchall()
    firsts = range(1, CYCLE * cycles + 1, CYCLE)
    assert by_cycle == [(k, CYCLE, low, low + CYCLE - 1, CYCLE, k, k) for k, low in enumerate(firsts)]
    remembered = pond.execute(f"SELECT n, remembered FROM {name}_rows ORDER BY n").fetchall()
    assert remembered == [(n, n - 280 if n > 280 else None) for n in range(1, CYCLE * cycles + 1)]
    sums = pond.execute(f"SELECT cycle, total, rows_before FROM {name}_sums ORDER BY cycle").fetchall()
    assert sums == [(k, sum(range(low, low + CYCLE)), CYCLE * k) for k, low in enumerate(firsts)]


def compare(pond: millpond.Pond, cycles: int) -> None:
    """A query that nothing interrupts makes the same of the same stream."""
    pond.execute(CREATE.format(name="whole", cycle=CYCLE))
    check(pond, "whole", cycles)
    for table in ("rows", "sums"):
        both = [pond.execute(f"SELECT * FROM {name}_{table}").fetchall() for name in ("killed", "whole")]
        assert sorted(both[0], key=repr) == sorted(both[1], key=repr)

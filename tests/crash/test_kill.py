"""Kills a process that appends to a stream, again and again, and checks what the stream holds after each kill.

Every acknowledged append is there once, under the tids that were acknowledged; of the others each is there whole or
not at all; tids are dense. MILLPOND_CRASH_KILLS says how often (20), MILLPOND_CRASH_SEED repeats a run.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import pytest

from millpond.stream import StreamRelation
from tests.crash import writer

KILLS = int(os.environ.get("MILLPOND_CRASH_KILLS", "20"))
SEED = int(os.environ.get("MILLPOND_CRASH_SEED", "0")) or random.SystemRandom().randrange(1, 2**31)
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Append:
    """An append as the writer numbers it."""

    run: int
    number: int
    size: int


@dataclass
class Ledger:
    """What the stream must hold: acknowledged appends by first tid, and where the tids of earlier runs ended."""

    acknowledged: dict[int, Append] = field(default_factory=dict)
    end_tid: int = 0

    def note(self, output: str) -> None:
        """Take the writer's report; a line without its end was not finished."""
        for line in output.splitlines(keepends=True):
            if line.startswith("ack ") and line.endswith("\n"):
                first_tid, run, number, size = map(int, line.split()[1:])
                assert first_tid not in self.acknowledged, "tids were given twice"
                self.acknowledged[first_tid] = Append(run, number, size)


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "scratch"
    shutil.rmtree(tmp_path, ignore_errors=True)


def kill_writer(directory: Path, scratch: Path, run: int, chance: random.Random) -> str:
    """Start a writer, kill it at a random moment of opening or of writing, and return what it reported."""
    arguments = [str(directory), str(scratch), str(run), str(chance.randrange(2**31))]
    command = [sys.executable, "-m", "tests.crash.writer", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        output = process.stdout.readline()
        if chance.random() < 0.2:
            time.sleep(chance.uniform(0, 0.02))
        else:
            output += process.stdout.readline()
            time.sleep(chance.uniform(0, 0.4))
        process.send_signal(signal.SIGKILL)
        rest, errors = process.communicate()
    assert process.returncode == -signal.SIGKILL, errors
    assert errors == ""
    return output + rest


def check(directory: Path, scratch: Path, ledger: Ledger) -> None:
    stream = StreamRelation.open("s", directory, scratch, writer.SCHEMA, writer.OPTIONS)
    with stream.hold() as chunk:
        table = chunk.read()
        assert table["tid"].to_pylist() == list(range(chunk.first, chunk.end)), "tids are not dense"
        held = find_appends(table.to_pydict(), chunk.first)
        check_acknowledged(held, ledger, chunk.first, chunk.end)
        assert chunk.rows >= min(chunk.end, writer.OPTIONS.capacity_rows)
        assert chunk.end >= ledger.end_tid, "the stream has become shorter"
        ledger.end_tid = chunk.end
    stream.close()


def find_appends(columns: dict[str, list[int]], first_tid: int) -> dict[int, Append]:
    """The appends in the rows by first tid, after checking that each is whole; the ring may cut the first one."""
    found: dict[int, Append] = {}
    tid = first_tid
    rows = zip(columns["run"], columns["number"], columns["size"], columns["index"], strict=True)
    for (run, number, size), group in groupby(rows, key=lambda row: row[:3]):
        indexes = [index for *_, index in group]
        assert indexes == list(range(indexes[0], size)), f"append {number} of run {run} is torn"
        assert indexes[0] == 0 or tid == first_tid, f"append {number} of run {run} begins in the middle"
        found[tid - indexes[0]] = Append(run, number, size)
        tid += len(indexes)
    assert len(set(found.values())) == len(found), "an append is there twice"
    return found


def check_acknowledged(held: dict[int, Append], ledger: Ledger, first_tid: int, end_tid: int) -> None:
    for tid, append in ledger.acknowledged.items():
        if tid + append.size > first_tid:
            assert tid + append.size <= end_tid, f"{append} was acknowledged and is lost"
            assert held.get(tid) == append, f"{append} was acknowledged and is not at {tid}"
    # What has been overwritten need not be looked for again.
    ledger.acknowledged = {t: a for t, a in ledger.acknowledged.items() if t + a.size > first_tid}


def test_kills_lose_nothing(tmp_path: Path, scratch: Path) -> None:
    print(f"MILLPOND_CRASH_SEED={SEED} MILLPOND_CRASH_KILLS={KILLS}")
    chance, ledger, appends = random.Random(SEED), Ledger(), 0
    for run in range(KILLS):
        output = kill_writer(tmp_path / "stream", scratch, run, chance)
        ledger.note(output)
        appends += output.count("ack ")
        check(tmp_path / "stream", scratch, ledger)
    assert appends > KILLS, "the writers did not get to write"
    print(f"{KILLS} kills, {appends} acknowledged appends, {ledger.end_tid} tuples")

"""Kills a process that commits to two tables at once, again and again, and checks both after each kill.

Every acknowledged number is in both tables once, both hold the same numbers without a gap, and the Delta logs agree
with the catalog. A tenth of MILLPOND_CRASH_KILLS says how often, MILLPOND_CRASH_SEED repeats a run.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from deltalake import DeltaTable

from millpond.config import Settings
from millpond.stores import Stores
from tests.crash.table_writer import TABLES, numbers
from tests.crash.test_kill import KILLS, ROOT, SEED


def kill_writer(directory: Path, chance: random.Random) -> list[int]:
    """Start a writer, kill it at a random moment, and return the numbers that it reported."""
    command = [sys.executable, "-m", "tests.crash.table_writer", str(directory)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        output = process.stdout.readline()
        if chance.random() < 0.8:
            while not output.endswith("\n") or not output.splitlines()[-1].startswith("ack "):
                output += process.stdout.readline()
        time.sleep(chance.uniform(0, 0.3))
        process.send_signal(signal.SIGKILL)
        rest, errors = process.communicate()
    assert errors == ""
    lines = (output + rest).splitlines(keepends=True)
    return [int(line[4:]) for line in lines if line.startswith("ack ") and line.endswith("\n")]


def check(directory: Path, acknowledged: set[int]) -> None:
    stores = Stores.open(directory, directory / "scratch", None, Settings())
    if not stores.catalog.snapshot.relations:
        assert not acknowledged
        return
    held = {name: numbers(stores, name) for name in TABLES}
    assert sorted(held["left"]) == sorted(held["right"]) == list(range(1, len(held["left"]) + 1))
    assert acknowledged <= set(held["left"])
    for name in TABLES:
        relation = stores.catalog.snapshot.relations[name]
        log = DeltaTable(stores.tables.directory_of(relation.oid))
        assert sorted(log.to_pyarrow_table()["n"].to_pylist(), key=str) == sorted(held[name], key=str)
    stores.close()


def test_kills_lose_nothing(tmp_path: Path) -> None:
    print(f"MILLPOND_CRASH_SEED={SEED} MILLPOND_CRASH_KILLS={KILLS}")
    chance, acknowledged = random.Random(SEED), set[int]()
    for _ in range(max(5, KILLS // 10)):
        acknowledged.update(kill_writer(tmp_path, chance))
        check(tmp_path, acknowledged)
    assert acknowledged, "the writers did not get to write"

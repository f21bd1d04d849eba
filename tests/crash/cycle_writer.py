"""Feeds a stream whose cycles go to two tables, until it is killed: from outside, or by itself at a step of a commit.

It starts Spark, and then waits to be told before it opens the pond: one can be warm before another was killed.
"""

from __future__ import annotations

import itertools
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import millpond
from millpond.catalog import Catalog
from millpond.tables import TableStore
from tests.queries.support import query_of

CYCLE = 100
CREATE = """
CREATE TABLE {name}_rows (n bigint, cycle bigint, sums_before bigint, remembered bigint);
CREATE TABLE {name}_sums (cycle bigint, total bigint, rows_before bigint, total_before bigint);
CREATE CONTINUOUS QUERY {name} WITH (start = 'earliest') AS (
  WITH c AS (SELECT n, window_start / {cycle} AS cycle FROM CYCLE(s, {cycle}))
  INSERT INTO {name}_rows
    SELECT n, cycle, (SELECT count(*) FROM {name}_sums), lag_cycle(n, 40) OVER (PARTITION BY n % 7 ORDER BY n) FROM c;
  INSERT INTO {name}_sums
    SELECT min(cycle), sum(n), (SELECT count(*) FROM {name}_rows), (SELECT max(total) FROM {name}_sums) FROM c
);
"""
"""Each of the two tables is read by the cycle after for what goes to the other; and a number remembers that which came
40 numbers of its key before, two or three cycles ago."""

STEPS: dict[str, tuple[type[Any], str, int, bool]] = {
    "the rows of one table are staged": (TableStore, "stage", 2, False),
    "one table is logged": (TableStore, "commit", 2, False),
    "both tables are logged": (Catalog, "commit", 1, True),
    "both are visible": (Catalog, "commit", 1, False),
}
"""The steps of a cycle's commit: what is called, how often in a cycle, and whether it ends before the first call."""


def die_at(step: str, cycle: int) -> None:
    """Be killed at a step of the commit of so many cycles from now on."""
    owner, name, calls_per_cycle, before = STEPS[step]
    usual: Callable[..., Any] = getattr(owner, name)
    calls = itertools.count()

    def call(*arguments: Any, **named: Any) -> Any:
        is_query = threading.current_thread().name.startswith("millpond-query")
        fatal = is_query and next(calls) == cycle * calls_per_cycle
        if fatal and before:
            os.kill(os.getpid(), signal.SIGKILL)
        done = usual(*arguments, **named)
        if fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    setattr(owner, name, call)


def main(directory: Path, step: str) -> None:
    """Open the pond, create what is missing, and insert numbers for ever, not far ahead of the cycles."""
    with millpond.connect(master="local[2]", spark_driver_memory="1g"):
        print("warm", flush=True)
        if not sys.stdin.readline():
            return  # nobody is there any more
        with millpond.connect(directory, master="local[2]") as pond:
            if not pond.services.catalog.snapshot.relations:
                pond.execute("CREATE STREAM s (n bigint)")
                pond.execute(CREATE.format(name="killed", cycle=CYCLE))
            if step:
                die_at(step, 2)
            number, query = pond.execute("SELECT coalesce(max(n), 0) FROM s").fetchall()[0][0], query_of(pond, "killed")
            while True:
                pond.insert("s", [(number + step,) for step in range(1, 8)])
                number += 7
                print(f"ack {number}", flush=True)
                while query.lag > 2 * CYCLE:
                    time.sleep(0.005)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])

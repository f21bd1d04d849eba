"""Keeps views on a stream of events with a tick for every few rows, until killed, and reports what was acknowledged.
Every tenth event is late for the windows over them."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import millpond
from tests.crash.numbers import insert_numbers

START = datetime(2024, 2, 28, tzinfo=UTC)
CREATE = """
CREATE STREAM s (n bigint, at timestamptz) WITH (timestamp = at);
CREATE VIEW total AS SELECT count(*) AS n, sum(n) AS s, max(n) AS high FROM s;
CREATE VIEW last_fifty AS SELECT count(*) AS n, min(n) AS a, max(n) AS b FROM HOP(s, 10, 50);
CREATE VIEW by_digit AS SELECT n % 10 AS digit, count(*) AS n FROM s GROUP BY 1;
CREATE VIEW tumbled AS SELECT count(*) FROM TUMBLE(s, INTERVAL '10 s');
CREATE VIEW met AS SELECT max(n) FROM SESSION(s, INTERVAL '5 s');
"""


def event(number: int) -> tuple[int, datetime]:
    """One each ten seconds, but those that are late."""
    return number, START + timedelta(seconds=10 * number - (1000 if number % 10 == 0 else 0))


def main(directory: Path) -> None:
    """Open the pond, create what is missing, and insert events for ever."""
    with millpond.connect(directory, master="local[2]", view_chunk_rows=20, spark_driver_memory="1g") as pond:
        if not pond.services.catalog.snapshot.relations:
            pond.execute(CREATE)
        insert_numbers(pond, event)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

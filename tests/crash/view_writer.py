"""Keeps three views on a stream with a tick for every few rows, until killed, and reports what was acknowledged."""

from __future__ import annotations

import sys
from pathlib import Path

import millpond
from tests.crash.numbers import insert_numbers


def main(directory: Path) -> None:
    """Open the pond, create what is missing, and insert numbers for ever."""
    with millpond.connect(directory, master="local[2]", view_chunk_rows=20, spark_driver_memory="1g") as pond:
        if not pond.services.catalog.snapshot.relations:
            pond.execute("CREATE STREAM s (n bigint)")
            pond.execute("CREATE VIEW total AS SELECT count(*) AS n, sum(n) AS s, max(n) AS high FROM s")
            pond.execute("CREATE VIEW last_fifty AS SELECT count(*) AS n, min(n) AS a, max(n) AS b FROM HOP(s, 10, 50)")
            pond.execute("CREATE VIEW by_digit AS SELECT n % 10 AS digit, count(*) AS n FROM s GROUP BY 1")
        insert_numbers(pond)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

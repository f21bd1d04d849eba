"""Feeds a stream of events, every tenth of which is late for the windows over it, until killed."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import millpond

START = datetime(2024, 2, 28, tzinfo=UTC)
CREATE = """
CREATE STREAM s (n bigint, at timestamptz) WITH (timestamp = at);
CREATE VIEW tumbled AS SELECT count(*) FROM TUMBLE(s, INTERVAL '10 s');
CREATE VIEW met AS SELECT max(n) FROM SESSION(s, INTERVAL '5 s');
"""


def moment(number: int) -> datetime:
    """One each ten seconds, but those that are late."""
    return START + timedelta(seconds=10 * number - (1000 if number % 10 == 0 else 0))


def main(directory: Path) -> None:
    """Open the pond, create what is missing, and insert events for ever."""
    with millpond.connect(directory, master="local[2]", view_chunk_rows=20, spark_driver_memory="1g") as pond:
        if not pond.services.catalog.snapshot.relations:
            pond.execute(CREATE)
        number = pond.execute("SELECT coalesce(max(n), 0) FROM s").fetchall()[0][0]
        print("write", flush=True)
        while True:
            numbers = range(number + 1, number + 8)
            pond.insert("s", [(one, moment(one)) for one in numbers])
            number += 7
            print(f"ack {number}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

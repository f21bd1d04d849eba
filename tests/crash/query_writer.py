"""Feeds a stream from which continuous queries fill a table, a stream, and a table behind it, until killed."""

from __future__ import annotations

import sys
from pathlib import Path

import millpond
from tests.crash.numbers import insert_numbers

CREATE = """
CREATE STREAM s (n bigint);
CREATE STREAM even (n bigint);
CREATE TABLE copied (n bigint);
CREATE TABLE chained (n bigint);
CREATE CONTINUOUS QUERY into_table AS INSERT INTO copied SELECT n FROM s;
CREATE CONTINUOUS QUERY into_stream AS INSERT INTO even SELECT n FROM s WHERE n % 2 = 0;
CREATE CONTINUOUS QUERY behind AS INSERT INTO chained SELECT n FROM even;
"""


def main(directory: Path) -> None:
    """Open the pond, create what is missing, and insert numbers for ever."""
    with millpond.connect(directory, master="local[2]", query_chunk_rows=50, spark_driver_memory="1g") as pond:
        if not pond.services.catalog.snapshot.relations:
            pond.execute(CREATE)
        insert_numbers(pond)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Plain Spark SQL beside us: the same PySpark in a process of its own, which reads the stream's CSV file anew for each
query, with the schema given, and the tables from Parquet files."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from millpond.bench.peers.peer import PeerRun
from millpond.bench.peers.script import run_script

_SCRIPT = Path(__file__).with_name("spark_sql_job.py")


class SparkSql:
    """Spark, with relations that are files."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._tables: list[dict[str, str | None]] = []

    def add_csv(self, name: str, columns: str, path: Path) -> None:
        """A relation that reads a file without a header."""
        self._tables.append({"name": name, "format": "csv", "schema": columns, "path": str(path)})

    def add_parquet(self, name: str, path: Path) -> None:
        """A relation that reads a file which has its own schema."""
        self._tables.append({"name": name, "format": "parquet", "schema": None, "path": str(path)})

    def run(self, queries: Mapping[str, str], warm_up: Mapping[str, str]) -> PeerRun:
        """One query after the other, with their answers, after those that warm the JVM up."""
        job = {
            "directory": str(self._directory / "work"),
            "tables": self._tables,
            "warm_up": list(warm_up.values()),
            "queries": dict(queries),
        }
        return run_script("Spark", Path(sys.executable), _SCRIPT, job, self._directory / "log")

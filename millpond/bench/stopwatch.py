"""Time as the benchmarks take it: by the clock on the wall, and by what a process and its children had of the cores.

The second hardly changes when others keep the machine busy, so that it tells a fair ratio where the first cannot.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

_PROCESSES = Path("/proc")


@dataclass(frozen=True)
class Spent:
    """What something took; `core_seconds` is None where the system does not tell."""

    seconds: float
    core_seconds: float | None

    @classmethod
    def total(cls, parts: Collection[Spent]) -> Spent:
        """What one thing after the other took.

        >>> Spent.total([Spent(1.0, 2.0), Spent(3.0, None)])
        Spent(seconds=4.0, core_seconds=None)
        """
        cores = [part.core_seconds for part in parts if part.core_seconds is not None]
        return cls(sum(part.seconds for part in parts), sum(cores) if len(cores) == len(parts) else None)


class Stopwatch:
    """Runs from its creation. Spark's and Flink's JVM are children of the process that is watched."""

    def __init__(self, process: int | None = None) -> None:
        self._process = os.getpid() if process is None else process
        self._core_seconds = core_seconds(self._process)
        self._started = time.perf_counter()

    def spent(self) -> Spent:
        seconds = time.perf_counter() - self._started
        now = core_seconds(self._process)
        return Spent(seconds, None if now is None or self._core_seconds is None else now - self._core_seconds)


def core_seconds(process: int) -> float | None:
    """What a process and all below it have used of the cores so far, including children that ended."""
    if not _PROCESSES.is_dir():
        return None
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for path in _PROCESSES.glob("[0-9]*/stat"):
        try:
            # The name, in parentheses, may hold spaces; what is counted comes after it.
            fields = path.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue  # It ended meanwhile: its parent has its time by now.
        parents[int(path.parent.name)] = int(fields[1])
        ticks[int(path.parent.name)] = sum(map(int, fields[11:15]))
    return sum(count for one, count in ticks.items() if _is_below(one, process, parents)) / os.sysconf("SC_CLK_TCK")


def _is_below(process: int | None, ancestor: int, parents: dict[int, int]) -> bool:
    while process is not None and process != ancestor:
        process = parents.get(process)
    return process == ancestor

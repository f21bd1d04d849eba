"""What engines took for the same rows, as rates side by side."""

from __future__ import annotations

from collections.abc import Mapping

from millpond.bench.report import Measurement
from millpond.bench.stopwatch import Spent


def rates(
    metric: str, rows: int, spent: Mapping[str, Spent], target_of_flink: float | None, noun: str = "events"
) -> list[Measurement]:
    """Rows a second by the clock, and rows for a second of one core, which other work on the machine changes little."""
    by_clock = {name: rows / one.seconds for name, one in spent.items()}
    by_core = {name: rows / one.core_seconds for name, one in spent.items() if one.core_seconds}
    target = target_of_flink if "flink" in spent else None
    found = [_beside(metric, by_clock, f"{noun}/s", target)]
    return [*found, _beside(f"{metric}, by core", by_core, f"{noun}/core-s", None)] if by_core else found


def _beside(metric: str, rate: dict[str, float], unit: str, target: float | None) -> Measurement:
    peers = {name: value for name, value in rate.items() if name != "millpond"}
    return Measurement(metric, rate["millpond"], unit, peers, target, "flink" if target else None)

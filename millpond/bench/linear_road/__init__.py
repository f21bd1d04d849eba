"""Linear Road: tolls on expressways by how busy and how slow each mile is, told to each car as it drives on."""

from __future__ import annotations

from collections.abc import Sequence


def run(scale: float = 1.0, peers: Sequence[str] | None = None) -> None:
    """Measure, report and draw; there are no peers."""
    from millpond.bench.linear_road.bench import measure

    del peers
    measure(scale)

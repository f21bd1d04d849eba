"""What windows of a view cost: for `millpond_windows`."""

from __future__ import annotations

from dataclasses import dataclass

from millpond.stream_window import StreamWindow


@dataclass(frozen=True)
class WindowCosts:
    """A window of a view, for `millpond_windows`: what is kept in how many panes, and what evaluations take."""

    stream: str
    window: StreamWindow
    panes: int
    rows: int
    bytes: int
    position: int | None
    late_rows: int
    evaluations: int
    response_ms: float | None
    chunks: int
    mode: str

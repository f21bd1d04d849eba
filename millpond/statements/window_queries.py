"""Windows in a query that is not a view: it is evaluated over the newest complete window of what its streams hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from millpond.plan.trees import has_windows
from millpond.plan.window_once import Ranges, put_ranges, windows_in
from millpond.relation import Relation
from millpond.run.axis import new_axis
from millpond.run.frames import Reach, Shows, frames, reach_of
from millpond.sql.bind import BoundQuery
from millpond.stream_window import StreamWindow

if TYPE_CHECKING:
    from millpond.statements.execution import Execution


def over_current_windows(execution: Execution, bound: BoundQuery) -> BoundQuery:
    """The query over rows instead of windows."""
    if not has_windows(bound.tree):
        return bound
    found = windows_in(bound.tree)
    windows = {alias: window for alias, (_, window) in found.items()}
    return put_ranges(bound, _current(execution, found, windows) if windows else {})


def _current(
    execution: Execution, found: dict[str, tuple[Relation, StreamWindow]], windows: dict[str, StreamWindow]
) -> Ranges | None:
    """Where the newest complete windows are; None if there are none."""
    reaches = {alias: _reach(execution, stream, window) for alias, (stream, window) in found.items()}
    now = max(execution.services.streams.get(stream).now_us() for stream, _ in found.values())
    shown = frames(windows, reaches, now, Shows(), None)
    return {alias: windows[alias].bounds(number) for alias, number in shown[-1].items()} if shown else None


def _reach(execution: Execution, relation: Relation, window: StreamWindow) -> Reach | None:
    """How far a stream is, by the tuples that it holds."""
    stream = execution.services.streams.get(relation)
    stats = stream.stats()
    axis = new_axis(stream, relation, window.column, int(stats.first_tid))
    axis.advance(int(stats.end_tid))
    return reach_of(relation.oid, axis, int(stats.first_tid))

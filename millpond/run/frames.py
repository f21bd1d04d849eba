"""Which windows a view shows: the newest complete ones, as far as they are retained, and the one that is open.

A query over several windows is evaluated at the ends of those that slide most often, each time with the newest complete
window of each stream. Windows of rows of different streams have no common axis: they go together by their numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from millpond.relation import TID
from millpond.run.axis import Axis
from millpond.stream_window import AsOfNow, StreamWindow

Frame = Mapping[str, int]
"""One evaluation of a query: the number of the window of each of its groupings."""


@dataclass(frozen=True)
class Shows:
    """The windows that a view shows: the last `retain` complete ones and, if `early`, the one that is open."""

    retain: int = 1
    early: bool = False

    @classmethod
    def of(cls, options: Mapping[str, str], windows: Mapping[str, StreamWindow]) -> Shows:
        """What a view's options say. An age is as many windows as begin in it."""
        retain = int(options.get("retain", 1))
        slides = [window.slide for window in windows.values() if not isinstance(window, AsOfNow)]
        if "max_age" in options and slides:
            retain = -(-int(options["max_age"]) * 1000 // min(slides))
        return cls(retain, options.get("early") == "True")


@dataclass(frozen=True)
class Reach:
    """How far the stream of a grouping is: complete up to `position`, begun up to `newest`, with rows from `low` on."""

    stream: int
    position: int
    newest: int
    low: int


def reach_of(stream: int, axis: Axis, start: int) -> Reach | None:
    """How far one stream is; a view sees rows from the tuple `start` on."""
    position, newest = axis.position(), axis.newest()
    if position is None or newest is None:
        return None
    low = start if axis.column == TID.name else axis.span.low if axis.span is not None else position
    return Reach(stream, position, newest, low)


def frames(
    windows: Mapping[str, StreamWindow], reaches: Mapping[str, Reach | None], now: int, shows: Shows, up_to: int | None
) -> list[Frame]:
    """The evaluations that a view shows, oldest first, or did when the window `up_to` was the newest. Windows that move
    with the clock are the same in all of them."""
    moving = {name: window for name, window in windows.items() if isinstance(window, AsOfNow)}
    current = {name: window.as_of(now) for name, window in moving.items()}
    others = {name: window for name, window in windows.items() if name not in moving}
    if not others:
        return [current]
    reached = {name: reaches[name] for name in others}
    return [{**current, **frame} for frame in _sliding(others, reached, shows, up_to)]


def _sliding(
    windows: Mapping[str, StreamWindow], reaches: Mapping[str, Reach | None], shows: Shows, up_to: int | None
) -> list[Frame]:
    """The frames of windows that move with their streams; none before each of these has rows."""
    known = {name: reach for name, reach in reaches.items() if reach is not None}
    if len(known) < len(windows):
        return []
    if all(window.kind == "landmark" for window in windows.values()):
        return [{name: window.newest_open(known[name].newest) for name, window in windows.items()}]
    by_number = go_by_number([reach.stream for reach in known.values()], windows)
    driver = driver_of(windows)
    if by_number:
        newest = min(window.newest_complete(known[name].position) for name, window in windows.items())
    else:
        newest = windows[driver].newest_complete(min(reach.position for reach in known.values()))
    first = max(_first(windows[name], known[name]) for name in (windows if by_number else [driver]))
    early = shows.early and up_to is None and _has_begun(windows[driver], known[driver], newest + 1)
    newest = newest if up_to is None else min(newest, up_to)
    numbers = range(max(first, newest - shows.retain + 1), newest + early + 1)
    return [_frame(windows, driver, number, by_number=by_number) for number in numbers]


def go_by_number(streams: Iterable[int], windows: Mapping[str, StreamWindow]) -> bool:
    """Whether windows go together by their numbers, because their streams have no common axis."""
    return len(set(streams)) > 1 and any(one.by_rows for one in windows.values())


def driver_of(windows: Mapping[str, StreamWindow]) -> str:
    """The grouping whose windows slide most often."""
    return min(windows, key=lambda name: windows[name].slide)


def _first(window: StreamWindow, reach: Reach) -> int:
    """The first window that has rows; of rows, the first that has all of them."""
    if window.by_rows:
        return -(-reach.low // window.slide)
    return (reach.low - window.size) // window.slide + 1


def _has_begun(window: StreamWindow, reach: Reach, number: int) -> bool:
    return window.bounds(number)[0] <= reach.newest


def _frame(windows: Mapping[str, StreamWindow], driver: str, number: int, *, by_number: bool) -> Frame:
    end = windows[driver].bounds(number)[1]
    return {
        name: number if by_number or name == driver else window.newest_complete(end) for name, window in windows.items()
    }

"""A small plot in text: one bar for each number, all on one scale."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

_WIDTH = 50
_MARKS = "█▓▒░"


@dataclass(frozen=True)
class Bar:
    """A number of a series, at a place on the plot's axis."""

    place: str
    series: str
    value: float


def plot(title: str, unit: str, bars: Iterable[Bar]) -> str:
    """Bars under each other, with a mark for each series; places are written once.

    >>> print(plot("costs", "ms", [Bar("2", "new", 10.0), Bar("2", "old", 50.0)]))
    costs, ms
    2  new  ██████████ 10
       old  ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓ 50
    """
    drawn = list(bars)
    series = list(dict.fromkeys(bar.series for bar in drawn))
    highest = max((bar.value for bar in drawn), default=0.0) or 1.0
    place_width = max((len(bar.place) for bar in drawn), default=0)
    series_width = max((len(name) for name in series), default=0)
    lines, last = [f"{title}, {unit}"], None
    for bar in drawn:
        line = _MARKS[series.index(bar.series) % len(_MARKS)] * max(1, round(_WIDTH * bar.value / highest))
        place = "" if bar.place == last else bar.place
        lines.append(f"{place:>{place_width}}  {bar.series:<{series_width}}  {line} {bar.value:,.0f}")
        last = bar.place
    return "\n".join(lines)

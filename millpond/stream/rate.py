"""How many rows a second a stream receives, cheap enough to count on every append."""

from __future__ import annotations

from collections import deque

_SECOND_US = 1_000_000
_WINDOW_SECONDS = 5


class RateMeter:
    """Rows of the last few whole seconds.

    >>> meter = RateMeter()
    >>> for second in range(10): meter.add(100, second * 1_000_000)
    >>> meter.rows_per_second(10_000_000), meter.rows_per_second(60_000_000)
    (100.0, 0.0)
    """

    def __init__(self) -> None:
        self._seconds: deque[tuple[int, int]] = deque(maxlen=_WINDOW_SECONDS + 1)

    def add(self, rows: int, now_us: int) -> None:
        second = now_us // _SECOND_US
        if self._seconds and self._seconds[-1][0] == second:
            rows += self._seconds.pop()[1]
        self._seconds.append((second, rows))

    def rows_per_second(self, now_us: int) -> float:
        """The mean of the last seconds, without the current one, which is not over yet."""
        now = now_us // _SECOND_US
        return sum(rows for second, rows in self._seconds if now - _WINDOW_SECONDS <= second < now) / _WINDOW_SECONDS

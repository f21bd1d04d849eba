"""The setting `stream_limit`: what ends the scan of a stream besides a pause."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

HINT = "Give a number of rows, a time or a watermark: '1000 rows', '30s', 'watermark 2026-01-31 12:00'; or several."

_SECONDS = {"ms": 0.001, "s": 1, "min": 60, "h": 3600, "d": 86_400}


@dataclass(frozen=True)
class StreamLimit:
    """The most tuples to read, the longest time to read for, and the event time at which to stop; None is no limit."""

    rows: int | None = None
    lasting_us: int | None = None
    watermark: datetime | None = None

    @classmethod
    def of(cls, text: str) -> StreamLimit:
        """The limit that a text says.

        >>> StreamLimit.of("1000 rows, 30s")
        StreamLimit(rows=1000, lasting_us=30000000, watermark=None)
        >>> StreamLimit.of("watermark 2026-01-31 12:00").watermark
        datetime.datetime(2026, 1, 31, 12, 0, tzinfo=datetime.timezone.utc)
        """
        made = cls()
        for part in filter(None, (part.strip() for part in text.split(","))):
            made = made._with(part)
        return made

    def _with(self, part: str) -> StreamLimit:
        if rows := re.fullmatch(r"(\d+)\s*rows?", part, re.IGNORECASE):
            return StreamLimit(int(rows[1]), self.lasting_us, self.watermark)
        if (time := re.fullmatch(r"(\d+)\s*([a-z]+)", part)) and time[2] in _SECONDS:
            return StreamLimit(self.rows, round(int(time[1]) * _SECONDS[time[2]] * 1e6), self.watermark)
        if moment := re.fullmatch(r"watermark\s+(.+)", part, re.IGNORECASE):
            at = datetime.fromisoformat(moment[1])
            return StreamLimit(self.rows, self.lasting_us, at if at.tzinfo else at.replace(tzinfo=UTC))
        raise ValueError(part)

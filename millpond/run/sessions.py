"""The sessions of a stream: which rows of each key follow each other within the gap, and which are forgotten.

Only places and keys of rows are looked at, in the order of their arrival; what sessions there are, and which rows come
too late for them, follows from that order alone, however it is cut into chunks.

A session is forgotten when nobody is to see it any more. From then on the panes up to its last row are of the past: a
row of its key that arrives there is late. So no pane has rows of a session together with rows that are in none.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from millpond.run.session_rows import Arrivals, GrowingSessions, Key, Mask, Places
from millpond.stream_window import FOREVER
from millpond.values.arrays import Column

__all__ = ["Keeps", "Key", "Session", "Sessions", "key_columns"]


class Session(NamedTuple):
    """Where the first and the last of its rows are, and how many there are. Rows only come: no two sets of rows that a
    key's session ever was agree in all three."""

    first: int
    last: int
    rows: int


class KeySessions(NamedTuple):
    """Sessions of one key, oldest first; panes before `line` are of the past."""

    sessions: tuple[Session, ...] = ()
    line: int = -FOREVER


NO_SESSIONS = KeySessions()

_KEY_BYTES, _SESSION_BYTES = 300, 110
"""What a key with its values and a session take in memory."""


@dataclass(frozen=True)
class Keeps:
    """Which complete sessions of each key a view shows: the last `retain`, and those that ended within `max_age`."""

    retain: int | None = 1
    max_age: int | None = None

    @classmethod
    def of(cls, options: Mapping[str, str]) -> Keeps:
        """What a view's options say."""
        max_age = int(options["max_age"]) * 1000 if "max_age" in options else None
        retain = int(options["retain"]) if "retain" in options else None
        return cls(1 if max_age is None and retain is None else retain, max_age)

    def outlived(self, ends: Sequence[int], position: int) -> int:
        """How many of the sessions that end there, oldest first, are not shown when a stream is complete up to a
        position.

        >>> Keeps(retain=2).outlived([10, 20, 30, 40], 35), Keeps(None, max_age=10).outlived([10, 20, 30, 40], 35)
        (1, 2)
        """
        by_number = 0 if self.retain is None else bisect_right(ends, position) - self.retain
        by_age = 0 if self.max_age is None else bisect_right(ends, position - self.max_age)
        return max(0, by_number, by_age)


@dataclass
class Sessions:
    """Sessions of each key, of all rows before the tuple `end`. `delay` is how far behind the highest place the stream
    is complete."""

    gap: int
    delay: int
    keeps: Keeps
    end: int
    high: int = -FOREVER
    by_key: dict[Key, KeySessions] = field(default_factory=dict)

    def copy(self) -> Sessions:
        """One that goes on by itself."""
        return replace(self, by_key=dict(self.by_key))

    @property
    def complete_to(self) -> int:
        """Up to where the stream is complete, by what has arrived."""
        return self.high - self.delay

    @property
    def count(self) -> int:
        return sum(len(one.sessions) for one in self.by_key.values())

    @property
    def bytes(self) -> int:
        """About what it takes in memory."""
        return _KEY_BYTES * len(self.by_key) + _SESSION_BYTES * self.count

    @property
    def first_pane(self) -> int:
        """The first pane that some session has."""
        firsts = (one.sessions[0].first for one in self.by_key.values() if one.sessions)
        return min(firsts, default=FOREVER) // self.gap

    # -- taking rows -------------------------------------------------------------------------------------------------

    def take(self, arrivals: Arrivals, end: int) -> list[tuple[int, int]]:
        """Put the rows up to the tuple `end` into their sessions; which of them, by number, come too late for any, and
        up to where the stream was complete then.

        Only a row behind what is complete can be late or meet a session that may have been forgotten, so that most
        others are taken together.
        """
        places = arrivals.places
        complete = np.maximum.accumulate(np.r_[self.high, places])[:-1] - self.delay
        behind = places < complete
        late = behind & self._is_past(arrivals, behind)
        before, between, after = arrivals.around(behind & ~late)
        self._take_runs(arrivals, before & ~late)
        if between.any():
            late[self._take_in_turn(arrivals, between & ~late, complete)] = True
            self._take_runs(arrivals, after & ~late)
        self.high = max(self.high, int(places.max(initial=-FOREVER)))
        self.end = end
        return [(number, int(complete[number])) for number in np.flatnonzero(late).tolist()]

    def _is_past(self, arrivals: Arrivals, behind: Mask) -> Mask:
        """Which of the rows that are behind are in panes of the past."""
        if not behind.any():
            return behind
        lines = np.array([self.by_key.get(key, NO_SESSIONS).line for key in arrivals.keys], np.int64)
        past: Mask = arrivals.places // self.gap < lines[arrivals.codes]
        return past

    def _take_runs(self, arrivals: Arrivals, chosen: Mask) -> None:
        """Put chosen rows in that are not late."""
        for key, first, last, rows in arrivals.runs(chosen, self.gap):
            sessions, line = self.by_key.get(key, NO_SESSIONS)
            if not sessions or first - sessions[-1].last >= self.gap:
                self.by_key[key] = KeySessions((*sessions, Session(first, last, rows)), line)
            else:
                growing = self._growing(key)
                growing.put(first, last, rows)
                self._keep(key, growing)

    def _take_in_turn(self, arrivals: Arrivals, chosen: Mask, complete: Places) -> Places:
        """Put chosen rows in, those of each key one after the other; the numbers of those that come too late."""
        numbers, keys = arrivals.by_key(chosen)
        places, complete_to = arrivals.places[numbers].tolist(), complete[numbers].tolist()
        late: list[int] = []
        for key, start, end in keys:
            growing = self._growing(key)
            late += [start + found for found in growing.take(places[start:end], complete_to[start:end])]
            self._keep(key, growing)
        return numbers[late]

    def _growing(self, key: Key) -> GrowingSessions:
        sessions, line = self.by_key.get(key, NO_SESSIONS)
        firsts, lasts, counts = ([one[part] for one in sessions] for part in range(3))
        return GrowingSessions(self.gap, self.keeps.outlived, firsts, lasts, counts, line)

    def _keep(self, key: Key, growing: GrowingSessions) -> None:
        sessions = map(Session, growing.firsts, growing.lasts, growing.counts)
        self.by_key[key] = KeySessions(tuple(sessions), growing.line)

    # -- forgetting --------------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Forget what nobody is to see any more."""
        for key in list(self.by_key):
            self._settle(key, self.complete_to)
            own = self.by_key[key]
            # Without its line, a row before it would be as old.
            if not own.sessions and self.keeps.outlived([(own.line + 1) * self.gap], self.complete_to):
                del self.by_key[key]

    def _settle(self, key: Key, complete_to: int) -> None:
        if self.keeps.outlived([one.last + self.gap for one in self.by_key[key].sessions], complete_to):
            growing = self._growing(key)
            growing.settle(complete_to)
            self._keep(key, growing)

    # -- showing -----------------------------------------------------------------------------------------------------

    def shown(self, position: int, *, early: bool) -> Iterator[tuple[Key, Session]]:
        """The sessions that a view shows when the stream is complete up to a position; with `early`, open ones too."""
        for key, own in self.by_key.items():
            ends = [one.last + self.gap for one in own.sessions]
            first = self.keeps.outlived(ends, position)
            for session, end in zip(own.sessions[first:], ends[first:], strict=True):
                if early or end <= position:
                    yield key, session

    # -- on disk -----------------------------------------------------------------------------------------------------

    def to_table(self, kinds: Sequence[pa.DataType]) -> pa.Table:
        """All of it but `end` and `high`, the keys as columns of these types."""
        known = [(key, own.line, one) for key, own in self.by_key.items() for one in own.sessions or (None,)]
        columns = {
            **key_columns([key for key, _, _ in known], kinds),
            "line": pa.array([line for _, line, _ in known], pa.int64()),
        }
        for name in ("first", "last", "rows"):
            values = [None if one is None else getattr(one, name) for _, _, one in known]
            columns[name] = pa.array(values, pa.int64())
        return pa.table(columns)

    def load(self, table: pa.Table) -> None:
        """Take up what `to_table` gave."""
        rows: Iterator[tuple[Any, ...]] = zip(*(column.to_pylist() for column in table.columns), strict=True)
        for *values, line, first, last, count in rows:
            own = self.by_key.get(tuple(values), KeySessions(line=line))
            found = () if first is None else (Session(first, last, count),)
            self.by_key[tuple(values)] = KeySessions((*own.sessions, *found), line)


def key_columns(keys: Sequence[Key], kinds: Sequence[pa.DataType]) -> dict[str, Column]:
    """Keys as columns."""
    return {f"key{place}": pa.array([key[place] for key in keys], kind) for place, kind in enumerate(kinds)}

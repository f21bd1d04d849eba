"""The sessions of a stream: which rows of each key follow each other within the gap, and which are forgotten.

Only places and keys of rows are looked at, in the order of their arrival; what sessions there are, and which rows come
too late for them, follows from that order alone, however it is cut into chunks.

A session is forgotten when nobody is to see it any more. From then on the panes up to its last row are of the past: a
row of its key that arrives there is late. So no pane has rows of a session together with rows that are in none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from millpond.stream_window import FOREVER
from millpond.values.arrays import Column, pc

Key = tuple[Any, ...]
"""Values of the columns that sessions are partitioned by."""

Places = npt.NDArray[np.int64]

_FEW_ROWS = 8
"""So many rows are taken one by one sooner than sorted."""


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
        complete = sum(end <= position for end in ends)
        by_number = 0 if self.retain is None else complete - self.retain
        by_age = 0 if self.max_age is None else sum(end <= position - self.max_age for end in ends)
        return max(0, by_number, by_age)


@dataclass(frozen=True)
class Arrivals:
    """Rows of a stream in their order: where they are, and which of some keys they have."""

    places: Places
    codes: npt.NDArray[np.int64]
    keys: Sequence[Key]


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
    def first_pane(self) -> int:
        """The first pane that some session has."""
        firsts = (one.sessions[0].first for one in self.by_key.values() if one.sessions)
        return min(firsts, default=FOREVER) // self.gap

    # -- taking rows -------------------------------------------------------------------------------------------------

    def take(self, arrivals: Arrivals, end: int) -> list[tuple[int, int]]:
        """Put the rows up to the tuple `end` into their sessions; which of them, by number, come too late for any, and
        up to where the stream was complete then.

        Only a row behind what is complete can be late or meet a session that may have been forgotten, so that all
        others are taken together.
        """
        places = arrivals.places
        complete = np.maximum.accumulate(np.r_[self.high, places])[:-1] - self.delay
        late: list[tuple[int, int]] = []
        taken = 0
        for at in np.flatnonzero(places < complete).tolist():
            self._take_in_time(arrivals, taken, at)
            if self._is_late(arrivals.keys[arrivals.codes[at]], int(places[at]), int(complete[at])):
                late.append((at, int(complete[at])))
            taken = at + 1
        self._take_in_time(arrivals, taken, len(places))
        self.high = max(self.high, int(places.max(initial=-FOREVER)))
        self.end = end
        return late

    def _take_in_time(self, arrivals: Arrivals, first: int, end: int) -> None:
        places, codes = arrivals.places[first:end], arrivals.codes[first:end]
        for code, lowest, highest, rows in _runs(places, codes, self.gap):
            self._put(arrivals.keys[code], Session(lowest, highest, rows))

    def _is_late(self, key: Key, place: int, complete_to: int) -> bool:
        """Whether no session that is to be seen takes a row, which arrived when the stream was complete up to there."""
        self._settle(key, complete_to)
        if place // self.gap >= self.by_key.get(key, NO_SESSIONS).line:
            self._put(key, Session(place, place, 1))
            self._settle(key, complete_to)
        return place // self.gap < self.by_key[key].line

    def _put(self, key: Key, new: Session) -> None:
        """Add rows that are of one session: it joins those that it touches together."""
        sessions, line = self.by_key.get(key, NO_SESSIONS)
        if not sessions or new.first - sessions[-1].last >= self.gap:
            self.by_key[key] = KeySessions((*sessions, new), line)
            return
        at = len(sessions)
        while at and sessions[at - 1].last > new.first - self.gap:
            at -= 1
        until = at
        while until < len(sessions) and sessions[until].first < new.last + self.gap:
            until += 1
        met = (*sessions[at:until], new)
        first, last = min(one.first for one in met), max(one.last for one in met)
        joined = Session(first, last, sum(one.rows for one in met))
        self.by_key[key] = KeySessions((*sessions[:at], joined, *sessions[until:]), line)

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
        own = self.by_key.get(key, NO_SESSIONS)
        gone = self.keeps.outlived([one.last + self.gap for one in own.sessions], complete_to)
        if gone:
            line = own.sessions[gone - 1].last // self.gap + 1
            self.by_key[key] = KeySessions(own.sessions[gone:], max(own.line, line))

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


def arrivals_of(places: Column, keys: Sequence[Column]) -> tuple[Arrivals, npt.NDArray[np.int64]]:
    """Rows that have a place, and their numbers among all of them."""
    known = pc.is_valid(places).to_numpy().nonzero()[0]
    codes = np.zeros(len(known), np.int64)
    own = [column.take(pa.array(known)) for column in keys]
    for column in own:
        encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
        together = codes * len(encoded.dictionary) + encoded.indices.to_numpy()
        codes = np.unique(together, return_inverse=True)[1].astype(np.int64)
    examples = pa.array(np.unique(codes, return_index=True)[1].astype(np.int64))
    values = [column.take(examples).to_pylist() for column in own]
    return Arrivals(places.drop_null().to_numpy(), codes, list(zip(*values, strict=True)) or [()]), known


def _runs(places: Places, codes: npt.NDArray[np.int64], gap: int) -> Iterator[tuple[int, int, int, int]]:
    """Rows of a key that follow each other within the gap: the key's code, the first and last place, and how many."""
    if len(places) <= _FEW_ROWS:
        for code, place in zip(codes.tolist(), places.tolist(), strict=True):
            yield code, place, place, 1
        return
    order = np.lexsort((places, codes))
    places, codes = places[order], codes[order]
    begins = np.r_[True, (codes[1:] != codes[:-1]) | (np.diff(places) >= gap)]
    starts = np.flatnonzero(begins)
    ends = np.r_[starts[1:], len(places)]
    found = (codes[starts], places[starts], places[ends - 1], ends - starts)
    yield from zip(*(column.tolist() for column in found), strict=True)

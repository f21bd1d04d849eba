"""One subscriber of a feed: pulls versions at its own speed, each in order as long as they are kept.

It remembers the last version that it took. If the one after that is gone, it gets one difference from what it has to
the newest version instead, after a row that says so. So one that does not read costs a reference, and nobody time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from millpond import interrupt
from millpond.errors import MillpondError, SqlState
from millpond.run.difference import all_of, difference
from millpond.run.feed import Feed
from millpond.run.history import Version, mark, stamped


@dataclass(frozen=True)
class Wishes:
    """What a subscriber asked for: a version at most `every_s` seconds, going on after a version that it has, the rows
    as they are first, and marks of its progress."""

    every_s: float | None = None
    as_of: int | None = None
    snapshot: bool = True
    progress: bool = False


@dataclass(frozen=True)
class Pace:
    """How often versions come without EVERY, and marks of progress while nothing changes."""

    interval_s: float
    progress_s: float


RIGHTS_CHECK_S = 1.0
"""How often one who waits is asked whether it still may read."""


class Subscriber:
    """Use it from one thread at a time; `close` may be called from any. `who` is shown to those who watch the pond."""

    def __init__(
        self, feed: Feed, wishes: Wishes, pace: Pace, who: tuple[int, str], authorize: Callable[[], None]
    ) -> None:
        self.feed, self.wishes, self.who = feed, wishes, who
        self.last: Version | None = None
        self._begun: Version | None = None
        self.interval_s = pace.interval_s if wishes.every_s is None else wishes.every_s
        self.skipped = 0
        self.seen_number = 0
        self._authorize = authorize
        self._progress_s = pace.progress_s if wishes.every_s is None else wishes.every_s
        self._gave_at = 0.0
        self._ended: MillpondError | None = None

    @property
    def lag(self) -> int:
        """Versions that are there and that it has yet to take."""
        newest = self.feed.history.newest
        return 0 if newest is None or self.last is None else newest.ordinal - self.last.ordinal

    def start(self) -> None:
        """Take a place: behind the version that it has, or where it will get the first rows."""
        if self.wishes.as_of is None:
            self._begun = self.feed.current()
            return
        self.last = self.feed.at(self.wishes.as_of)
        self.seen_number = self.wishes.as_of
        self.feed.took()

    def close(self) -> None:
        """Leave; whoever waits here is told."""
        self.end(MillpondError(SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, "the subscription is closed"))

    def end(self, error: MillpondError) -> None:
        """Leave, and give an error to whoever reads."""
        if self._ended is None:
            self._ended = error
            self.feed.leave(self)

    # -- taking --------------------------------------------------------------------------------------------------

    def pieces(self) -> Iterator[pa.Table]:
        """The rows of one version after the other, without end."""
        try:
            while True:
                piece = self.next(None)
                assert piece is not None, "without a limit it waits"
                yield piece
        finally:
            self.close()

    def next(self, timeout_s: float | None) -> pa.Table | None:
        """The next rows, as soon as there are any; None if none came in time."""
        deadline = float("inf") if timeout_s is None else time.monotonic() + timeout_s
        while (piece := self.take()) is None:
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                return None
            with self.feed.changed:
                if not self._is_due():
                    interrupt.wait(self.feed.changed, min(left_s, self.patience_s()))
        return piece

    def patience_s(self) -> float:
        """How long to wait for news before `take` is worth another try without any."""
        moments = [self._due_at(), self._gave_at + self._progress_s]
        ahead = [moment - time.monotonic() for moment in moments]
        return min([RIGHTS_CHECK_S, *(seconds for seconds in ahead if seconds > 0)])

    def take(self) -> pa.Table | None:
        """The next rows, if there are any now."""
        self._check()
        with self.feed.changed:
            following = self._following()
            heartbeat = None if following else self._heartbeat()
        if following:
            piece = self._given(following)
        elif heartbeat is not None and self.last is not None:
            piece = mark(heartbeat, "progress", self.last.changes)
            self.seen_number = heartbeat
        else:
            return None
        self._gave_at = time.monotonic()
        self.feed.took()
        return piece if piece.num_rows else None

    def _check(self) -> None:
        self.feed.check()
        if self._ended is not None:
            raise self._ended
        self._authorize()

    # -- which version comes next --------------------------------------------------------------------------------

    def _following(self) -> list[Version]:
        """The versions to give next: one after the other, or all that came in the time that it asked to wait."""
        history = self.feed.history
        if self.last is None:
            # What adds up to no answer begins where the subscriber came, whenever it reads.
            begun = self._begun
            return [begun] if begun is not None and begun.answer is None else history.newest_only()
        if time.monotonic() < self._due_at():
            return []
        following = history.after(self.last.ordinal)
        if self.last.answer is None:
            return following if self.wishes.every_s is not None else following[:1]
        lost = bool(following) and following[0].ordinal > self.last.ordinal + 1
        return following[-1:] if lost or self.wishes.every_s is not None else following[:1]

    def _due_at(self) -> float:
        return 0.0 if self.wishes.every_s is None else self._gave_at + self.wishes.every_s

    def _heartbeat(self) -> int | None:
        quiet = time.monotonic() - self._gave_at >= self._progress_s
        return self.feed.progress(self.last) if self.wishes.progress and quiet and self.last is not None else None

    def _is_due(self) -> bool:
        """Whether `take` would give something, or raise."""
        return self._ended is not None or self.feed.error is not None or bool(self._following())

    # -- what is given of it -------------------------------------------------------------------------------------

    def _given(self, versions: list[Version]) -> pa.Table:
        last, newest = self.last, versions[-1]
        self.last = newest
        pieces = self._first(newest) if last is None else self._next(last, versions)
        if self.wishes.progress:
            pieces.append(mark(newest.number, "progress", newest.changes))
        self.seen_number = newest.number
        return pa.concat_tables(pieces)

    def _first(self, version: Version) -> list[pa.Table]:
        if version.answer is None or not self.wishes.snapshot:
            return [version.changes.slice(0, 0)]
        return [stamped(version.number, all_of(version.answer, "snapshot"))]

    def _next(self, last: Version, versions: list[Version]) -> list[pa.Table]:
        """How the versions came of the last one. What lies between was asked to be left out, or is gone."""
        left_out = versions[0].ordinal - last.ordinal - 1
        if not left_out:
            return [version.changes for version in versions]
        told = []
        if self.wishes.every_s is None or last.answer is None:
            self.skipped += left_out
            told.append(mark(last.number, "skipped", last.changes))
        if last.answer is None:
            return [*told, *(version.changes for version in versions)]
        newest = versions[-1]
        assert newest.answer is not None, "a state stays one"
        changes = difference(last.answer, newest.answer, self.feed.source.key)
        return [*told, stamped(newest.number, changes)]

"""A feed: computes the versions of one view or query, once for all its subscribers, as long as somebody wants them.

One thread looks whether something changed when it is told that something may have (`Source.listen`), not more often
than the most impatient subscriber asks for, and only while one has taken all there is: versions that nobody would get
are not made. Subscribers pull (`subscriber.py`), so a stuck one holds nobody up. When the last of them has left, the
versions stay for a while, in case it comes back.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from millpond import interrupt
from millpond.bell import Bell
from millpond.errors import InternalError, MillpondError, SqlState
from millpond.run.difference import Key, all_of, difference
from millpond.run.history import History, Version, VersionClock, plain, stamped

logger = logging.getLogger(__name__)


class Wake(Protocol):
    """Tells a feed that something may have changed; or which rows came, that are a version by themselves."""

    def __call__(self, rows: pa.Table | None = None) -> None: ...


class Source(Protocol):
    """What a feed is about. `is_state` says that `look` gives all rows each time, and not only those that are new;
    `is_behind`, that the last look was not yet at the newest of several versions that are to be told one by one."""

    key: Key | None
    is_state: bool
    is_behind: bool

    def look(self) -> pa.Table | None:
        """The rows as they are now, None if nothing can have changed since the last time."""

    def verify(self) -> None:
        """Raise if what it reads is gone; cheap, since it is asked often."""

    def listen(self, wake: Wake) -> Callable[[], None]:
        """Have `wake` called whenever something may have changed, or rows came, until what is given back is called."""

    def interrupt(self) -> None:
        """Cancel a `look` that runs in another thread."""

    def close(self) -> None:
        """Let go of what it keeps."""


@dataclass(frozen=True)
class Limits:
    """How many versions, and how many bytes of them, are kept, and for how long once nobody is subscribed."""

    versions_max: int
    bytes_max: int
    retention_s: float


class Reader(Protocol):
    """A subscriber as its feed sees it: the last version that it took, and how often it wants a new one."""

    last: Version | None
    interval_s: float


class Feed:
    """`changed` guards everything, and is notified when there is a version more or the feed has ended; `news` rings
    then, for those who do not wait in a thread."""

    def __init__(
        self, source: Source, shown: str, clock: VersionClock, limits: Limits, retire: Callable[[Feed], bool]
    ) -> None:
        self.source, self.shown, self.limits = source, shown, limits
        self.changed = threading.Condition()
        self.history = History(limits.versions_max, limits.bytes_max)
        self.readers: list[Reader] = []
        self.error: MillpondError | None = None
        self.news = Bell()
        self._clock, self._retire = clock, retire
        self._asked = self._served = 0
        self._arrived = self._looking = False
        self._looked_at = 0.0
        self._work = threading.Event()
        self._stop_listening = source.listen(self._note_arrival)
        self._thread = threading.Thread(target=self._run, name="millpond-feed", daemon=True)
        self._thread.start()

    # -- for subscribers -----------------------------------------------------------------------------------------

    def join(self, reader: Reader) -> None:
        with self.changed:
            self.readers.append(reader)
        self._work.set()

    def leave(self, reader: Reader) -> None:
        with self.changed:
            self.readers = [one for one in self.readers if one is not reader]
            self.changed.notify_all()
        self.news.ring()
        self._work.set()

    def took(self) -> None:
        """A subscriber took a version, and may be the one who wants the next."""
        self._work.set()

    def current(self) -> Version:
        """A version that has everything that was there when this was called."""
        with self.changed:
            self._asked += 1
            wanted = self._asked
            self._work.set()
            while self._served < wanted and self.error is None:
                interrupt.wait(self.changed)
            self.check()
            assert self.history.newest is not None, "a look was served"
            return self.history.newest

    def at(self, number: int) -> Version:
        """The version that a number means, if it is still there."""
        with self.changed:
            found = self.history.at(number) if number <= self._clock.last else None
        if found is None:
            raise no_such_version(number, self.shown)
        return found

    def check(self) -> None:
        """Raise what ended the feed."""
        if self.error is not None:
            raise again(self.error) from self.error

    def progress(self, last: Version) -> int | None:
        """A version at which nothing has changed since the last one, None if that is not known yet."""
        idle = not (self._arrived or self._looking) and self.error is None
        return self._clock.next() if idle and self.history.newest is last else None

    # -- the end -------------------------------------------------------------------------------------------------

    def end(self, error: MillpondError) -> None:
        """Give its subscribers an error; the thread ends by itself."""
        with self.changed:
            if self.error is None:
                self.error = error
            self.changed.notify_all()
        self.news.ring()
        self._work.set()

    def join_thread(self) -> None:
        """Return when the thread has ended, which it does soon once the feed has."""
        while self._thread.is_alive():
            self.source.interrupt()
            self._thread.join(interrupt.LOOK_INTERVAL_S)

    # -- the thread ----------------------------------------------------------------------------------------------

    def _note_arrival(self, rows: pa.Table | None = None) -> None:
        if rows is None:
            self._arrived = True
            self._work.set()
        else:
            self._add(rows)

    def _add(self, rows: pa.Table) -> None:
        """Rows that came by themselves are a version, whether somebody waits for them or not; those before the first
        look are nobody's."""
        try:
            changes = all_of(self._bounded(plain(rows)), "insert")
        except MillpondError as error:
            self.end(error)
            return
        with self.changed:
            if self.history.newest is None:
                return
            self._put(None, changes)
            self.changed.notify_all()
        self.news.ring()

    def _put(self, answer: pa.Table | None, changes: pa.Table) -> None:
        newest, number = self.history.newest, self._clock.next()
        ordinal = 0 if newest is None else newest.ordinal + 1
        self.history.add(Version(ordinal, number, answer, stamped(number, changes)))

    def _run(self) -> None:
        try:
            while self._wait_for_work():
                self._look()
        except MillpondError as error:
            self.end(error)
        except Exception as error:
            logger.exception("a feed failed")
            self.end(InternalError(f"the subscription to {self.shown} failed", detail=repr(error)))
        finally:
            self._retire(self)
            self._stop_listening()
            self.source.close()

    def _wait_for_work(self) -> bool:
        """Wait until it is time to look; False if the feed has ended, or nobody has wanted it for long."""
        while True:
            self._work.clear()
            self.source.verify()
            with self.changed:
                if self.error is not None:
                    return False
                wait_s = self._seconds_to_look()
                abandoned = not self.readers
            if wait_s == 0:
                return True
            told = self._work.wait(self.limits.retention_s if abandoned else wait_s)
            if abandoned and not told and self._retire(self):
                return False

    def _seconds_to_look(self) -> float | None:
        """How long to wait before looking; None for as long as nobody says anything."""
        if self._asked > self._served:
            return 0
        wanting = [reader.interval_s for reader in self.readers if reader.last is self.history.newest]
        if not self._arrived or not wanting:
            return None
        return 0 if self.source.is_behind else max(0.0, self._looked_at + min(wanting) - time.monotonic())

    def _look(self) -> None:
        with self.changed:
            serving, self._looking, self._arrived = self._asked, True, False
        self._looked_at = time.monotonic()
        try:
            rows = self.source.look()
            made = None if rows is None else self._changes(self._bounded(plain(rows)))
        finally:
            with self.changed:
                self._looking = False
        with self.changed:
            if made is not None:
                self._put(*made)
            self._served = serving
            self.changed.notify_all()
        self.news.ring()

    def _bounded(self, rows: pa.Table) -> pa.Table:
        if rows.nbytes > self.limits.bytes_max:
            message = f"the rows of {self.shown} are too many for a subscription"
            detail = f"They take {rows.nbytes} bytes; {self.limits.bytes_max} are kept."
            hint = 'Subscribe to fewer of them, or give the pond a larger "subscription_bytes".'
            raise MillpondError(SqlState.PROGRAM_LIMIT_EXCEEDED, message, detail=detail, hint=hint)
        return rows

    def _changes(self, rows: pa.Table) -> tuple[pa.Table | None, pa.Table] | None:
        """The answer, if there is one, and what is new in it; None if nothing is."""
        before = self.history.newest
        if before is None:
            return (rows if self.source.is_state else None), all_of(rows.slice(0, 0), "insert")
        if before.answer is None:
            return (None, all_of(rows, "insert")) if rows.num_rows else None
        changes = difference(before.answer, rows, self.source.key)
        return (rows, changes) if changes.num_rows else None


def again(error: MillpondError) -> MillpondError:
    """The same error for one more who gets it."""
    return MillpondError(error.sqlstate, error.message, detail=error.detail, hint=error.hint)


def no_such_version(number: int, shown: str) -> MillpondError:
    return MillpondError(
        SqlState.VERSION_NOT_RETAINED,
        f"version {number} of {shown} is not retained",
        detail="Versions are kept while somebody is subscribed and for a while after that, as far as they fit.",
        hint="Subscribe anew, without AS OF.",
    )

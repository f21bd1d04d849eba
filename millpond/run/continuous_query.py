"""One continuous query at work: a thread that waits for tuples and takes all that there are as one chunk, or those of
a cycle when it is complete.

Steps of a chunk; whatever happens between two of them, no tuple is missed and none is taken twice:

1. hold the tuples from the query's offsets to the ends of its streams, up to a bound, or to the end of a cycle
2. compute what they make (nobody sees anything yet)
3. make that visible together with the new offsets, in one step: see `millpond.statements.continuous_commit`
4. the followers advance, so that the streams may overwrite what was read

The first three are the query's `Work`.

A query that fails on its data, or on what it may do, is set aside with its error until somebody resumes it. Whatever
else fails is tried again.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from millpond.errors import InternalError, MillpondError, SqlState
from millpond.interrupt import Interrupt
from millpond.state.records import Failure, QueryRecord
from millpond.stream import Follower, StreamRelation

logger = logging.getLogger(__name__)

Sources = Mapping[int, StreamRelation]
"""The streams that a query reads, by oid."""


@dataclass(frozen=True)
class CycleCosts:
    """A cycle that was committed: where it starts and ends, and how long it took after it was complete and before."""

    number: int
    starts: str
    ends: str
    rows_in: int
    rows_out: int
    post_cut_s: float
    early_s: float = 0.0


class Work(Protocol):
    """What a query does, a chunk at a time."""

    def step(self, record: QueryRecord, sources: Sources) -> QueryRecord | None:
        """Insert what the next chunk makes, and commit that together with the record after it, which is returned; None
        if there is no chunk yet."""

    @property
    def cycles(self) -> Sequence[CycleCosts]:
        """The newest cycles, of a query that runs in such."""

    @property
    def is_ready(self) -> bool:
        """Whether all is planned that can be before the first chunk."""

    @property
    def look_again_s(self) -> float | None:
        """When there may be a chunk although no tuple arrives; None for never."""

    def rest(self) -> None:
        """Stop what goes on beside the steps, until the next of them."""


Look = Callable[[], QueryRecord]
"""Finds out how far a query is: what failed may have failed after it was done."""

Commit = Callable[[int, QueryRecord], None]
"""Records in the catalog how far a query, by its oid, is."""

Tell = Callable[[int], None]
"""Called with the number of a chunk that was committed."""

_LASTING = ("0A", "21", "22", "23", "2B", "38", "3F", "42", "54", "MP")
"""Classes of errors that lie in the data, in rights or in the definition: they come again however often one tries."""

_INTERNAL_ERROR = "XX"
_STRIKES_MAX = 3
"""How often a chunk is tried that fails for a reason we do not know. A full disk is tried again for ever."""

_RETRY_FIRST_S, _RETRY_DOUBLINGS = 0.01, 9
"""How long to wait before a chunk is tried again: each time twice as long, up to five seconds. A lost conflict is soon
won."""

_CANCEL_INTERVAL_S = 0.1
"""A chunk may need several Spark jobs, and a cancellation reaches only the one that runs."""


class ContinuousQuery:
    """The streams that one query reads, where it stands in each, and the thread that moves it on.

    `record` is what the catalog has committed; `error` is why the last try failed, None if it did not.
    """

    def __init__(
        self,
        oid: int,
        sources: Sources,
        work: Work,
        look: Look,
        commit: Commit,
        cancel_jobs: Callable[[], None],
        cycles_max: int | None = None,
        tell: Tell = lambda _chunk: None,
    ) -> None:
        self.oid = oid
        self.record = QueryRecord({})
        self.error: MillpondError | None = None
        self._sources, self._work, self._cycles_max = sources, work, cycles_max
        self._look, self._commit, self._cancel_jobs, self._tell = look, commit, cancel_jobs, tell
        self._unsure = False
        self._failure: Failure | None = None
        self._followers: dict[int, Follower] = {}
        self._stop_listening: list[Callable[[], None]] = []
        self._arrived = threading.Event()
        self._stopping = threading.Event()
        self._interrupt = Interrupt()
        self._strikes = 0
        self._thread: threading.Thread | None = None

    @property
    def is_over(self) -> bool:
        """Whether it has done all that it was asked for."""
        return self.record.is_over(self._cycles_max)

    @property
    def is_ready(self) -> bool:
        return self._work.is_ready

    @property
    def cycles(self) -> Sequence[CycleCosts]:
        return self._work.cycles

    @property
    def lag(self) -> int:
        """Tuples that have arrived and that the query has yet to take."""
        return sum(self._sources[oid].stats().end_tid - offset for oid, offset in self.record.offsets.items())

    def commit(self, record: QueryRecord) -> None:
        """Be where the record says from now on; not while it works."""
        self._commit(self.oid, record)
        self.record, self.error = record, None
        self._unsure, self._failure, self._strikes = False, None, 0

    # -- its place in the streams --------------------------------------------------------------------------------

    def follow(self, source: int, first: int | None, *, earliest: bool = False) -> int:
        """Take a place in a stream, as `StreamRelation.follow` does: writers wait for the query from now on."""
        stream = self._sources[source]
        self._followers[source] = stream.follow(first, earliest=earliest)
        self._stop_listening.append(stream.arrivals.listen(self._arrived.set))
        return int(self._followers[source].position)

    def leave(self) -> None:
        """Give up the places in the streams."""
        for follower in self._followers.values():
            follower.close()
        for stop_listening in self._stop_listening:
            stop_listening()

    # -- the thread ----------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Work, unless it does or was set aside."""
        if self._thread is None and self.record.failure is None:
            self._stopping.clear()
            self._thread = threading.Thread(target=self._run, name=f"millpond-query-{self.oid}", daemon=True)
            self._thread.start()

    def ask_to_stop(self) -> None:
        self._stopping.set()
        self._arrived.set()
        self._interrupt.ask(MillpondError(SqlState.QUERY_CANCELED, "canceling continuous query"))

    def stop(self) -> None:
        """Stop working; the chunk in work is done, or abandoned as a whole."""
        if self._thread is None:
            return
        self.ask_to_stop()
        while self._thread.is_alive():
            self._cancel_jobs()
            self._thread.join(_CANCEL_INTERVAL_S)
        self._thread = None

    def _run(self) -> None:
        try:
            self._work_on()
        finally:
            self._work.rest()

    def _work_on(self) -> None:
        with self._interrupt.running(lock_timeout_ms=0):
            while self.record.failure is None and not self.is_over:
                # In this order: who asks to stop says so first and wakes us then.
                self._arrived.clear()
                if self._stopping.is_set():
                    return
                if not self._attempt():
                    self._arrived.wait(self._work.look_again_s)
        if self.is_over:
            self.leave()

    def _attempt(self) -> bool:
        """Take what there is; whether there may be more to do."""
        try:
            found = self._step()
        except Exception as error:
            self._unsure = True
            if not self._stopping.is_set():
                self._bear(error)
            return True
        return found

    def _step(self) -> bool:
        if self._unsure:
            self._recover()
            return True
        record = self._work.step(self.record, self._sources)
        if record is None:
            return False
        for oid, offset in record.offsets.items():
            self._followers[oid].advance(offset)
        self.record, self.error, self._strikes = record, None, 0
        self._tell(record.chunks)
        return True

    def _recover(self) -> None:
        """After an error: find out how far the query is, and record that it is set aside if it shall be."""
        record = self._look()
        if self._failure is not None:
            record = replace(record, failure=self._failure)
            self._commit(self.oid, record)
        if record.chunks > self.record.chunks:
            self._tell(record.chunks)
        self.record, self._unsure, self._failure = record, False, None

    def _bear(self, error: Exception) -> None:
        """Wait a while after an error, so that the chunk is tried again; or see that the query is set aside."""
        if not isinstance(error, MillpondError):
            logger.error("continuous query %s failed", self.oid, exc_info=error)
            error = InternalError(repr(error))
        self.error = error
        self._strikes += 1
        state = error.sqlstate.value
        if state.startswith(_LASTING) or (state.startswith(_INTERNAL_ERROR) and self._strikes >= _STRIKES_MAX):
            self._failure = Failure.of(error)
        else:
            self._stopping.wait(_RETRY_FIRST_S * 2 ** min(self._strikes, _RETRY_DOUBLINGS))

"""Reads of continuous views: queries that do nothing else are recognised once, and readers who wait share answers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from weakref import WeakValueDictionary

from millpond import interrupt
from millpond.relation import Relation
from millpond.result import ResultColumn
from millpond.run.view import Answer, ContinuousView
from millpond.sql.bind import BoundQuery
from millpond.sql.scope import Names
from millpond.sql.statements import QueryTree

KNOWN_MAX = 1024
"""Queries that come again and again are few; each keeps its tree."""

ANY_AGE = float("inf")


@dataclass(frozen=True)
class ViewRead:
    """A query that is `SELECT * FROM view` and nothing more. `bound` is what binding made of it, for whoever has to
    look at what is read each time, known or not, such as a check of privileges."""

    query: QueryTree
    view: Relation
    bound: BoundQuery
    columns: tuple[ResultColumn, ...]


@dataclass(frozen=True)
class AwaitedAnswer:
    """What a reader waits for: an answer of a view with all that had arrived when the read began."""

    view: ContinuousView
    ends: Mapping[int, int]

    @classmethod
    def of(cls, view: ContinuousView) -> AwaitedAnswer:
        return cls(view, {oid: int(stream.stats().end_tid) for oid, stream in view.streams.items()})

    def find(self) -> Answer | None:
        """The view's last answer if it will do, found without waiting for whoever computes a new one."""
        last = self.view.recent_answer(ANY_AGE)
        return last if last is not None and all(last.ends[oid] >= end for oid, end in self.ends.items()) else None


class ViewReads:
    """What a pond knows of such queries, by their trees: clients send the same text again and again, and a text that
    comes again has the same tree. And whose turn it is to compute an answer."""

    def __init__(self) -> None:
        self._known: dict[int, ViewRead] = {}
        self._turns: WeakValueDictionary[int, threading.RLock] = WeakValueDictionary()
        self._lock = threading.Lock()

    def find(self, query: QueryTree, names: Names) -> ViewRead | None:
        """What is known of a query, unless its name means another relation, or another version of it, by now."""
        # The tree is kept, so no other can have its id.
        read = self._known.get(id(query))
        if read is None or names.relation(read.view.schema, read.view.name) is not read.view:
            return None
        return read

    def add(self, read: ViewRead) -> None:
        with self._lock:
            self._known[id(read.query)] = read
            if len(self._known) > KNOWN_MAX:
                del self._known[next(iter(self._known))]

    def shared_answer(self, view: ContinuousView, compute: Callable[[], Answer]) -> Answer:
        """An answer with all that had arrived when this was called.

        Rows may arrive faster than answers are computed, so none is the newest for long. Readers who come meanwhile
        wait for their turn; the first of them computes an answer that is new enough for all who wait with it.
        """
        if view.plan.live or view.plan.is_momentary:
            return compute()
        awaited = AwaitedAnswer.of(view)
        with interrupt.holding(self._turn(view.relation.oid)):
            return awaited.find() or compute()

    def _turn(self, view: int) -> threading.RLock:
        """The lock of a view, which is there as long as somebody uses it."""
        with self._lock:
            return self._turns.setdefault(view, threading.RLock())

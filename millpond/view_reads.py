"""Reads of continuous views: queries that do nothing else are recognised once, and readers who wait share answers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from weakref import ReferenceType, WeakValueDictionary, ref

from millpond import interrupt
from millpond.relation import Read, Relation
from millpond.result import ResultColumn
from millpond.run.view import Answer, ContinuousView
from millpond.sql.scope import Names
from millpond.sql.statements import QueryTree

ANY_AGE = float("inf")


@dataclass(frozen=True)
class ViewRead:
    """A query that is `SELECT * FROM view` and nothing more; `reads` is what one has to be allowed to read for it.

    It outlives the client that sent the query first, so it keeps neither the bound query, which knows that client's
    session, nor the tree.
    """

    view: Relation
    reads: tuple[Read, ...]
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
    comes again has the same tree. What is known of a tree goes with it. And whose turn it is to compute an answer."""

    def __init__(self) -> None:
        # By the tree's id: trees are equal by what they say, and comparing that costs more than it spares.
        self._known: dict[int, tuple[ReferenceType[QueryTree], ViewRead]] = {}
        self._turns: WeakValueDictionary[int, threading.RLock] = WeakValueDictionary()
        self._lock = threading.Lock()

    def find(self, query: QueryTree, names: Names) -> ViewRead | None:
        """What is known of a query, unless its name means another relation, or another version of it, by now."""
        known = self._known.get(id(query))
        if known is None or known[0]() is not query:
            return None
        read = known[1]
        return read if names.relation(read.view.schema, read.view.name) is read.view else None

    def add(self, query: QueryTree, read: ViewRead) -> None:
        key = id(query)
        self._known[key] = (ref(query, lambda _gone: self._known.pop(key, None)), read)

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

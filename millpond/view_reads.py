"""Queries that read a continuous view as it is: recognised once, known as long as the view is the same."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from millpond.relation import Relation
from millpond.result import ResultColumn
from millpond.run.view import Answer, ContinuousView
from millpond.sql.scope import Names
from millpond.sql.statements import QueryTree

KNOWN_MAX = 1024
"""Queries that come again and again are few; each keeps its tree."""

ANY_AGE = float("inf")


@dataclass(frozen=True)
class ViewRead:
    """`SELECT * FROM view`, and the columns that it has."""

    query: QueryTree
    view: Relation
    columns: tuple[ResultColumn, ...]


class ViewReads:
    """The queries of a pond that are known to be such, by their trees: clients send the same text again and again, and
    a text that comes again has the same tree."""

    def __init__(self) -> None:
        self._known: dict[int, ViewRead] = {}
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


def unchanged_answer(view: ContinuousView) -> Answer | None:
    """The last answer if it is still right, found without waiting for whoever computes a new one; None if that takes
    more than a look, as with tables that are read as they are now."""
    last = None if view.plan.live else view.recent_answer(ANY_AGE)
    if last is None or any(stream.stats().end_tid != last.ends[oid] for oid, stream in view.streams.items()):
        return None
    return last

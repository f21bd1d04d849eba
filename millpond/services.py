"""The parts of an open pond that statements work with: what it keeps, and Spark to compute with."""

from __future__ import annotations

import shutil
import threading
import uuid
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from millpond.config import Settings
from millpond.notifications import Switchboard
from millpond.run.continuous_queries import QueryStore
from millpond.run.feeds import Feeds
from millpond.run.views import ViewStore
from millpond.spark.runner import Runner
from millpond.stores import Stores
from millpond.view_reads import ViewReads

Held = Callable[[], None]
"""Lets go of files that a reader uses."""


@dataclass
class Services(Stores):
    """`retry_turn` lets the losers of a conflict go one after the other; see `Session`. `conversion_turn` lets threads
    convert few Python rows one after the other: fighting for the interpreter's lock makes all of them slower.
    """

    runner: Runner
    views: ViewStore
    queries: QueryStore
    settings: Settings
    scratch: Path
    feeds: Feeds
    retry_turn: threading.Lock = field(default_factory=threading.Lock)
    conversion_turn: threading.Lock = field(default_factory=threading.Lock)
    switchboard: Switchboard = field(default_factory=Switchboard)
    view_reads: ViewReads = field(default_factory=ViewReads)
    _abandoned: deque[Held] = field(default_factory=deque)

    def hold_while_alive(self, reader: object, held: Sequence[Held]) -> None:
        """Let go of what a reader uses some time after it was garbage-collected.

        The collector may run while this very thread is inside a lock, so it only takes a note.
        """
        for release in held:
            weakref.finalize(reader, self._abandoned.append, release)

    def release_abandoned(self) -> None:
        """Let go of what nobody reads any more; called now and then."""
        while self._abandoned:
            with suppress(IndexError):  # another thread was faster
                self._abandoned.popleft()()

    @contextmanager
    def temporary_directory(self) -> Iterator[Path]:
        """A path in the scratch directory for Spark to create and us to remove."""
        directory = self.scratch / f"statement-{uuid.uuid4().hex}"
        try:
            yield directory
        finally:
            shutil.rmtree(directory, ignore_errors=True)

"""Ticks that readers wait for. They run in threads of their own: a reader that is canceled leaves, and the tick goes on
for all others who need it."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor

from millpond import interrupt
from millpond.run.maintainer import Maintainer

THREADS_MAX = 8
"""Streams whose ticks are waited for at the same time; there are no more cores to run them on."""


class WaitedTicks:
    """At most one tick of a stream runs here at a time, however many wait for it."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS_MAX, thread_name_prefix="millpond-tick")
        self._lock = threading.Lock()
        self._running: dict[int, Future[None]] = {}

    def catch_up(self, maintainer: Maintainer) -> None:
        """Return when all states of a stream have what it holds now, or raise what kept them from it."""
        end = maintainer.stream.stats().end_tid
        while maintainer.is_behind(end):
            interrupt.result_of(self._tick(maintainer))

    def close(self) -> None:
        """Return when no tick runs; none will begin."""
        self._threads.shutdown()

    def _tick(self, maintainer: Maintainer) -> Future[None]:
        oid = maintainer.relation.oid
        with self._lock:
            running = self._running.get(oid)
            if running is None or running.done():
                running = self._running[oid] = self._threads.submit(maintainer.catch_up)
            return running

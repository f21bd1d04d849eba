"""Ending a statement early. Whoever waits on a statement's behalf looks here whether it should go on waiting.

A statement runs in one thread, so what waits deep below it need not be handed anything. Threads of the background
run no statement, and wait as long as it takes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, TimeoutError
from contextlib import contextmanager
from typing import Protocol, TypeVar

from millpond.errors import MillpondError, SqlState

LOOK_INTERVAL_S = 0.05
"""How often one who waits looks whether it should go on waiting."""

Done = TypeVar("Done")
_running = threading.local()


class Lock(Protocol):
    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool: ...

    def release(self) -> None: ...


class Interrupt:
    """The wish to end what a session runs: any thread may ask, the one that runs the statement finds out."""

    def __init__(self) -> None:
        self.error: MillpondError | None = None
        self._asked = threading.Event()
        self._lock_timeout_s: float | None = None

    def ask(self, error: MillpondError) -> None:
        self.error = error
        self._asked.set()

    def check(self) -> None:
        """Raise what was asked for."""
        if self.error is not None:
            raise self.error

    @contextmanager
    def running(self, lock_timeout_ms: int) -> Iterator[None]:
        """Around a statement, in the thread that runs it."""
        self.error = None
        self._asked.clear()
        self._lock_timeout_s = lock_timeout_ms / 1000 if lock_timeout_ms else None
        before = _current()
        _running.interrupt = self
        try:
            yield
        finally:
            _running.interrupt = before

    def sleep(self, seconds: float) -> None:
        if self._asked.wait(seconds):
            self.check()

    def deadline(self) -> float | None:
        """Until when the statement waits for a lock, by the monotonic clock."""
        return None if self._lock_timeout_s is None else time.monotonic() + self._lock_timeout_s


def check() -> None:
    """Raise if the statement that this thread runs, if it runs one, is to end."""
    interrupt = _current()
    if interrupt is not None:
        interrupt.check()


@contextmanager
def holding(lock: Lock) -> Iterator[None]:
    """`with lock`, for one that may be held for long: a statement can be interrupted while it waits."""
    interrupt = _current()
    if interrupt is None:
        lock.acquire()
    elif not lock.acquire(blocking=False):
        deadline = interrupt.deadline()
        while not lock.acquire(timeout=LOOK_INTERVAL_S):
            interrupt.check()
            if deadline is not None and time.monotonic() > deadline:
                raise MillpondError(SqlState.LOCK_NOT_AVAILABLE, "canceling statement due to lock timeout")
    try:
        yield
    finally:
        lock.release()


@contextmanager
def put_off() -> Iterator[None]:
    """Around what has to be done to its end once it has begun."""
    interrupt = _current()
    _running.interrupt = None
    try:
        yield
    finally:
        _running.interrupt = interrupt


def result_of(future: Future[Done]) -> Done:
    """What another thread computes; the one who waits can be interrupted, the work goes on."""
    while True:
        try:
            return future.result(LOOK_INTERVAL_S)
        except TimeoutError:
            if future.done():
                raise
            check()


def wait(condition: threading.Condition, seconds: float | None = None) -> None:
    """Wait for a condition whose lock is held, at most so long and never long: whoever waits looks again."""
    check()
    condition.wait(LOOK_INTERVAL_S if seconds is None else min(seconds, LOOK_INTERVAL_S))
    check()


def _current() -> Interrupt | None:
    interrupt: Interrupt | None = getattr(_running, "interrupt", None)
    return interrupt

"""Interrupts: a statement that waits is ended, the background waits as long as it takes."""

from __future__ import annotations

import threading
from concurrent.futures import Future

import pytest

from millpond import interrupt
from millpond.errors import MillpondError, SqlState
from millpond.interrupt import Interrupt

CANCELED = MillpondError(SqlState.QUERY_CANCELED, "canceled")


def asked_soon() -> Interrupt:
    made = Interrupt()
    threading.Timer(0.05, made.ask, [CANCELED]).start()
    return made


def test_waiting_for_a_lock() -> None:
    lock = threading.Lock()
    with lock:
        asked = asked_soon()
        with asked.running(0), pytest.raises(MillpondError, match="canceled"), interrupt.holding(lock):
            pass
        with Interrupt().running(10), pytest.raises(MillpondError) as caught, interrupt.holding(lock):
            pass
        assert caught.value.sqlstate is SqlState.LOCK_NOT_AVAILABLE
    with interrupt.holding(lock):
        assert lock.locked()
    assert not lock.locked()


def test_waiting_for_a_result() -> None:
    future: Future[int] = Future()
    asked = asked_soon()
    with asked.running(0), pytest.raises(MillpondError, match="canceled"):
        interrupt.result_of(future)
    future.set_exception(TimeoutError("its own"))
    with pytest.raises(TimeoutError, match="its own"):
        interrupt.result_of(future)


def test_sleeping() -> None:
    asked = asked_soon()
    with asked.running(0), pytest.raises(MillpondError, match="canceled"):
        asked.sleep(30)
    Interrupt().sleep(0)


def test_what_has_begun_is_done_to_its_end() -> None:
    asked = Interrupt()
    with asked.running(0):
        asked.ask(CANCELED)
        with interrupt.put_off():
            interrupt.check()
        with pytest.raises(MillpondError, match="canceled"):
            interrupt.check()
    interrupt.check()

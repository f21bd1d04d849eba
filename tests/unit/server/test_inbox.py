"""The inbox: order, bounds, waiting, and what follows the last message."""

from __future__ import annotations

import threading

import pytest

from millpond.errors import MillpondError
from millpond.server.inbox import Inbox
from millpond.wire.fields import violation
from millpond.wire.frontend import CopyData, Query, Sync


def never() -> None:
    """A check that always lets one wait on."""


def test_messages_keep_their_order() -> None:
    inbox = Inbox(10_000, never)
    for number in range(3):
        inbox.put(Query(str(number)), 6)
    inbox.put(Sync(), 5)
    assert inbox.ahead(2) == [Query("0"), Query("1")]
    assert [inbox.take() for _ in range(5)] == [Query("0"), Query("1"), Query("2"), Sync(), None]


def test_a_full_inbox_tells_when_there_is_room() -> None:
    told: list[bool] = []
    inbox = Inbox(1000, lambda: told.append(inbox.is_full))
    inbox.put(CopyData(b"x" * 900), 905)
    inbox.put(CopyData(b"x" * 900), 905)
    assert inbox.is_full
    inbox.take()
    assert told == []
    inbox.take()
    assert told == [False]


def test_skipping_is_taking() -> None:
    told: list[bool] = []
    inbox = Inbox(1000, lambda: told.append(inbox.is_full))
    for number in range(10):
        inbox.put(Query(str(number)), 6)
    inbox.skip(9)
    assert inbox.take() == Query("9")
    assert told == [False]


def test_waiting_ends_with_a_message_a_check_or_the_end() -> None:
    inbox = Inbox(1000, never)
    threading.Timer(0.05, inbox.put, [Sync(), 5]).start()
    assert inbox.wait(never) == Sync()

    def canceled() -> None:
        raise violation("canceled")

    with pytest.raises(MillpondError, match="canceled"):
        inbox.wait(canceled)
    threading.Timer(0.05, inbox.close).start()
    with pytest.raises(MillpondError, match="closed the connection"):
        inbox.wait(never)
    assert inbox.at_end


def test_what_was_wrong_comes_behind_the_last_message() -> None:
    inbox = Inbox(1000, never)
    inbox.put(Sync(), 5)
    inbox.close(violation("nonsense"))
    assert inbox.take() == Sync()
    with pytest.raises(MillpondError, match="nonsense"):
        inbox.take()

"""LISTEN and NOTIFY: messages from one session to those that listen to a channel, sent when a transaction commits."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from millpond.errors import MillpondError, SqlState

PAYLOAD_BYTES_MAX = 7999
CHANNEL_BYTES_MAX = 63
"""PostgreSQL's limits."""

WAITING_MAX = 100_000
"""Notifications that a session may leave unread. Beyond that NOTIFY fails, as when PostgreSQL's queue is full."""


@dataclass(frozen=True)
class Notification:
    """`process` is the number of the session that sent it."""

    channel: str
    payload: str
    process: int


class Mailbox:
    """What one session listens to, and what it has yet to take. `on_arrival` is called in the sender's thread."""

    def __init__(self) -> None:
        self.channels: set[str] = set()
        self.on_arrival: Callable[[], None] | None = None
        self._waiting: deque[Notification] = deque()
        self._changed = threading.Condition()

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, notifications: Iterable[Notification]) -> None:
        with self._changed:
            self._waiting.extend(notifications)
            self._changed.notify_all()
        if self.on_arrival is not None:
            self.on_arrival()

    def take(self) -> list[Notification]:
        """What has arrived."""
        with self._changed:
            taken = list(self._waiting)
            self._waiting.clear()
            return taken

    def wait(self, timeout_s: float | None = None) -> Iterator[Notification]:
        """What arrives, one after the other, until none has for so long; without a limit, for ever."""
        while True:
            with self._changed:
                if not self._changed.wait_for(lambda: bool(self._waiting), timeout_s):
                    return
                notification = self._waiting.popleft()
            yield notification


class Switchboard:
    """The mailboxes of a pond's sessions by the channels that they listen to."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listening: dict[str, set[Mailbox]] = {}

    def listen(self, mailbox: Mailbox, channel: str) -> None:
        with self._lock:
            mailbox.channels.add(channel)
            self._listening.setdefault(channel, set()).add(mailbox)

    def unlisten(self, mailbox: Mailbox, channel: str | None = None) -> None:
        """Stop listening to a channel, or to all of them."""
        with self._lock:
            for one in [channel] if channel is not None else list(mailbox.channels):
                mailbox.channels.discard(one)
                listeners = self._listening.get(one, set())
                listeners.discard(mailbox)
                if not listeners:
                    self._listening.pop(one, None)

    def send(self, notifications: Iterable[Notification]) -> None:
        """Deliver what a transaction sent, in one piece to each who listens."""
        with self._lock:
            by_mailbox: dict[Mailbox, list[Notification]] = {}
            for notification in notifications:
                for mailbox in self._listening.get(notification.channel, ()):
                    by_mailbox.setdefault(mailbox, []).append(notification)
            for mailbox, arriving in by_mailbox.items():
                mailbox.put(arriving)

    def check(self, channel: str, payload: str) -> None:
        """Raise what is wrong with a notification, before it is part of a transaction."""
        if not channel:
            raise MillpondError(SqlState.INVALID_PARAMETER_VALUE, "channel name cannot be empty")
        if len(channel.encode()) > CHANNEL_BYTES_MAX:
            raise MillpondError(SqlState.INVALID_PARAMETER_VALUE, "channel name too long")
        if len(payload.encode()) > PAYLOAD_BYTES_MAX:
            raise MillpondError(SqlState.INVALID_PARAMETER_VALUE, "payload string too long")
        with self._lock:
            if any(len(mailbox) >= WAITING_MAX for mailbox in self._listening.get(channel, ())):
                message = "too many notifications in the NOTIFY queue"
                detail = f'A session that listens to "{channel}" has left {WAITING_MAX} of them unread.'
                raise MillpondError(SqlState.PROGRAM_LIMIT_EXCEEDED, message, detail=detail)


def enqueue(switchboard: Switchboard, pending: dict[tuple[str, str], None], channel: str, payload: str) -> None:
    """Add to what a transaction will send; the same message twice is sent once."""
    switchboard.check(channel, payload)
    pending[channel, payload] = None

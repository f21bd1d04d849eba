"""What a client sent and its statements have not taken yet: filled by the event loop, emptied by a thread."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from itertools import islice

from millpond.errors import MillpondError, SqlState
from millpond.wire.message import Message

CHECK_INTERVAL_S = 0.1
"""How often one who waits looks whether it should go on waiting."""

_MESSAGE_BYTES = 200
"""What a message counts beyond its bytes: the memory of its object."""


class Inbox:
    """Messages in their order; `on_room` is called, by the thread, when a full inbox has room again."""

    def __init__(self, bytes_max: int, on_room: Callable[[], None]) -> None:
        self._bytes_max, self._on_room = bytes_max, on_room
        self._messages: deque[Message] = deque()
        self._sizes: deque[int] = deque()
        self._bytes = 0
        self._changed = threading.Condition()
        self._closed = False
        self._failure: MillpondError | None = None

    # -- the event loop's side -----------------------------------------------------------------------------------

    def put(self, message: Message, size: int) -> None:
        """Add a message that took so many bytes on the wire."""
        with self._changed:
            self._messages.append(message)
            self._sizes.append(size + _MESSAGE_BYTES)
            self._bytes += self._sizes[-1]
            self._changed.notify()

    @property
    def is_full(self) -> bool:
        return self._bytes >= self._bytes_max

    def close(self, failure: MillpondError | None = None) -> None:
        """Nothing will follow: the client is gone, or sent what cannot be read."""
        with self._changed:
            self._closed, self._failure = True, failure
            self._changed.notify()

    # -- the thread's side ---------------------------------------------------------------------------------------

    def take(self) -> Message | None:
        """The next message, or None if there is none now. Behind the last one, what was wrong with the rest."""
        with self._changed:
            if not self._messages:
                if self._failure is not None:
                    raise self._failure
                return None
            return self._pop()

    def skip(self, count: int) -> None:
        """Take so many messages, which are here and were seen ahead."""
        with self._changed:
            for _ in range(count):
                self._pop()

    def wait(self, check: Callable[[], None]) -> Message:
        """The next message, whenever it comes; `check` may raise meanwhile."""
        with self._changed:
            while not self._messages:
                check()
                if self._closed:
                    raise self._failure or client_gone()
                self._changed.wait(CHECK_INTERVAL_S)
            return self._pop()

    def ahead(self, count: int) -> list[Message]:
        """The next messages, at most so many of those that are here; they stay where they are."""
        with self._changed:
            return list(islice(self._messages, count))

    @property
    def next(self) -> Message | None:
        """The next message, if it is here; it stays where it is."""
        return self._messages[0] if self._messages else None

    @property
    def at_end(self) -> bool:
        """Whether all was taken and nothing will follow."""
        return self._closed and not self._messages

    def _pop(self) -> Message:
        was_full = self.is_full
        message = self._messages.popleft()
        self._bytes -= self._sizes.popleft()
        if was_full and not self.is_full:
            self._on_room()
        return message


def client_gone() -> MillpondError:
    return MillpondError(SqlState.CONNECTION_FAILURE, "the client closed the connection")

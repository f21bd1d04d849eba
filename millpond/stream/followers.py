"""Readers that must never be overrun, such as continuous views: writers wait for them when the ring is full."""

from __future__ import annotations

import threading
from collections.abc import Callable

from millpond import interrupt
from millpond.stream.options import Tid

WAIT_STEP_S = 0.1
"""How often a waiting writer looks whether the stream was closed or its statement canceled meanwhile."""


class Follower:
    """One reader's position: the next tuple that it will read."""

    def __init__(self, followers: Followers, position: Tid) -> None:
        self._followers = followers
        self.position = position

    def advance(self, position: int) -> None:
        """Say that everything before `position` was read and may be overwritten."""
        assert position >= self.position, "a follower does not go back"
        self.position = Tid(position)
        self._followers.moved()

    def close(self) -> None:
        """Follow no more."""
        self._followers.remove(self)


class Followers:
    """The followers of one stream. `on_full` is called when a writer has to wait, so that somebody reads."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._followers: set[Follower] = set()
        self.on_full: Callable[[], None] | None = None
        self.waits = 0

    def add(self, position: int) -> Follower:
        follower = Follower(self, Tid(position))
        with self._changed:
            self._followers.add(follower)
        return follower

    def remove(self, follower: Follower) -> None:
        with self._changed:
            self._followers.discard(follower)
            self._changed.notify_all()

    def moved(self) -> None:
        with self._changed:
            self._changed.notify_all()

    @property
    def floor(self) -> Tid | None:
        """The first tuple that somebody has yet to read, None without followers."""
        positions = [follower.position for follower in self._followers.copy()]
        return min(positions) if positions else None

    def wait_for_room(self, is_full: Callable[[Tid], bool], check_open: Callable[[], None]) -> None:
        """Wait until the unread rows leave room in the ring; `is_full` is asked with the floor."""
        floor = self.floor
        if floor is None or not is_full(floor):
            return
        with self._changed:
            self.waits += 1
            while (floor := self.floor) is not None and is_full(floor):
                check_open()
                interrupt.check()
                if self.on_full is not None:
                    self.on_full()
                self._changed.wait(WAIT_STEP_S)

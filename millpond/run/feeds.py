"""The feeds of a pond by what they are about, and the one clock of their versions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from millpond.config import Settings
from millpond.errors import MillpondError, SqlState
from millpond.run.feed import Feed, Limits, Source, no_such_version
from millpond.run.history import VersionClock
from millpond.run.subscriber import Pace, Subscriber, Wishes


@dataclass(frozen=True)
class Subject:
    """What a feed is about: `about` is the same for all who can share it, `shown` is what people call it."""

    about: Hashable
    shown: str
    source: Callable[[], Source]


class Feeds:
    """Safe to use from several threads."""

    def __init__(self, settings: Settings) -> None:
        self._lock = threading.Lock()
        self._clock = VersionClock()
        self._feeds: dict[Hashable, Feed] = {}
        self._closed = False
        self._limits = Limits(
            settings.integer("subscription_versions"),
            settings.integer("subscription_bytes"),
            settings.integer("subscription_retention") / 1000,
        )

    def subscribe(
        self, subject: Subject, wishes: Wishes, pace: Pace, who: tuple[int, str], authorize: Callable[[], None]
    ) -> Subscriber:
        """A new subscriber of the feed about something, which begins if there is none yet."""
        with self._lock:
            if self._closed:
                raise _closed()
            feed = self._feeds.get(subject.about)
            if feed is None or feed.error is not None:
                if wishes.as_of is not None:
                    raise no_such_version(wishes.as_of, subject.shown)
                feed = Feed(subject.source(), subject.shown, self._clock, self._limits, self._retire)
                self._feeds[subject.about] = feed
            subscriber = Subscriber(feed, wishes, pace, who, authorize)
            feed.join(subscriber)
        try:
            subscriber.start()
        except BaseException:
            subscriber.close()
            raise
        return subscriber

    def subscribers(self) -> list[Subscriber]:
        """All there are now."""
        with self._lock:
            feeds = list(self._feeds.values())
        return [reader for feed in feeds for reader in feed.readers if isinstance(reader, Subscriber)]

    def close(self) -> None:
        """End all feeds, and return when none of them runs any more."""
        with self._lock:
            self._closed = True
            feeds = list(self._feeds.values())
        for feed in feeds:
            feed.end(_closed())
        for feed in feeds:
            feed.join_thread()

    def _retire(self, feed: Feed) -> bool:
        """Forget a feed that has ended or has no subscribers; whether that is so."""
        with self._lock:
            if feed.readers and feed.error is None:
                return False
            self._feeds = {about: one for about, one in self._feeds.items() if one is not feed}
            return True


def _closed() -> MillpondError:
    return MillpondError(SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, "the pond is closed")

"""The feeds of a pond by what they are about, and the one clock of their versions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable

from millpond.config import Settings
from millpond.errors import MillpondError, SqlState
from millpond.run.feed import Feed, Limits, Source, no_such_version
from millpond.run.history import VersionClock
from millpond.run.subscriber import Pace, Subscriber, Wishes


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
        self,
        about: Hashable,
        source: Callable[[], Source],
        wishes: Wishes,
        pace: Pace,
        who: tuple[int, str],
        authorize: Callable[[], None],
    ) -> Subscriber:
        """A new subscriber of the feed about something, which is made of a source if there is none yet."""
        with self._lock:
            if self._closed:
                raise MillpondError(SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, "the pond is closed")
            feed = self._feeds.get(about)
            if feed is None or feed.error is not None:
                made = source()
                if wishes.as_of is not None:
                    made.close()
                    raise no_such_version(wishes.as_of, made.shown)
                feed = self._feeds[about] = Feed(made, self._clock, self._limits, self._retire)
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

    def end_all(self, error: MillpondError) -> None:
        """Give all subscribers that there are now an error."""
        with self._lock:
            feeds = list(self._feeds.values())
        for feed in feeds:
            feed.end(error)

    def close(self) -> None:
        """End all feeds, and return when none of them runs any more."""
        with self._lock:
            self._closed = True
            feeds = list(self._feeds.values())
        for feed in feeds:
            feed.end(MillpondError(SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, "the pond is closed"))
        for feed in feeds:
            feed.join_thread()

    def _retire(self, feed: Feed) -> bool:
        """Forget a feed that has ended or has no subscribers; whether that is so."""
        with self._lock:
            if feed.readers and feed.error is None:
                return False
            self._feeds = {about: one for about, one in self._feeds.items() if one is not feed}
            return True

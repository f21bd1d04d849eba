"""Rows that come by themselves, from a query to its subscribers: all in order, or a word that some are gone."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from millpond.config import Settings
from millpond.run.difference import Key
from millpond.run.feed import Wake
from millpond.run.feeds import Feeds, Subject
from millpond.run.query_rows import QueryRows
from millpond.run.subscriber import Pace, Subscriber, Wishes

KEPT = 3


class Made:
    """A source of rows that a query makes."""

    key: Key | None = None
    is_state = is_behind = False

    def __init__(self) -> None:
        self.rows, self._started = QueryRows(), False

    def look(self) -> pa.Table | None:
        started, self._started = self._started, True
        return None if started else pa.table({"n": pa.array([], pa.int64())})

    def listen(self, wake: Wake) -> Callable[[], None]:
        return self.rows.given.listen(wake)

    def verify(self) -> None:
        pass

    def interrupt(self) -> None:
        pass

    def close(self) -> None:
        pass


STEPS = st.lists(st.sampled_from(["chunk", "lost", "unsure", "read 0", "read 1", "begin 0", "begin 1"]), max_size=40)


@settings(max_examples=60)
@given(STEPS)
def test_a_subscriber_gets_every_committed_chunk_since_it_began_or_is_told(steps: list[str]) -> None:
    """A chunk that is not committed is never seen; one of which the query learns later that it was, once."""
    source = Made()
    feeds = Feeds(Settings.of_pond({"subscription_versions": KEPT}, {}))

    def subscribe() -> Subscriber:
        return feeds.subscribe(Subject("q", "q", lambda: source), Wishes(), Pace(0, 60), (1, "ada"), lambda: None)

    subscribers = [subscribe(), subscribe()]
    expected: list[list[int]] = [[], []]
    chunk = 0
    try:
        for step in [*steps, "chunk", *["read 0", "read 1"] * (KEPT + 2)]:
            if step in ("chunk", "unsure"):
                chunk += 1
                source.rows.hold(chunk, pa.table({"n": [chunk, chunk]}))
                source.rows.tell(chunk)
                source.rows.tell(chunk)
                expected = [[*one, chunk] for one in expected]
            elif step == "lost":
                source.rows.hold(chunk + 1, pa.table({"n": [-1]}))
            elif step.startswith("begin"):
                subscribers[int(step[-1])].close()
                subscribers[int(step[-1])], expected[int(step[-1])] = subscribe(), []
            else:
                expected[int(step[-1])] = after_reading(subscribers[int(step[-1])], expected[int(step[-1])])
        assert expected == [[], []]
    finally:
        feeds.close()


def after_reading(subscriber: Subscriber, expected: list[int]) -> list[int]:
    """Reads the next version, which has to be the next expected chunk, or the oldest that is kept after a word."""
    piece = subscriber.next(0)
    if piece is None:
        return expected
    changes, numbers = piece.column("change").to_pylist(), piece.column(2).to_pylist()
    if changes[0] == "skipped":
        assert len(expected) > KEPT
        expected = expected[-KEPT:]
        changes, numbers = changes[1:], numbers[1:]
    assert (changes, numbers) == (["insert", "insert"], [expected[0]] * 2)
    return expected[1:]

"""Feeds and their subscribers without Spark: what a subscriber applies is always what was there at that version."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millpond.config import Settings
from millpond.errors import MillpondError, SqlState
from millpond.run.difference import Key
from millpond.run.feeds import Feeds, Subject
from millpond.run.history import VersionClock
from millpond.run.subscriber import Pace, Subscriber, Wishes

WAIT_S = 10.0
"""Nothing takes so long."""

State = dict[str | None, float]


class Numbers:
    """A source whose rows a test sets: texts with a number each."""

    key: Key | None = (0,)
    is_state = True
    is_behind = False

    def __init__(self) -> None:
        self.state: State = {}
        self.looks: list[State] = []
        self.error: MillpondError | None = None
        self.gone: MillpondError | None = None
        self.closed = threading.Event()
        self._wake: Callable[[], None] = lambda: None

    def set(self, state: State) -> None:
        self.state = state
        self._wake()

    def look(self) -> pa.Table | None:
        if self.error is not None:
            raise self.error
        state = self.state
        if self.looks and self.looks[-1] == state:
            return None
        self.looks.append(state)
        return pa.table({"k": pa.array(list(state), pa.string()), "n": pa.array(list(state.values()), pa.float64())})

    def listen(self, wake: Callable[[], None]) -> Callable[[], None]:
        self._wake = wake
        return lambda: None

    def verify(self) -> None:
        if self.gone is not None:
            raise self.gone

    def interrupt(self) -> None:
        pass

    def close(self) -> None:
        self.closed.set()


class Client:
    """A subscriber and the rows that it has."""

    def __init__(self, pond: Followed, wishes: Wishes, rows: Counter[tuple[str | None, float]] | None = None) -> None:
        self.subscriber = pond.subscribe(wishes)
        self.rows = rows if rows is not None else Counter()
        self.version = 0
        self.told_of_skips = 0

    def read(self, timeout_s: float = 0.0) -> bool:
        """Apply the next version, if there is one."""
        piece = self.subscriber.next(timeout_s)
        for row in [] if piece is None else piece.to_pylist():
            version, change, *values = row.values()
            assert version >= self.version, "versions go back"
            self.version = version
            if change == "skipped":
                self.told_of_skips += 1
            elif change in ("snapshot", "insert", "update_new"):
                self.rows[tuple(values)] += 1
            elif change in ("delete", "update_old"):
                assert self.rows[tuple(values)] > 0
                self.rows[tuple(values)] -= 1
        return piece is not None

    @property
    def state(self) -> State:
        assert all(count == 1 for count in (+self.rows).values()), "each row is there once"
        return dict((+self.rows).keys())


class Followed:
    """A source and its feed."""

    def __init__(self, **changed: object) -> None:
        self.source = Numbers()
        self.feeds = Feeds(Settings.of_pond(changed, {}))

    def subscribe(self, wishes: Wishes = Wishes(), authorize: Callable[[], None] = lambda: None) -> Subscriber:  # noqa: B008
        subject = Subject("numbers", "numbers", lambda: self.source)
        return self.feeds.subscribe(subject, wishes, Pace(0, 0.05), (1, "ada"), authorize)

    def made(self) -> int:
        """How many versions there were."""
        return len(self.source.looks)


@contextmanager
def followed(**changed: object) -> Iterator[Followed]:
    made = Followed(**changed)
    try:
        yield made
    finally:
        made.feeds.close()


STATES = st.dictionaries(st.sampled_from(["a", "b", "c", None]), st.sampled_from([0.0, -0.0, 1.5]))
STEPS = st.lists(st.one_of(STATES, st.integers(0, 2), st.just("resume")), max_size=25)


@settings(deadline=None, max_examples=60)
@given(STEPS, st.sampled_from([1, 2, 4, 100]))
def test_every_subscriber_has_what_was_there_at_its_version(steps: list[State | int | str], versions: int) -> None:
    with followed(subscription_versions=versions) as pond:
        clients = [Client(pond, Wishes()) for _ in range(3)]
        for step in steps:
            if isinstance(step, dict):
                pond.source.set(step)
            elif isinstance(step, int):
                before = clients[step].told_of_skips
                if clients[step].read(0.001) and before == clients[step].told_of_skips:
                    assert clients[step].state in pond.source.looks
            else:
                clients[2] = resumed(pond, clients[2])
        pond.source.set({"end": 1.0})
        for client in clients:
            while client.state != {"end": 1.0}:
                assert client.read(WAIT_S)
                assert client.state in pond.source.looks
            if versions > len(steps) + 1:
                assert not client.told_of_skips


def resumed(pond: Followed, client: Client) -> Client:
    """The client after it left and came back with what it had, or began anew if that is gone."""
    client.subscriber.close()
    try:
        return Client(pond, Wishes(as_of=client.version), client.rows)
    except MillpondError as error:
        if error.sqlstate is not SqlState.VERSION_NOT_RETAINED:
            raise
    return Client(pond, Wishes())


def test_one_who_keeps_up_gets_each_version_and_a_stuck_one_is_told() -> None:
    with followed(subscription_versions=3) as pond:
        quick, stuck = Client(pond, Wishes()), Client(pond, Wishes())
        stuck.subscriber.next(0)
        for number in range(10):
            pond.source.set({"a": float(number)})
            assert quick.read(WAIT_S)
            assert quick.state == {"a": float(number)}
        assert (quick.told_of_skips, quick.subscriber.skipped, quick.subscriber.lag) == (0, 0, 0)
        assert stuck.subscriber.lag == 10
        assert stuck.read()
        assert stuck.state == {"a": 9.0}
        assert (stuck.told_of_skips, stuck.subscriber.skipped, stuck.subscriber.lag) == (1, 9, 0)


def test_nothing_is_computed_that_nobody_would_get() -> None:
    with followed() as pond:
        client = Client(pond, Wishes())
        client.read()
        for number in range(5):
            pond.source.set({"a": float(number)})
            time.sleep(0.02)
        assert pond.made() == 2
        assert client.read(WAIT_S)
        assert client.read(WAIT_S)
        assert client.state == {"a": 4.0}
        assert pond.made() == 3


def test_every_folds_versions_without_a_word() -> None:
    with followed() as pond:
        quick, slow = Client(pond, Wishes()), Client(pond, Wishes(every_s=0.1))
        slow.read()
        pond.source.set({"first": 1.0})
        assert slow.read(WAIT_S)
        started = time.monotonic()
        for number in range(5):
            pond.source.set({"a": float(number)})
            quick.read(WAIT_S)
        assert slow.read(WAIT_S)
        assert slow.state == {"a": 4.0}
        assert time.monotonic() - started >= 0.08
        assert slow.told_of_skips == 0


def test_progress_marks_the_end_of_a_version_and_that_nothing_changed() -> None:
    with followed() as pond:
        pond.source.set({"a": 1.0})
        subscriber = pond.subscribe(Wishes(progress=True))
        first, second, third = (subscriber.next(WAIT_S) for _ in range(3))
        assert first is not None
        assert second is not None
        assert third is not None
        assert first.column("change").to_pylist() == ["snapshot", "progress"]
        assert [second.to_pylist()[0]["change"], third.to_pylist()[0]["c0"]] == ["progress", None]
        numbers = [piece.column("version")[-1].as_py() for piece in (first, second, third)]
        assert numbers == sorted(set(numbers))
        pond.source.set({"a": 2.0})
        again = Client(pond, Wishes(as_of=numbers[-1]))
        assert again.subscriber.last is not None
        assert again.subscriber.last.number == numbers[0]


def test_versions_stay_for_a_while() -> None:
    with followed(subscription_retention="300ms") as pond:
        pond.source.set({"a": 1.0})
        client = Client(pond, Wishes())
        assert client.read()
        client.subscriber.close()
        pond.source.set({"a": 2.0})
        back = Client(pond, Wishes(as_of=client.version), client.rows)
        assert back.read(WAIT_S)
        assert back.state == {"a": 2.0}
        back.subscriber.close()
        assert pond.source.closed.wait(WAIT_S)
        with pytest.raises(MillpondError) as caught:
            pond.subscribe(Wishes(as_of=back.version))
        assert caught.value.sqlstate is SqlState.VERSION_NOT_RETAINED


@pytest.mark.parametrize("number", [1, 1 << 62])
def test_versions_that_were_never_given_out(number: int) -> None:
    with followed() as pond:
        pond.subscribe()
        with pytest.raises(MillpondError, match=f"version {number} of numbers is not retained"):
            pond.subscribe(Wishes(as_of=number))


def test_without_a_snapshot_changes_come_at_once() -> None:
    with followed() as pond:
        pond.source.set({"a": 1.0})
        subscriber = pond.subscribe(Wishes(snapshot=False))
        assert subscriber.next(0.05) is None
        pond.source.set({"a": 1.0, "b": 2.0})
        piece = subscriber.next(WAIT_S)
        assert piece is not None
        assert [tuple(row.values())[1:] for row in piece.to_pylist()] == [("insert", "b", 2.0)]


def test_an_error_reaches_all_and_a_new_feed_begins() -> None:
    with followed() as pond:
        subscribers = [pond.subscribe() for _ in range(2)]
        for subscriber in subscribers:
            subscriber.take()
        pond.source.error = MillpondError(SqlState.DIVISION_BY_ZERO, "division by zero")
        pond.source.set({"a": 1.0})
        for subscriber in subscribers:
            with pytest.raises(MillpondError, match="division by zero"):
                subscriber.next(WAIT_S)
        pond.source.error = None
        client = Client(pond, Wishes())
        assert client.read(WAIT_S)
        assert client.state == {"a": 1.0}


def test_what_is_gone_ends_it_also_while_nobody_reads() -> None:
    with followed() as pond:
        stuck, left = pond.subscribe(), pond.subscribe()
        left.close()
        pond.source.gone = MillpondError(SqlState.UNDEFINED_TABLE, "dropped")
        pond.source.set({"a": 1.0})
        assert pond.source.closed.wait(WAIT_S)
        with pytest.raises(MillpondError, match="dropped"):
            stuck.take()


def test_rights_are_asked_for_again() -> None:
    def refuse() -> None:
        raise MillpondError(SqlState.INSUFFICIENT_PRIVILEGE, "permission denied")

    with followed() as pond:
        subscriber = pond.subscribe(authorize=refuse)
        with pytest.raises(MillpondError, match="permission denied"):
            subscriber.next(WAIT_S)


def test_closing_wakes_whoever_waits() -> None:
    with followed() as pond:
        waiting, other = pond.subscribe(), pond.subscribe()
        errors: list[MillpondError] = []

        def wait(subscriber: Subscriber) -> None:
            with pytest.raises(MillpondError) as caught:
                subscriber.next(WAIT_S)
            errors.append(caught.value)

        threads = [threading.Thread(target=wait, args=[one]) for one in (waiting, other)]
        for thread in threads:
            thread.start()
        waiting.close()
        threads[0].join()
        pond.feeds.close()
        threads[1].join()
        assert [error.message for error in errors] == ["the subscription is closed", "the pond is closed"]
        with pytest.raises(MillpondError, match="the pond is closed"):
            pond.subscribe()


def test_an_answer_has_to_fit() -> None:
    with followed(subscription_bytes=100) as pond:
        pond.source.set({f"key {number}": 1.0 for number in range(100)})
        with pytest.raises(MillpondError) as caught:
            pond.subscribe()
        assert caught.value.sqlstate is SqlState.PROGRAM_LIMIT_EXCEEDED


def test_versions_grow_whatever_the_clock_does() -> None:
    times = iter([10, 10, 5, 20])
    clock = VersionClock(lambda: next(times))
    assert [clock.next() for _ in range(4)] == [10, 11, 12, 20]

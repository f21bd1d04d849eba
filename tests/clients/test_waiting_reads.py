"""Readers who wait for the same answer of a view: one computes, all get it; and what may happen to those who wait."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import pytest

from millpond.run.view import ContinuousView
from millpond.server import encoded_answers
from millpond.server.waiting_reads import Reader, WaitingReads
from millpond.wire.backend import NotificationResponse, ReadyForQuery
from millpond.wire.frontend import Bind, Describe, Execute, Parse, Query, Sync
from millpond.wire.message import Message
from millpond.wire.startup import CancelRequest
from tests.clients.conftest import Served
from tests.clients.raw_client import RawClient, errors, names

READ = "SELECT * FROM counted"
PREPARED = (Bind("", "read"), Describe(b"P"), Execute(), Sync())
WAIT_S = 30.0


@dataclass
class Crowd:
    """A server with a view, whose next answer nobody gets while it is `held`."""

    served: Served
    view: ContinuousView
    waits: queue.Queue[int]

    @contextmanager
    def held(self) -> Iterator[None]:
        """The answer is out of date, and who computes a new one has to wait."""
        self.served.pond.execute("INSERT INTO arriving VALUES (1)")
        with self.view.lock:
            yield

    def ask(self, client: RawClient, *messages: Message) -> None:
        """Send a read and go on when the server has it wait."""
        client.send(*messages or (Query(READ),))
        self.waits.get(timeout=WAIT_S)


@pytest.fixture
def crowd(server: Served, monkeypatch: pytest.MonkeyPatch) -> Crowd:
    pond = server.pond
    pond.execute("CREATE STREAM arriving (a int)")
    pond.execute("CREATE VIEW counted AS SELECT count(*) AS n FROM arriving")
    pond.execute(READ)
    with RawClient.started(server.port) as client:
        client.query(READ)  # from now on the server knows the query
    waits: queue.Queue[int] = queue.Queue()
    wait = WaitingReads.wait

    def noted(self: WaitingReads, view: int, reader: Reader) -> None:
        wait(self, view, reader)
        waits.put(view)

    monkeypatch.setattr(WaitingReads, "wait", noted)
    (view,) = pond.services.views.all()
    return Crowd(server, view, waits)


@pytest.fixture
def clients(crowd: Crowd) -> Iterator[list[RawClient]]:
    """The first is the one who computes."""
    with ExitStack() as stack:
        yield [stack.enter_context(RawClient.started(crowd.served.port)) for _ in range(4)]


def counted(monkeypatch: pytest.MonkeyPatch, owner: object, name: str) -> list[str]:
    """Notes the calls of a function."""
    calls: list[str] = []
    function: Callable[..., object] = getattr(owner, name)

    def noted(*arguments: object) -> object:
        calls.append(threading.current_thread().name)
        return function(*arguments)

    monkeypatch.setattr(owner, name, noted)
    return calls


def test_all_who_wait_get_one_answer_encoded_once(
    crowd: Crowd, clients: list[RawClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    for client in clients:
        client.send(Parse("read", READ), Sync())
        client.until(ReadyForQuery)
    computed = counted(monkeypatch, ContinuousView, "_computed")
    encoded = counted(monkeypatch, encoded_answers, "encode_rows")
    with crowd.held():
        for client in clients:
            crowd.ask(client, *PREPARED)
    answers = [client.until(ReadyForQuery) for client in clients]
    assert all(answer == answers[0] for answer in answers)
    assert names(answers[0]) == ["BindComplete", "RowDescription", "DataRow", "CommandComplete", "ReadyForQuery"]
    assert (len(computed), len(encoded)) == (1, 1)


def test_each_of_many_reads_in_a_row_is_answered(crowd: Crowd, clients: list[RawClient]) -> None:
    with crowd.held():
        crowd.ask(clients[0])
        crowd.ask(clients[1], *[Query(READ)] * 3)
    answers = [clients[1].until(ReadyForQuery) for _ in range(3)]
    assert [errors(answer) for answer in answers] == [[]] * 3
    assert answers[0] == answers[1] == answers[2]


def test_one_who_waits_can_be_canceled(crowd: Crowd, clients: list[RawClient]) -> None:
    first, second, *_ = clients
    assert second.key is not None
    with crowd.held():
        crowd.ask(first)
        crowd.ask(second, Query(READ), Query("SELECT 1"))
        with RawClient(crowd.served.port) as canceling:
            canceling.socket.sendall(CancelRequest(second.key.process, second.key.secret).encode())
        assert errors(second.until(ReadyForQuery)) == ["57014"]
        assert errors(second.until(ReadyForQuery)) == []
    assert errors(first.until(ReadyForQuery)) == []


def canceled(crowd: Crowd, client: RawClient) -> list[Message]:
    """What a client gets whose statement is canceled, however often it takes: what has not begun cannot be."""
    assert client.key is not None
    client.socket.settimeout(1)
    deadline = time.monotonic() + WAIT_S
    while True:
        with RawClient(crowd.served.port) as canceling:
            canceling.socket.sendall(CancelRequest(client.key.process, client.key.secret).encode())
        try:
            return client.until(ReadyForQuery)
        except TimeoutError:
            assert time.monotonic() < deadline


def test_the_one_who_computes_can_be_canceled_and_the_others_go_on(crowd: Crowd, clients: list[RawClient]) -> None:
    first, *others = clients
    with crowd.held():
        for client in clients:
            crowd.ask(client)
        assert errors(canceled(crowd, first)) == ["57014"]
    assert [errors(other.until(ReadyForQuery)) for other in others] == [[], [], []]


def test_others_go_on_when_one_leaves(crowd: Crowd, clients: list[RawClient]) -> None:
    first, second, third, fourth = clients
    with crowd.held():
        for client in clients:
            crowd.ask(client)
        first.socket.close()
        second.socket.close()
    assert [errors(client.until(ReadyForQuery)) for client in (third, fourth)] == [[], []]


def test_limits_of_time_hold_for_one_who_waits(crowd: Crowd, clients: list[RawClient]) -> None:
    first, second, *_ = clients
    second.query("SET statement_timeout = 200")
    with crowd.held():
        crowd.ask(first)
        assert errors(second.query(READ)) == ["57014"]
    assert errors(first.until(ReadyForQuery)) == []


def test_one_who_waits_for_an_answer_is_not_idle(crowd: Crowd, clients: list[RawClient]) -> None:
    first, second, *_ = clients
    second.query("SET idle_session_timeout = 200")
    with crowd.held():
        crowd.ask(first)
        crowd.ask(second)
        second.socket.settimeout(0.5)
        with pytest.raises(TimeoutError):
            second.receive()
        second.socket.settimeout(WAIT_S)
    assert errors(second.until(ReadyForQuery)) == []


def test_notifications_come_after_the_answer(crowd: Crowd, clients: list[RawClient]) -> None:
    first, second, third, _ = clients
    second.query("LISTEN news")
    with crowd.held():
        crowd.ask(first)
        crowd.ask(second)
        third.query("NOTIFY news, 'x'")
    answer = second.until(ReadyForQuery)
    assert errors(answer) == []
    heard = [*answer, *([] if "NotificationResponse" in names(answer) else [second.receive()])]
    assert [message for message in heard if isinstance(message, NotificationResponse)]

"""The protocol message by message: what is sent, in which order, and what is refused."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Iterator

import pytest

from millpond.wire.backend import (
    CommandComplete,
    DataRow,
    NegotiateProtocolVersion,
    ParameterDescription,
    ReadyForQuery,
    RowDescription,
)
from millpond.wire.frontend import (
    Bind,
    Close,
    CopyData,
    CopyDone,
    CopyFail,
    Describe,
    Execute,
    Flush,
    Parse,
    Query,
    Sync,
    Terminate,
)
from millpond.wire.message import Message
from millpond.wire.startup import PROTOCOL_3_2, CancelRequest, GssEncRequest, SslRequest, Startup
from tests.clients.conftest import Served
from tests.clients.raw_client import RawClient, errors, names

ENDLESS = "SELECT count(*) FROM generate_series(1, 3000000) a, generate_series(1, 3000000) b"


@pytest.fixture
def client(shared_server: Served) -> Iterator[RawClient]:
    with RawClient.started(shared_server.port) as opened:
        yield opened


def tags(messages: list[Message]) -> list[str]:
    return [message.tag for message in messages if isinstance(message, CommandComplete)]


def rows(messages: list[Message]) -> list[tuple[bytes | None, ...]]:
    return [message.values for message in messages if isinstance(message, DataRow)]


def status(messages: list[Message]) -> bytes:
    ready = messages[-1]
    assert isinstance(ready, ReadyForQuery)
    return ready.status


# -- the start -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("version", "secret_bytes"), [(3 << 16, 4), (PROTOCOL_3_2, 32)])
def test_both_protocols_start(shared_server: Served, version: int, secret_bytes: int) -> None:
    with RawClient.started(shared_server.port, version) as client:
        assert client.key is not None
        assert len(client.key.secret) == secret_bytes


def test_newer_protocols_are_negotiated(shared_server: Served) -> None:
    with RawClient(shared_server.port) as client:
        parameters = {"user": "tester", "database": "pond", "_pq_.feature": "on"}
        client.socket.sendall(Startup((3 << 16) + 9999, parameters).encode())
        messages = client.until(ReadyForQuery)
    assert messages[0] == NegotiateProtocolVersion(PROTOCOL_3_2, ("_pq_.feature",))


def test_encryption_is_declined_without_a_certificate(shared_server: Served) -> None:
    with RawClient(shared_server.port) as client:
        for request in (GssEncRequest(), SslRequest()):
            client.socket.sendall(request.encode())
            assert client.socket.recv(1) == b"N"
        client.socket.sendall(Startup(parameters={"user": "tester", "database": "pond"}).encode())
        assert names(client.until(ReadyForQuery))[-1] == "ReadyForQuery"


@pytest.mark.parametrize(
    ("parameters", "sqlstate"),
    [
        ({}, "28000"),
        ({"user": "tester"}, "3D000"),
        ({"user": "tester", "database": "other"}, "3D000"),
        ({"user": "tester", "database": "pond", "nothing": "1"}, "42704"),
        ({"user": "tester", "database": "pond", "replication": "true"}, "0A000"),
        ({"user": "tester", "database": "pond", "options": "-c statement_timeout=soon"}, "22023"),
    ],
)
def test_what_cannot_start_is_told_why(shared_server: Served, parameters: dict[str, str], sqlstate: str) -> None:
    with RawClient(shared_server.port) as client:
        client.socket.sendall(Startup(parameters=parameters).encode())
        assert errors(client.until()) == [sqlstate]


def test_options_set_settings(shared_server: Served) -> None:
    with RawClient.started(shared_server.port, options="-c statement_timeout=7s") as client:
        assert rows(client.query("SHOW statement_timeout")) == [(b"7s",)]


# -- simple queries --------------------------------------------------------------------------------------------------


def test_several_statements_are_one_transaction(client: RawClient) -> None:
    made = client.query("CREATE TABLE several (a int); INSERT INTO several VALUES (1), (2); SELECT * FROM several")
    assert tags(made) == ["CREATE TABLE", "INSERT 0 2", "SELECT 2"]
    failed = client.query("INSERT INTO several VALUES (3); SELECT 1/0; INSERT INTO several VALUES (4)")
    assert (tags(failed), errors(failed), status(failed)) == (["INSERT 0 1"], ["22012"], b"I")
    begun = client.query("INSERT INTO several VALUES (7); BEGIN; DELETE FROM several WHERE a = 7; COMMIT")
    assert (names(begun).count("NoticeResponse"), status(begun)) == (0, b"I")
    mixed = client.query("BEGIN; INSERT INTO several VALUES (5); COMMIT; INSERT INTO several VALUES (6); SELECT nope")
    assert errors(mixed) == ["42703"]
    assert rows(client.query("SELECT a FROM several ORDER BY a")) == [(b"1",), (b"2",), (b"5",)]


def test_a_syntax_error_anywhere_runs_nothing(client: RawClient) -> None:
    failed = client.query("CREATE TABLE never (a int); SELEC 1")
    assert (tags(failed), errors(failed)) == ([], ["42601"])
    assert [message.report["P"] for message in failed if hasattr(message, "report")] == ["29"]
    assert errors(client.query("SELECT * FROM never")) == ["42P01"]


def test_texts_without_a_statement(client: RawClient) -> None:
    assert names(client.query(" ; -- nothing\n")) == ["EmptyQueryResponse", "ReadyForQuery"]


def test_positions_count_in_the_whole_text(client: RawClient) -> None:
    messages = client.query("SELECT 1; SELECT nope")
    assert [message.report["P"] for message in messages if hasattr(message, "report")] == ["18"]


# -- extended queries ------------------------------------------------------------------------------------------------


def test_a_statement_is_parsed_bound_described_and_executed(client: RawClient) -> None:
    messages = client.exchange(
        Parse("", "SELECT $1::int + 1 AS n, $2 AS t"),
        Describe(b"S"),
        Bind("", "", (0, 0), (b"41", b"x"), (1, 0)),
        Describe(b"P"),
        Execute(),
        Sync(),
    )
    assert names(messages) == [
        *("ParseComplete", "ParameterDescription", "RowDescription", "BindComplete", "RowDescription"),
        *("DataRow", "CommandComplete", "ReadyForQuery"),
    ]
    assert messages[1] == ParameterDescription((23, 25))
    assert rows(messages) == [((42).to_bytes(4, "big"), b"x")]
    described = messages[4]
    assert isinstance(described, RowDescription)
    assert [(column.name, column.type, column.format) for column in described.columns] == [("n", 23, 1), ("t", 25, 0)]


def test_portals_return_some_rows_at_a_time(client: RawClient) -> None:
    client.query("BEGIN")
    opened = client.exchange(
        Parse("s", "SELECT i FROM generate_series(1, 7) t(i) ORDER BY i"), Bind("p", "s"), Execute("p", 3), Sync()
    )
    assert (len(rows(opened)), names(opened)[-2:], status(opened)) == (3, ["PortalSuspended", "ReadyForQuery"], b"T")
    assert rows(client.exchange(Execute("p", 3), Sync())) == [(b"4",), (b"5",), (b"6",)]
    last = client.exchange(Execute("p", 3), Sync())
    assert (rows(last), tags(last)) == ([(b"7",)], ["SELECT 1"])
    assert tags(client.exchange(Execute("p"), Sync())) == ["SELECT 0"]
    client.query("COMMIT")
    assert errors(client.exchange(Execute("p"), Sync())) == ["34000"]


def test_a_statement_without_rows_is_executed_once(client: RawClient) -> None:
    client.query("CREATE TABLE once (a int)")
    insert = Parse("", "INSERT INTO once VALUES (1)")
    messages = client.exchange(insert, Bind("", ""), Execute(), Execute(), Sync())
    assert (tags(messages), errors(messages)) == (["INSERT 0 1"], ["55000"])


def test_columns_are_described_as_they_are(client: RawClient) -> None:
    client.query("CREATE TABLE growing (a int)")
    client.exchange(Parse("g", "SELECT * FROM growing WHERE a = $1"), Describe(b"S", "g"), Sync())
    client.query("ALTER TABLE growing ADD COLUMN b text")
    described = client.exchange(Describe(b"S", "g"), Sync())
    assert described[0] == ParameterDescription((23,))
    assert [len(message.columns) for message in described if isinstance(message, RowDescription)] == [2]


def test_a_failure_skips_up_to_sync(client: RawClient) -> None:
    messages = client.exchange(Parse("", "SELECT 1/0"), Bind("", ""), Execute(), Parse("", "SELECT 1"), Sync())
    assert names(messages)[-2:] == ["ErrorResponse", "ReadyForQuery"]
    assert errors(messages) == ["22012"]
    assert names(messages).count("ParseComplete") == 1


def test_a_pipeline_is_one_transaction(client: RawClient) -> None:
    client.query("CREATE TABLE pipeline (a int)")
    insert = Parse("insert", "INSERT INTO pipeline VALUES ($1)", (23,))
    bound = [Bind("", "insert", (1,), (number.to_bytes(4, "big"),)) for number in range(3)]
    pairs = [message for one in bound for message in (one, Execute())]
    failed = client.exchange(insert, *pairs, Parse("", "SELECT 1/0"), Bind("", ""), Execute(), Sync())
    assert (tags(failed), errors(failed)) == (["INSERT 0 1"] * 3, ["22012"])
    assert tags(client.exchange(*pairs, Sync())) == ["INSERT 0 1"] * 3
    assert rows(client.query("SELECT count(*) FROM pipeline")) == [(b"3",)]


def test_flush_sends_what_there_is(client: RawClient) -> None:
    client.send(Parse("f", "SELECT 1"), Flush())
    assert names([message for message in [client.receive()] if message]) == ["ParseComplete"]
    assert names(client.exchange(Close(b"S", "f"), Sync())) == ["CloseComplete", "ReadyForQuery"]


@pytest.mark.parametrize(
    ("messages", "sqlstate"),
    [
        ([Parse("", "SELECT 1; SELECT 2")], "42601"),
        ([Parse("", "SELEC 1")], "42601"),
        ([Bind("", "missing")], "26000"),
        ([Execute("missing")], "34000"),
        ([Describe(b"S", "missing")], "26000"),
        ([Describe(b"P", "missing")], "34000"),
        ([Parse("", "SELECT $1"), Bind("", "")], "08P01"),
        ([Parse("", "SELECT 1", ()), Bind("", "", (), (), (0, 0, 0)), Describe(b"P")], "08P01"),
        ([Parse("", "SELECT $1::int"), Bind("", "", (1,), (b"\0",))], "22P03"),
        ([Parse("", "SELECT $1::int"), Bind("", "", (0,), (b"x",)), Execute()], "22P02"),
        ([Parse("", "SELECT $1", (23,)), Bind("", "", (0,), (b"\xff",))], "22021"),
        ([Parse("", "SELECT $1", (600,))], "0A000"),
    ],
)
def test_wrong_messages_are_answered_with_an_error(
    shared_server: Served, messages: list[Message], sqlstate: str
) -> None:
    with RawClient.started(shared_server.port) as client:
        assert errors(client.exchange(*messages, Sync())) == [sqlstate]


def test_an_empty_statement_can_be_prepared(client: RawClient) -> None:
    messages = client.exchange(Parse("", ""), Describe(b"S"), Bind("", ""), Execute(), Sync())
    assert names(messages) == [
        *("ParseComplete", "ParameterDescription", "NoData", "BindComplete", "EmptyQueryResponse", "ReadyForQuery"),
    ]


def test_inserts_of_a_pipeline_are_answered_one_by_one(client: RawClient) -> None:
    """They run together; a row that fails takes the others with it, as their transaction would."""
    client.query("CREATE TABLE together (a int NOT NULL, b text)")
    prepared = Parse("i", "INSERT INTO together VALUES ($1,$2)", (23, 0))
    good = [Bind("", "i", (), (b"%d" % number, b"it's")) for number in range(5)]
    answered = client.exchange(prepared, *(m for one in good for m in (one, Describe(b"P"), Execute())), Sync())
    assert names(answered)[1:] == ["BindComplete", "NoData", "CommandComplete"] * 5 + ["ReadyForQuery"]
    assert tags(answered) == ["INSERT 0 1"] * 5
    bad = [*good, Bind("", "i", (), (None, b"x"))]
    failed = client.exchange(*(message for one in bad for message in (one, Execute())), Sync())
    assert (errors(failed), status(failed)) == (["23502"], b"I")
    assert rows(client.query("SELECT count(*), min(b) FROM together")) == [(b"5", b"it's")]


def test_prepared_statements_may_be_forgotten(client: RawClient) -> None:
    client.exchange(Parse("a", "SELECT 1"), Parse("b", "SELECT 1"), Parse("c", "SELECT 1"), Sync())
    assert tags(client.query("DEALLOCATE a")) == ["DEALLOCATE"]
    assert errors(client.query("DEALLOCATE PREPARE a")) == ["26000"]
    assert errors(client.exchange(Bind("", "b"), Sync())) == []
    assert errors(client.query("SET application_name = x; DISCARD ALL")) == ["25001"]
    assert tags(client.query("DISCARD ALL")) == ["DISCARD ALL"]
    assert errors(client.exchange(Bind("", "b"), Sync())) == ["26000"]


# -- COPY ------------------------------------------------------------------------------------------------------------


def test_copy_data_may_be_cut_anywhere(client: RawClient) -> None:
    client.query("CREATE TABLE cut (a int, b text)")
    client.send(Query("COPY cut FROM STDIN CSV"))
    assert names([message for message in [client.receive()] if message]) == ["CopyInResponse"]
    data = b'1,"x\ny"\n2,z\n'
    client.send(*(CopyData(data[at : at + 1]) for at in range(len(data))), Flush(), Sync(), CopyDone())
    assert tags(client.until(ReadyForQuery)) == ["COPY 2"]
    copied = client.query("COPY (SELECT * FROM cut ORDER BY a) TO STDOUT CSV")
    assert [message.data for message in copied if isinstance(message, CopyData)] == [b'1,"x\ny"\n', b"2,z\n"]
    assert names(copied)[0] == "CopyOutResponse"


def test_copy_may_fail_on_either_side(client: RawClient) -> None:
    client.query("CREATE TABLE failing (a int)")
    client.send(Query("COPY failing FROM STDIN"), CopyData(b"1\n"), CopyFail("changed my mind"))
    assert errors(client.until(ReadyForQuery)) == ["57014"]
    client.send(Query("COPY failing FROM STDIN"), CopyData(b"x\n"), CopyData(b"2\n"), CopyDone())
    assert errors(client.until(ReadyForQuery)) == ["22P02"]
    assert rows(client.query("SELECT count(*) FROM failing")) == [(b"0",)]


@pytest.mark.parametrize("text", ["COPY millpond_settings TO '/tmp/x'", "COPY t FROM '/etc/passwd'"])
def test_files_of_the_server_are_out_of_reach(client: RawClient, text: str) -> None:
    client.query("CREATE TABLE IF NOT EXISTS t (a text)")
    assert errors(client.query(text)) == ["42501"]


# -- cancel, limits, ends --------------------------------------------------------------------------------------------


def cancel(port: int, request: CancelRequest) -> None:
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(request.encode())
        assert connection.recv(1) == b""


def test_only_the_right_key_cancels(shared_server: Served, client: RawClient) -> None:
    assert client.key is not None
    client.send(Query(ENDLESS))
    time.sleep(1)
    cancel(shared_server.port, CancelRequest(client.key.process, b"\0\0\0\0"))
    client.socket.settimeout(1)
    with pytest.raises(TimeoutError):
        client.receive()
    client.socket.settimeout(30)
    started = time.monotonic()
    cancel(shared_server.port, CancelRequest(client.key.process, client.key.secret))
    assert errors(client.until(ReadyForQuery)) == ["57014"]
    assert time.monotonic() - started < 2


def test_cancel_reaches_a_copy_that_waits(shared_server: Served, client: RawClient) -> None:
    client.query("CREATE TABLE waiting (a int)")
    client.send(Query("COPY waiting FROM STDIN"))
    client.receive()
    assert client.key is not None
    cancel(shared_server.port, CancelRequest(client.key.process, client.key.secret))
    assert errors(client.until(ReadyForQuery)) == ["57014"]


@pytest.mark.parametrize(
    "data",
    [b"Q\0\0\0\0", b"Q\xff\xff\xff\xff", b"Q\x7f\xff\xff\xff", b"?\0\0\0\4", b"S\0\0\0\5x", b"p\0\0\0\4"],
)
def test_what_cannot_be_read_ends_the_connection(shared_server: Served, data: bytes) -> None:
    with RawClient.started(shared_server.port) as client:
        client.socket.sendall(data)
        assert errors(client.until()) == ["08P01"]


def test_strangers_may_send_little(shared_server: Served) -> None:
    with RawClient(shared_server.port) as client:
        client.socket.sendall(struct.pack("!i", 10_001))
        assert errors(client.until()) == ["08P01"]


def test_terminate_ends_the_connection(client: RawClient) -> None:
    client.send(Terminate())
    assert client.receive() is None


def test_a_slow_client_holds_up_only_itself(shared_server: Served) -> None:
    """One client asks for much and reads nothing; another is served meanwhile, and the first then gets it all."""
    with RawClient.started(shared_server.port) as slow, RawClient.started(shared_server.port) as quick:
        slow.send(Query("SELECT i, repeat('x', 100) FROM generate_series(1, 200000) t(i)"))
        time.sleep(3)
        started = time.monotonic()
        assert rows(quick.query("SELECT 1")) == [(b"1",)]
        assert time.monotonic() - started < 5
        assert len(rows(slow.until(ReadyForQuery))) == 200_000


def test_a_client_that_leaves_frees_its_statement(shared_server: Served) -> None:
    before = threading.active_count()
    with RawClient.started(shared_server.port) as client:
        client.send(Query(ENDLESS))
        time.sleep(1)
    session_tags = shared_server.pond.services.runner.session.sparkContext.statusTracker()
    deadline = time.monotonic() + 10
    while session_tags.getActiveJobsIds() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert session_tags.getActiveJobsIds() == []
    assert threading.active_count() <= before + 3

"""Reads of a view that has not changed are answered at once; they are as strict as all others."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from millpond.server.dialogue import AT_ONCE_MAX
from millpond.wire.backend import DataRow, ReadyForQuery
from millpond.wire.frontend import Bind, Describe, Execute, Parse, Query, Sync
from tests.clients.conftest import Served
from tests.clients.raw_client import RawClient, errors, names

READ = "SELECT * FROM counted"


@pytest.fixture
def counted(server: Served) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """A connection to a server with a stream and a view that counts it."""
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE STREAM arriving (a int)")
        connection.execute("CREATE VIEW counted AS SELECT count(*) AS n, sum(a) AS total FROM arriving")
        yield connection


def read(connection: psycopg.Connection[tuple[object, ...]], *, prepare: bool = False) -> list[tuple[object, ...]]:
    return connection.execute(READ, prepare=prepare).fetchall()


def test_every_read_has_what_came_before_it(counted: psycopg.Connection[tuple[object, ...]]) -> None:
    for number in range(1, 4):
        counted.execute("INSERT INTO arriving VALUES (1)")
        for prepare in (False, True, True):
            assert read(counted, prepare=prepare) == [(number, number)]


def test_a_view_of_the_same_name_is_another_view(counted: psycopg.Connection[tuple[object, ...]]) -> None:
    assert [read(counted, prepare=True) for _ in range(3)] == [[(0, None)]] * 3
    counted.execute("DROP VIEW counted")
    with pytest.raises(psycopg.errors.UndefinedTable):
        read(counted, prepare=True)
    counted.execute("CREATE VIEW counted AS SELECT max(a) AS top FROM arriving")
    assert [read(counted, prepare=False) for _ in range(3)] == [[(None,)]] * 3


def test_simple_and_extended_queries_get_the_same_messages_again(
    counted: psycopg.Connection[tuple[object, ...]], server: Served
) -> None:
    pipeline = (Parse("", READ), Bind("", "", (), (), (1,)), Describe(b"P"), Execute(), Sync())
    with RawClient.started(server.port) as client:
        first = [client.query(READ), client.exchange(*pipeline)]
        again = [client.query(READ), client.exchange(*pipeline)]
    assert again == first
    assert names(again[0]) == ["RowDescription", "DataRow", "CommandComplete", "ReadyForQuery"]


def test_many_reads_in_one_go_are_all_answered_in_order(
    counted: psycopg.Connection[tuple[object, ...]], server: Served
) -> None:
    """More than the event loop takes at a time, among statements that it does not take at all."""
    reads = AT_ONCE_MAX * 3
    with RawClient.started(server.port) as client:
        client.query(READ)
        client.send(*[Query(READ)] * reads, Query("SELECT nope"), *[Query(READ)] * reads)
        answers = [client.until(ReadyForQuery) for _ in range(2 * reads + 1)]
    assert [errors(answer) for answer in answers] == [[]] * reads + [["42703"]] + [[]] * reads
    assert all(isinstance(answer[1], DataRow) for answer in answers if not errors(answer))


def test_a_failed_transaction_reads_nothing(counted: psycopg.Connection[tuple[object, ...]], server: Served) -> None:
    with RawClient.started(server.port) as client:
        assert [errors(client.query(READ)) for _ in range(2)] == [[], []]
        client.query("BEGIN; SELECT nope")
        assert errors(client.query(READ)) == ["25P02"]
        client.query("ROLLBACK")
        assert errors(client.query(READ)) == []


def test_a_fatal_mistake_ends_the_connection(counted: psycopg.Connection[tuple[object, ...]], server: Served) -> None:
    with RawClient.started(server.port) as client:
        client.query(READ)
        client.send(Parse("", READ), Bind("", "", (0, 0)))
        assert errors(client.until()) == ["08P01"]

"""The shell's backend for servers, on a PostgreSQL server."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator

import pytest

from millpond.shell import describe
from millpond.shell.backend import AnswerColumn, Notice, StatementError
from millpond.shell.postgres import PostgresBackend


@pytest.fixture
def backend(postgres: str) -> Iterator[PostgresBackend]:
    made = PostgresBackend(postgres)
    made.execute("DROP TABLE IF EXISTS part")
    made.execute("CREATE TABLE part (id int PRIMARY KEY, name varchar(20), price numeric(6,2), sold boolean)")
    yield made
    made.close()


def test_rows_come_as_text(backend: PostgresBackend) -> None:
    backend.execute("INSERT INTO part VALUES (1, 'Wheel', 99.5, true), (2, NULL, NULL, false)")
    answer = backend.execute("SELECT * FROM part ORDER BY id")
    assert answer.tag == "SELECT 2"
    assert answer.columns == (
        AnswerColumn("id", "number"),
        AnswerColumn("name"),
        AnswerColumn("price", "number"),
        AnswerColumn("sold", "boolean"),
    )
    assert answer.rows == [["1", "Wheel", "99.50", "t"], ["2", None, None, "f"]]


def test_an_error_keeps_its_fields(backend: PostgresBackend) -> None:
    with pytest.raises(StatementError) as caught:
        backend.execute("SELECT nme FROM part")
    assert (caught.value.sqlstate, caught.value.position) == ("42703", 8)
    assert caught.value.hint


def test_a_percent_sign_is_no_parameter(backend: PostgresBackend) -> None:
    assert backend.execute("SELECT 7 % 4, '%s'").rows == [["3", "%s"]]


def test_copy_in_and_out(backend: PostgresBackend) -> None:
    seen: list[tuple[int, int]] = []
    source = io.BytesIO(b"1,Wheel,1.00,t\n2,Seat,2.00,f\n")
    copied = backend.execute("COPY part FROM STDIN CSV", stdin=source, progress=lambda *now: seen.append(now))
    assert copied.tag == "COPY 2"
    assert seen == [(2, 29)]
    target = io.BytesIO()
    assert backend.execute("COPY part TO STDOUT CSV", stdout=target).tag == "COPY 2"
    assert target.getvalue() == source.getvalue()


def test_notices(backend: PostgresBackend) -> None:
    answer = backend.execute("CREATE TABLE IF NOT EXISTS part (id int)")
    assert answer.notices == (Notice("NOTICE", 'relation "part" already exists, skipping'),)
    assert backend.execute("SELECT 1").notices == ()


def test_describe(backend: PostgresBackend) -> None:
    title, answer = describe.describe(backend.execute, "part")
    assert title == 'Table "public.part"'
    assert [row[:3] for row in answer.rows] == [
        ["id", "integer", "not null"],
        ["name", "character varying(20)", None],
        ["price", "numeric(6,2)", None],
        ["sold", "boolean", None],
    ]
    assert describe.footer(backend.execute, "part")[:2] == ["Keys:", '    "part_pkey" PRIMARY KEY (id)']


def test_interrupt(backend: PostgresBackend) -> None:
    timer = threading.Timer(0.3, backend.interrupt)
    timer.start()
    with pytest.raises(StatementError) as caught:
        backend.execute("SELECT pg_sleep(30)")
    assert caught.value.sqlstate == "57014"
    timer.join()

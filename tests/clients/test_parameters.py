"""Parameters of every type in text and binary, with types from their place, as lists, and as NULL."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.clients.conftest import Served

Connection = psycopg.Connection[Any]

MOMENT = datetime.datetime(2024, 1, 31, 12, 30, 15, 250000)
LISTS: list[tuple[str, list[Any]]] = [
    ("smallint[]", [1, None, -3]),
    ("integer[]", [70_000, -70_000]),
    ("bigint[]", [2**40, None]),
    ("double precision[]", [1.5, -2.25]),
    ("numeric[]", [Decimal("1.5"), Decimal("-0.001")]),
    ("boolean[]", [True, False, None]),
    ("text[]", ["a b", 'say "hi"', "back\\slash", "", "NULL", "{x,y}", None]),
    ("bytea[]", [b"\x00\xff", b""]),
    ("date[]", [datetime.date(1999, 12, 31)]),
    ("timestamp[]", [MOMENT]),
    ("timestamptz[]", [MOMENT.replace(tzinfo=datetime.UTC)]),
    ("integer[]", []),
]


@pytest.fixture
def connection(shared_server: Served) -> Iterator[Connection]:
    with psycopg.connect(shared_server.url, autocommit=True) as opened:
        yield opened


@pytest.mark.parametrize("binary", [False, True], ids=["text", "binary"])
@pytest.mark.parametrize(("kind", "values"), LISTS, ids=[kind for kind, _ in LISTS])
def test_lists_are_arrays(connection: Connection, kind: str, values: list[Any], binary: bool) -> None:
    mark = "b" if binary else "t"
    found = connection.cursor(binary=binary).execute(f"SELECT %{mark}::{kind} AS v", [values]).fetchone()
    assert found == (values,)


@pytest.mark.parametrize("mark", ["t", "b"])
def test_any_of_a_list(connection: Connection, mark: str) -> None:
    query = f"SELECT n FROM generate_series(1, 9) AS n WHERE n = ANY(%{mark}) AND n <> ALL(%{mark}) ORDER BY n"
    assert connection.execute(query, [[2, 3, 4, 99], [3, 5]]).fetchall() == [(2,), (4,)]
    assert connection.execute(query, [[1, None], []]).fetchall() == [(1,)]
    words = f"SELECT w FROM (VALUES ('a'), ('b,c')) t(w) WHERE w = ANY(%{mark})"
    assert connection.execute(words, [["b,c", "x"]]).fetchall() == [("b,c",)]


def test_any_of_a_computed_array(connection: Connection) -> None:
    query = (
        "SELECT n FROM generate_series(1, 5) AS n, (SELECT array_agg(m) AS a FROM generate_series(2, 3) AS m) x"
        " WHERE n = ANY(x.a) ORDER BY n"
    )
    assert connection.execute(query).fetchall() == [(2,), (3,)]
    assert connection.execute(
        "SELECT 1 = ANY(NULL::int[]), 1 = ANY(ARRAY[2, NULL]), 1 <> ALL('{2}'::int[])"
    ).fetchall() == [(None, None, True)]


@pytest.mark.parametrize("mark", ["t", "b"])
def test_types_that_are_texts_here(connection: Connection, mark: str) -> None:
    one = uuid.UUID(int=7)
    assert connection.execute(f"SELECT %{mark}::text", [one]).fetchone() == (str(one),)
    assert connection.execute(f"SELECT %{mark}::text", [Jsonb({"a": [1]})]).fetchone() == ('{"a": [1]}',)


@pytest.mark.parametrize("mark", ["t", "b"])
def test_nulls_and_places(connection: Connection, mark: str) -> None:
    query = f"SELECT %{mark}::int, %{mark}::date + 1, coalesce(%{mark}, 'none'), %{mark}::interval * 2"
    values = [None, datetime.date(2024, 2, 28), None, datetime.timedelta(hours=36)]
    assert connection.execute(query, values).fetchone() == (
        None,
        datetime.date(2024, 2, 29),
        "none",
        datetime.timedelta(hours=72),
    )


def test_malformed_arrays_are_refused(connection: Connection) -> None:
    for text in ("1,2", "{1,2", "{1,,2}", '{"a}', "{1}x"):
        with pytest.raises(psycopg.errors.InvalidTextRepresentation, match="malformed array literal"):
            connection.execute(f"SELECT '{text}'::int[]")
    with pytest.raises(psycopg.errors.FeatureNotSupported, match="an array of arrays"):
        connection.execute("SELECT %b", [[[1, 2], [3, 4]]])

"""psycopg asks about the catalog: text and binary values of types that only catalogs have, and parameters."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from millpond.wire.backend import ParameterDescription
from millpond.wire.frontend import Describe, Parse, Sync
from tests.clients.conftest import Served
from tests.clients.plant import create_plant
from tests.clients.raw_client import RawClient

COLUMNS = "SELECT oid, relname, relkind, relnatts, relhasindex, relam FROM pg_class WHERE relname = %s"


@pytest.fixture(scope="module")
def connection(shared_server: Served) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    create_plant(shared_server.pond)
    with psycopg.connect(shared_server.url, autocommit=True) as made:
        yield made


@pytest.mark.parametrize("binary", [False, True])
def test_types_of_the_catalog(connection: psycopg.Connection[tuple[object, ...]], binary: bool) -> None:
    cursor = connection.cursor(binary=binary)
    cursor.execute(COLUMNS, ["station"])
    kind: object = b"r" if binary else "r"
    assert cursor.fetchall() in ([(16384, "station", "r", 5, True, 2)], [(16384, "station", kind, 5, True, 2)])
    assert [column.type_code for column in cursor.description or ()] == [26, 19, 18, 21, 16, 26]
    cursor.execute(
        """SELECT conkey, array_agg(attname ORDER BY attnum) FROM pg_constraint JOIN pg_attribute
           ON attrelid = conrelid AND attnum = ANY (conkey) WHERE contype = 'u' GROUP BY conkey"""
    )
    assert cursor.fetchall() == [([2, 3], ["plant", "location"])]
    cursor.execute("SELECT indkey, indclass FROM pg_index WHERE indisprimary")
    assert [column.type_code for column in cursor.description or ()] == [22, 30]


def test_types_of_parameters_are_found(shared_server: Served, connection: object) -> None:
    text = "SELECT 1 FROM pg_class WHERE oid = $1 AND relname = $2 AND relhasindex = $3 AND relnatts < $4"
    with RawClient.started(shared_server.port) as client:
        answers = client.exchange(Parse("", text), Describe(b"S", ""), Sync())
    [parameters] = [answer for answer in answers if isinstance(answer, ParameterDescription)]
    assert parameters.types == (26, 25, 16, 21)


def test_type_information(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    found = psycopg.types.TypeInfo.fetch(connection, "interval")
    assert found is not None
    assert (found.oid, found.array_oid, found.regtype) == (1186, 1187, "interval")
    assert psycopg.types.TypeInfo.fetch(connection, "hstore") is None

"""What clients send, asked PostgreSQL as well: its columns have the names and types that ours have."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from psycopg.pq import ExecStatus

from millpond.oids import oid_of
from tests.clients.plant import STATEMENTS
from tests.clients.recorder import RECORDED, Recorded, read_recorded
from tests.unit.pgcatalog.support import Asked

QUERIES = [query for path in sorted(RECORDED.glob("*.sql")) for query in read_recorded(path)]

SHOWN_AS_TEXT = {24, 28, 194, 705, 869, 2202, 2205, 2206, 2249, 2277, 3220, 4089, 4096}
"""Types of PostgreSQL whose values are texts here: regproc, xid, pg_node_tree and the like."""

TEXT, TEXTS = 25, 1009
ACL_ITEMS = 1034
COMPARED_LEAST = 0.9
"""The rest asks for columns that this version of PostgreSQL no longer has."""


@pytest.fixture(scope="module")
def judge(postgres: str) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE FOREIGN DATA WRAPPER millpond")
        connection.execute("CREATE SERVER stream FOREIGN DATA WRAPPER millpond")
        for statement in STATEMENTS:
            connection.execute(statement.encode())
        yield connection


def columns_of(judge: psycopg.Connection[tuple[object, ...]], query: Recorded) -> list[tuple[str, int]] | None:
    """The names and types that PostgreSQL describes; None if it refuses the query."""
    prepared = judge.pgconn.prepare(b"", query.text.encode())
    if prepared.status != ExecStatus.COMMAND_OK:
        return None
    described = judge.pgconn.describe_prepared(b"")
    names = [described.fname(index) or b"" for index in range(described.nfields)]
    return [(name.decode(), described.ftype(index)) for index, name in enumerate(names)]


def announced(oid: int) -> int:
    """How a type of PostgreSQL's is announced here."""
    return TEXT if oid in SHOWN_AS_TEXT else TEXTS if oid == ACL_ITEMS else oid


def test_columns_are_those_of_postgresql(judge: psycopg.Connection[tuple[object, ...]]) -> None:
    asked = Asked()
    differing, compared = [], 0
    for query in QUERIES:
        wanted = columns_of(judge, query)
        if wanted is None:
            continue
        compared += 1
        answered, _ = asked.table(query.text, query.values)
        ours = {(name, oid_of(kind)) for name, kind in answered.columns}
        extra = {(name, announced(oid)) for name, oid in wanted} ^ ours
        if extra and "*" not in query.text:
            differing.append((query.text[:200], extra))
    assert differing == []
    assert compared >= COMPARED_LEAST * len(QUERIES)

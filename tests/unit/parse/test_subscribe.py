"""SUBSCRIBE as text: its forms, alone, in COPY and in cursors, and what is wrong with others."""

from __future__ import annotations

import pytest

from millpond.errors import MillpondError
from millpond.sql.parameters import Parameters
from millpond.sql.parse import parse, parse_subscription
from millpond.sql.session_records import DeclareCursor, Fetch
from millpond.sql.statements import Copy
from millpond.sql.subscribe import Subscribe


def subscribe(text: str) -> Subscribe:
    statement = parse(text)
    assert isinstance(statement, Subscribe)
    return statement


def test_all_at_once() -> None:
    said = subscribe(
        "subscribe to (SELECT a FROM v WHERE b = ')') AS OF 17 every '2s' WITH (progress, snapshot = off);"
    )
    assert (said.shown, said.every_ms, said.version) == ("SELECT a FROM v WHERE b = ')'", 2000, 17)
    assert (said.progress, said.snapshot) == (True, False)


@pytest.mark.parametrize("text", ["SUBSCRIBE v", 'SUBSCRIBE TO public."v"', "SUBSCRIBE TO V", "SUBSCRIBE TO (TABLE v)"])
def test_names(text: str) -> None:
    said = subscribe(text)
    assert [table.name.lower() for table in said.query.find_all(type(said.query.args["from_"].this))] == ["v"]
    assert (said.every_ms, said.version, said.progress, said.snapshot) == (None, None, False, True)


def test_where_a_query_could_stand() -> None:
    copy = parse("COPY (SUBSCRIBE TO v EVERY 500) TO STDOUT (FORMAT csv)")
    assert isinstance(copy, Copy)
    assert copy.subscription is not None
    assert copy.subscription.every_ms == 500
    cursor = parse("DECLARE c CURSOR WITH HOLD FOR SUBSCRIBE TO v")
    assert isinstance(cursor, DeclareCursor)
    assert isinstance(cursor.query, Subscribe)
    assert cursor.hold
    assert parse("FETCH 5 FROM c WITH (timeout = '1s')") == Fetch("c", "forward", 5, timeout_ms=1000)


def test_parameters() -> None:
    said = parse("SUBSCRIBE TO (SELECT * FROM v WHERE k = $2) AS OF $1", Parameters([12, "a"]))
    assert isinstance(said, Subscribe)
    assert said.version == 12
    assert "'a'" in said.query.sql()
    assert parse_subscription("SELECT * FROM v WHERE k = %s", ["b"]).query.sql().endswith("k = 'b'")
    assert parse_subscription('public."V"').shown == 'public."V"'


@pytest.mark.parametrize(
    ("text", "sqlstate", "position"),
    [
        ("SUBSCRIBE", "42601", 10),
        ("SUBSCRIBE TO", "42601", 13),
        ("SUBSCRIBE TO SELECT 1", "42601", 14),
        ("SUBSCRIBE TO v EVERY '1s' EVERY '1s'", "42601", 27),
        ("SUBSCRIBE TO v EVERY 'often'", "22023", None),
        ("SUBSCRIBE TO v EVERY '0s'", "22023", None),
        ("SUBSCRIBE TO v AS OF", "42601", 21),
        ("SUBSCRIBE TO v WITH (progres)", "42704", 22),
        ("SUBSCRIBE TO v WITH (progress = maybe)", "22023", None),
        ("SUBSCRIBE TO v WITH ()", "42601", 22),
        ("SUBSCRIBE TO (SELECT a FROM) EVERY '1s'", "42601", None),
        ("FETCH c WITH (patience = '1s')", "42601", 15),
        ("DECLARE c CURSOR FOR SUBSCRIBE TO v FOR UPDATE", "42601", 37),
    ],
)
def test_what_is_wrong(text: str, sqlstate: str, position: int | None) -> None:
    with pytest.raises(MillpondError) as caught:
        parse(text)
    assert caught.value.sqlstate == sqlstate
    assert position is None or caught.value.position == position


@pytest.mark.parametrize("text", ["SUBSCRIBE TO v AS OF 'yesterday'", "SUBSCRIBE TO v AS OF 1.5"])
def test_a_version_is_a_number(text: str) -> None:
    with pytest.raises(MillpondError, match="AS OF needs the number of a version"):
        _ = subscribe(text).version

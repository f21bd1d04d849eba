"""The statements of a session, from their text to their records."""

from __future__ import annotations

import pytest

from millpond.errors import MillpondError
from millpond.sql import session_records as r
from millpond.sql.array_literals import join_array, split_array
from millpond.sql.parse import parse


@pytest.mark.parametrize(
    ("text", "record"),
    [
        (
            "BEGIN WORK READ WRITE NOT DEFERRABLE",
            r.Begin({"transaction_read_only": "off", "transaction_deferrable": "off"}),
        ),
        ("COMMIT AND CHAIN", r.Commit(chain=True)),
        ("ABORT TRANSACTION AND NO CHAIN", r.Rollback()),
        ('SAVEPOINT "A b"', r.Savepoint("A b")),
        ("RELEASE savepoint A", r.Release("a")),
        ("ROLLBACK WORK TO SAVEPOINT a", r.RollbackTo("a")),
        ("SET TRANSACTION READ ONLY", r.SetTransaction({"transaction_read_only": "on"})),
        (
            "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED",
            r.SetTransaction({"default_transaction_isolation": "read committed"}, for_session=True),
        ),
        ("SET LOCAL a.b TO 'c', d", r.SetSetting("a.b", "c, d", local=True)),
        ("SET x = -1", r.SetSetting("x", "-1")),
        ("SET TIME ZONE DEFAULT", r.SetSetting("timezone", None)),
        ("DISCARD TEMPORARY", r.Discard("TEMP")),
        ("LISTEN Abc", r.Listen("abc")),
        ("UNLISTEN *", r.Unlisten(None)),
        ("NOTIFY c, 'it''s'", r.Notify("c", "it's")),
        ("FETCH c", r.Fetch("c")),
        ("FETCH FORWARD -3 IN c", r.Fetch("c", "backward", 3)),
        ("FETCH BACKWARD ALL FROM c", r.Fetch("c", "backward", None)),
        ("FETCH LAST c", r.Fetch("c", "absolute", -1)),
        ("FETCH RELATIVE -2 FROM c", r.Fetch("c", "relative", -2)),
        ("MOVE 5 c", r.Fetch("c", "forward", 5, is_move=True)),
        ("CLOSE ALL", r.CloseCursor(None)),
    ],
)
def test_records(text: str, record: object) -> None:
    assert parse(text) == record


def test_declare() -> None:
    declared = parse("DECLARE c BINARY INSENSITIVE SCROLL CURSOR WITH HOLD FOR SELECT 1")
    assert isinstance(declared, r.DeclareCursor)
    assert (declared.name, declared.binary, declared.scroll, declared.hold) == ("c", True, True, True)


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("BEGIN READ", 7),
        ("SET TRANSACTION", 16),
        ("FETCH 1.5 c", 7),
        ("DECLARE c QUICK CURSOR FOR SELECT 1", 11),
        ("NOTIFY c, 1", 11),
        ("ROLLBACK TO a b", 15),
    ],
)
def test_syntax_errors(text: str, position: int) -> None:
    with pytest.raises(MillpondError) as caught:
        parse(text)
    assert (caught.value.sqlstate, caught.value.position) == ("42601", position)


@pytest.mark.parametrize("elements", [[], ["1", None], ["", "null", "NULL", " a ", 'q"\\', "{x}", "a,b", "\n"]])
def test_array_literals_come_back(elements: list[str | None]) -> None:
    assert split_array(join_array(elements)) == elements

"""Functions in Python: defined by SQL or by the program, called by queries and views, kept through restarts."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from millpond import MillpondError, Pond
from millpond.session import Session
from tests.views.support import OpenPond

pytestmark = pytest.mark.timeout(300)

REPEATED = """
CREATE FUNCTION repeated(word text, times int) RETURNS text LANGUAGE python AS $$
  if word is None:
      return "nothing; really"
  return word * times
$$"""

WRONG = {
    "CREATE FUNCTION repeated(a int) RETURNS int LANGUAGE python AS 'return 1'": "42723",
    "CREATE FUNCTION lower(a text) RETURNS text LANGUAGE python AS 'return a'": "42723",
    "CREATE OR REPLACE FUNCTION repeated(word text, times bigint) RETURNS text LANGUAGE python AS 'return 1'": "42P13",
    "CREATE FUNCTION f(a int) RETURNS int LANGUAGE sql AS 'SELECT 1'": "0A000",
    "CREATE FUNCTION f(a interval) RETURNS int LANGUAGE python AS 'return 1'": "0A000",
    "CREATE FUNCTION f(a int) RETURNS int LANGUAGE python AS 'return ('": "42601",
    "CREATE FUNCTION f(a int) RETURNS int LANGUAGE python STATEFUL BY (b) AS 'return 1'": "42P13",
    "CREATE TABLE t (a text DEFAULT repeated('a', 1))": "0A000",
    "DROP FUNCTION repeated(int)": "42883",
    "DROP FUNCTION repeated": "2BP01",
    "SELECT repeated(1)": "42883",
    "SELECT inverse(0)": "38000",
}


def rows(pond: Pond | Session, query: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in pond.execute(query)]


def test_functions_in_python(open_pond: OpenPond) -> None:
    pond = open_pond()
    pond.execute(REPEATED)
    pond.execute("CREATE FUNCTION inverse(x numeric) RETURNS numeric LANGUAGE python AS 'y = 1\nreturn y / x'")
    factor = 3

    @pond.function
    def weighed(x: int, day: date | None) -> Decimal:
        return factor * Decimal(x) + (day.day if day else 0)

    pond.function(lambda: b"ab", name="both", returns="bytea")
    found = rows(pond, "SELECT repeated('ab', 2), repeated(NULL, 1), inverse(8.0), weighed(2, '2024-02-29'), both()")
    assert found == [("abab", "nothing; really", Decimal("0.125"), Decimal(35), b"ab")]
    pond.execute("CREATE VIEW plain AS SELECT repeated('a', 3) AS a")
    pond.execute("CREATE STREAM s (a int); CREATE TABLE made (a text)")
    pond.execute("CREATE VIEW counted AS SELECT weighed(a, NULL) AS a, count(*) FROM s WHERE inverse(a) < 1 GROUP BY 1")
    pond.execute("CREATE CONTINUOUS QUERY q AS INSERT INTO made SELECT repeated('b', a) FROM s")
    pond.insert("s", [(1,), (2,), (3,), (3,)])
    _check_catalog(pond)
    _check_errors(pond)
    _check_roles(pond)
    pond = open_pond()
    assert rows(pond, "SELECT * FROM plain") == [("aaa",)]
    assert sorted(rows(pond, "SELECT * FROM counted")) == [(6, 1), (9, 2)]
    while sorted(rows(pond, "SELECT * FROM made")) != [("b",), ("bb",), ("bbb",), ("bbb",)]:
        assert rows(pond, "SELECT error FROM millpond_queries") == [(None,)]
    pond.execute("DROP FUNCTION repeated(text, int) CASCADE")
    assert rows(pond, "SELECT name FROM millpond_queries") == []
    with pytest.raises(MillpondError, match="does not exist"):
        pond.execute("SELECT * FROM plain")


def _check_catalog(pond: Pond) -> None:
    found = rows(
        pond,
        "SELECT p.oid::regproc::text, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid), l.lanname,"
        " p.prokind FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang"
        " WHERE p.pronamespace = 'public'::regnamespace ORDER BY 1",
    )
    assert found == [
        ("both", "", "bytea", "python", "f"),
        ("inverse", "x numeric", "numeric", "python", "f"),
        ("repeated", "word text, times integer", "text", "python", "f"),
        ("weighed", "x bigint, day date", "numeric", "python", "f"),
    ]


def _check_errors(pond: Pond) -> None:
    for statement, sqlstate in WRONG.items():
        with pytest.raises(MillpondError) as raised:
            pond.execute(statement)
        assert raised.value.sqlstate == sqlstate, statement
    assert raised.value.message == "DivisionByZero: [<class 'decimal.DivisionByZero'>]"
    assert raised.value.detail == "In function inverse, line 2."
    with pytest.raises(MillpondError, match="cannot replace function inverse"):
        pond.execute("CREATE OR REPLACE FUNCTION inverse(x numeric) RETURNS numeric LANGUAGE python AS 'return x'")
    pond.execute("BEGIN; CREATE FUNCTION gone() RETURNS int LANGUAGE python AS 'return 1'; ROLLBACK")
    with pytest.raises(MillpondError, match="function gone"):
        pond.execute("SELECT gone()")


def _check_roles(pond: Pond) -> None:
    """Anyone may call a function, and superusers alone may define it."""
    pond.execute("CREATE ROLE guest LOGIN")
    guest = pond.new_session("guest", trusted=False)
    assert rows(guest, "SELECT repeated('a', 2)") == [("aa",)]
    for statement in (REPEATED, REPEATED.replace("CREATE", "CREATE OR REPLACE"), "DROP FUNCTION both"):
        with pytest.raises(MillpondError, match="permission denied") as raised:
            guest.execute(statement)
        assert raised.value.sqlstate == "42501"
    pond.end_session(guest)

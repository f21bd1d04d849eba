"""Views that fail: each is set aside with its error, and holds neither writers nor other views nor the pond up."""

from __future__ import annotations

import pytest

from millpond import Pond
from tests.views.support import OpenPond, error_of, numbers, rows

ROWS = 100
pytestmark = pytest.mark.timeout(300)

FAILING = {
    "division": ("SELECT sum(10 / (v - 13)) AS x FROM s", "22012", "division by zero"),
    "overflow": ("SELECT k, max(v + 2147483600) AS x FROM s GROUP BY k", "22003", "integer out of range"),
    "cast": (
        "SELECT count(*) FILTER (WHERE (k || 'x')::int > 0) AS x FROM s",
        "22P02",
        'invalid input syntax for type integer: "0x"',
    ),
}


@pytest.mark.parametrize(("sql", "sqlstate", "message"), FAILING.values(), ids=FAILING)
def test_a_failing_view_is_set_aside(pond: Pond, always_ticks: None, sql: str, sqlstate: str, message: str) -> None:
    pond.execute("CREATE STREAM s (k int, v int)")
    pond.execute(f"CREATE VIEW bad AS {sql}")
    pond.execute("CREATE VIEW good AS SELECT count(*) AS n FROM s")
    pond.insert("s", numbers(0, ROWS))
    assert rows(pond, "SELECT * FROM good") == [(ROWS,)]
    assert error_of(pond, "SELECT * FROM bad") == (sqlstate, message)
    assert rows(pond, "SELECT name, error FROM millpond_views") == [("bad", message), ("good", None)]
    pond.insert("s", numbers(0, ROWS))
    assert rows(pond, "SELECT * FROM good") == [(2 * ROWS,)]
    assert error_of(pond, "SELECT * FROM bad") == (sqlstate, message)
    pond.execute("DROP VIEW bad")
    assert rows(pond, "SELECT * FROM good") == [(2 * ROWS,)]


def test_a_failing_view_does_not_hold_writers_up(pond: Pond) -> None:
    pond.execute("CREATE FOREIGN TABLE s (k int, v int) SERVER stream OPTIONS (capacity '200')")
    pond.execute("CREATE VIEW bad AS SELECT sum(10 / (v - 13)) AS x FROM s")
    for first in range(0, 1000, 50):
        pond.insert("s", numbers(first, first + 50))
    assert error_of(pond, "SELECT * FROM bad") == ("22012", "division by zero")


def test_a_pond_opens_although_a_failed_view_was_overrun(open_pond: OpenPond) -> None:
    pond = open_pond()
    pond.execute("CREATE FOREIGN TABLE s (k int, v int) SERVER stream OPTIONS (capacity '200')")
    pond.execute("CREATE VIEW bad AS SELECT sum(10 / (v - 13)) AS x FROM s")
    for first in range(0, 1000, 50):
        pond.insert("s", numbers(first, first + 50))
    pond = open_pond()
    pond.execute("CREATE VIEW good AS SELECT count(*) AS n FROM s")
    pond.insert("s", numbers(0, 10))
    assert rows(pond, "SELECT * FROM good") == [(10,)]
    assert error_of(pond, "SELECT * FROM bad") == ("22012", "division by zero")
    pond.execute("DROP VIEW bad")

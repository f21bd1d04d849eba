"""Windows in queries that are not views: the newest complete window of what a stream holds."""

from __future__ import annotations

from datetime import timedelta

import pytest

from millpond import MillpondError, Pond
from tests.windows.conftest import START, Clock, event, rows

MINUTE = timedelta(minutes=1)


@pytest.fixture
def filled(timed: Pond) -> Pond:
    """Events at 0, 10, ... 290 seconds, whose values are their numbers; the watermark is at 285."""
    for number in range(30):
        event(timed, number * 10, number)
    return timed


def test_each_kind_of_window(filled: Pond) -> None:
    end = START + 4 * MINUTE
    for query, expected in {
        "SELECT window_start, window_end, sum(v) FROM TUMBLE(s, INTERVAL '1 minute')": [
            (end - MINUTE, end, 18 + 19 + 20 + 21 + 22 + 23)
        ],
        "SELECT count(*), min(v) FROM HOP(s, INTERVAL '1 minute', INTERVAL '3 minutes') w": [(18, 6)],
        "SELECT v FROM TUMBLE(s, 7) ORDER BY v DESC LIMIT 2": [(26,), (27,)],
        "SELECT count(*) FROM LANDMARK(s, INTERVAL '1 day')": [(30,)],
        "SELECT sum(v) FROM LAST(s, 3 PARTITION BY k) w": [(27 + 28 + 29,)],
        "SELECT count(*) FROM TUMBLE(s, INTERVAL '1 minute') a JOIN HOP(s, INTERVAL '1 minute', INTERVAL '2 minutes') b"
        " ON a.v > b.v WHERE b.v % 2 = 0": [(27,)],
    }.items():
        assert rows(filled, query) == expected, query


def test_without_a_complete_window_there_are_no_rows(filled: Pond) -> None:
    assert rows(filled, "SELECT count(*) FROM TUMBLE(s, 1000)") == []
    assert rows(filled, "SELECT count(*), window_end FROM TUMBLE(s, INTERVAL '1 day') UNION ALL SELECT 1, now()") == []


def test_windows_do_not_wait(filled: Pond) -> None:
    session = filled.new_session()
    session.execute("SET session_timeout = '1h'")
    assert [tuple(row) for row in session.execute("SELECT count(*) FROM TUMBLE(s, 7)")] == [(7,)]
    filled.end_session(session)


def test_explain_shows_which_rows_are_read(filled: Pond) -> None:
    plan = "\n".join(line for (line,) in rows(filled, "EXPLAIN SELECT count(*), window_end FROM TUMBLE(s, 7)"))
    assert "`tid` >= 21" in plan
    assert "`tid` < 28" in plan


def test_what_is_stored_of_windows(filled: Pond) -> None:
    filled.execute(
        "CREATE TABLE minute AS SELECT window_end AS ended, sum(v) AS total FROM TUMBLE(s, INTERVAL '1 minute')"
    )
    filled.execute("INSERT INTO minute SELECT window_end, count(*) FROM TUMBLE(s, INTERVAL '10 s') WHERE false")
    assert rows(filled, "SELECT total FROM minute ORDER BY total") == [(0,), (123,)]


@pytest.mark.parametrize(
    ("query", "sqlstate", "message"),
    [
        ("SELECT count(*) FROM SESSION(s, INTERVAL '1 minute')", "0A000", "SESSION in a query that is not a view"),
        (
            "SELECT (SELECT count(*) FROM TUMBLE(s, 7) w) FROM TUMBLE(s, 8) w",
            "42712",
            'different windows are called "w"',
        ),
        (
            "SELECT 1 FROM TUMBLE(s, 7) a, TUMBLE(s, INTERVAL '1 minute') b",
            "0A000",
            "windows of rows and windows of time",
        ),
    ],
)
def test_what_is_refused(filled: Pond, query: str, sqlstate: str, message: str) -> None:
    with pytest.raises(MillpondError, match=message) as raised:
        filled.execute(query)
    assert raised.value.sqlstate.value == sqlstate


def test_verify_a_view_over_windows(filled: Pond, clock: Clock) -> None:
    filled.execute(
        "CREATE VIEW v WITH (backfill, retain = 3) AS SELECT window_end, sum(v) FROM TUMBLE(s, INTERVAL '1 minute')"
    )
    filled.execute(
        "CREATE VIEW young WITH (backfill) AS SELECT k, count(*) FROM s"
        " WHERE at > now() - interval '3 minutes' GROUP BY k"
    )
    filled.execute(
        "CREATE VIEW today WITH (backfill) AS SELECT sum(v) FROM s"
        " WHERE date_trunc('day', at) = date_trunc('day', now())"
    )
    clock.pass_(200)
    assert rows(filled, "VERIFY VIEW v") == [(3, 0, 0)]
    assert rows(filled, "VERIFY VIEW young") == [(1, 0, 0)]
    assert rows(filled, "VERIFY VIEW today") == [(1, 0, 0)]

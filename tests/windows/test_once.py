"""Windows in queries that are not views: the newest complete window of what a stream holds."""

from __future__ import annotations

from datetime import timedelta

import pytest

from millpond import MillpondError, Pond
from millpond.run.session_state import SessionState
from tests.windows.conftest import START, Clock, event, rows, tick

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
        (
            "SELECT a.v FROM SESSION(s, 5) a JOIN TUMBLE(s, 5) b ON a.k = b.k",
            "0A000",
            "SESSION beside another stream, window or gap",
        ),
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


def test_sessions_that_are_complete(filled: Pond) -> None:
    """Keys 0 and 1 have rows 10 seconds apart, 2 has rows of all ages, 3 has one that is too new."""
    for second, value, key in ((100, 7, 1), (110, 8, 1), (20, 1, 2), (60, 9, 2), (150, 5, 2), (158, 6, 2), (280, 0, 3)):
        event(filled, second, value, key)
    event(filled, 62, 1000, key=2)  # too late: a newer session is complete
    by_key = "SESSION(s, INTERVAL '10 s' PARTITION BY k)"
    for query, expected in {
        f"SELECT k, window_start, window_end, sum(v) FROM {by_key} w GROUP BY k ORDER BY max(v) DESC": [
            (0, START + timedelta(seconds=270), START + timedelta(seconds=280), 27),
            (1, START + timedelta(seconds=110), START + timedelta(seconds=120), 8),
            (2, START + timedelta(seconds=150), START + timedelta(seconds=168), 11),
        ],
        f"SELECT v, k FROM {by_key} w ORDER BY k DESC, 1 LIMIT 1": [(5, 2), (8, 1), (27, 0)],
        f"SELECT count(*) AS n FROM {by_key} UNION ALL SELECT min(k) FROM {by_key} u ORDER BY n": [
            (0,),
            (1,),
            (1,),
            (1,),
            (2,),
            (2,),
        ],
        f"SELECT k, count(*) FROM {by_key} GROUP BY ROLLUP (k) ORDER BY k NULLS FIRST, 2": [
            *[(None, 1), (None, 1), (None, 2)],
            *[(0, 1), (1, 1), (2, 2)],
        ],
        "SELECT sum(v) FROM SESSION(s, 1)": [(1000,)],
        "SELECT count(*), window_start FROM SESSION(s, INTERVAL '1 day')": [],
    }.items():
        assert filled.execute(query).fetchall() == expected, query
    filled.execute(f"CREATE TABLE newest AS SELECT k, count(*) AS n FROM {by_key} GROUP BY k")
    assert rows(filled, "SELECT k, n FROM newest") == [(0, 1), (1, 1), (2, 2)]
    text = "\n".join(line for (line,) in filled.execute(f"EXPLAIN ANALYZE SELECT v FROM {by_key}").fetchall())
    assert "sessions of each k with a gap of 10s" in text
    assert "4 rows" in text


def test_verify_a_view_over_sessions(filled: Pond, clock: Clock) -> None:
    filled.execute(
        "CREATE VIEW v WITH (backfill, retain = 3, early) AS SELECT v % 2 AS odd, window_start, count(*)"
        " FROM SESSION(s, INTERVAL '10 s') GROUP BY v % 2"
    )
    assert rows(filled, "VERIFY VIEW v") == [(5, 0, 0)]
    clock.pass_(200)
    assert rows(filled, "VERIFY VIEW v") == [(3, 0, 0)], "an idle stream is complete"
    view = filled.services.views.all()[0]
    (state,) = view.states.values()
    assert isinstance(state, SessionState)
    tick(filled)
    state.tree.expire(1 << 50)  # what it keeps is lost
    event(filled, 285)
    ((_, missing, unexpected),) = rows(filled, "VERIFY VIEW v")
    assert (missing, unexpected) != (0, 0)


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

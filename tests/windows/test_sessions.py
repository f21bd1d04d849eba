"""Sessions as their users see them: where they begin and end, what joins them, what is kept, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pyarrow as pa
import pytest

from millpond import MillpondError, Pond
from millpond.run.session_state import SessionState
from millpond.run.session_view import SessionView
from tests.queries.support import wait_until
from tests.windows.conftest import START, Clock, event, rows, tick

BY_KEY = "SESSION(s, INTERVAL '10 s' PARTITION BY k)"


def session_view(pond: Pond) -> SessionView:
    (view,) = pond.services.views.all()
    assert isinstance(view, SessionView)
    return view


def session_state(pond: Pond) -> SessionState:
    (state,) = session_view(pond).states.values()
    assert isinstance(state, SessionState)
    return state


# -- where they begin and end ----------------------------------------------------------------------------------------


def test_a_row_as_far_away_as_the_gap_begins_a_session(timed: Pond) -> None:
    timed.execute(
        "CREATE VIEW v WITH (retain = 5) AS SELECT window_start, window_end, count(*) FROM SESSION(s, INTERVAL '10 s')"
    )
    for second in (0, 9.999999, 19.999999, 50):
        event(timed, second)
    starts = [(START, START + timedelta(seconds=19.999999)), (START + timedelta(seconds=19.999999),)]
    found = rows(timed, "SELECT * FROM v")
    assert found == [(*starts[0], 2), (*starts[1], START + timedelta(seconds=29.999999), 1)]


def test_a_session_is_complete_when_the_stream_is_complete_past_its_end(timed: Pond, clock: Clock) -> None:
    timed.execute("CREATE VIEW v AS SELECT count(*) FROM SESSION(s, at, INTERVAL '10 s')")
    timed.execute("CREATE VIEW open WITH (early) AS SELECT count(*) FROM SESSION(s, at, INTERVAL '10 s')")
    event(timed, 0)
    event(timed, 14.9)
    assert (rows(timed, "SELECT * FROM v"), rows(timed, "SELECT * FROM open")) == ([], [(1,), (1,)])
    event(timed, 15)
    assert rows(timed, "SELECT * FROM v") == [(1,)]
    clock.pass_(61)
    assert rows(timed, "SELECT * FROM v") == [(2,)], "an idle stream does not hold sessions open"


def test_sessions_of_rows_end_when_a_key_was_not_among_so_many(timed: Pond) -> None:
    timed.execute(
        "CREATE VIEW v AS SELECT k, sum(v), window_start, window_end FROM SESSION(s, 3 PARTITION BY k) w GROUP BY k"
    )
    timed.insert("s", [(key, place, None) for place, key in enumerate([0, 1, 0, 1, 1, 1, 0, 1])])
    assert rows(timed, "SELECT * FROM v") == [(0, 2, 0, 5)]
    timed.insert("s", [(2, 0, None), (2, 0, None)])
    assert rows(timed, "SELECT * FROM v") == [(0, 6, 6, 9), (1, 20, 1, 10)]


def test_where_does_not_cut_sessions(timed: Pond) -> None:
    timed.execute(
        "CREATE VIEW v AS SELECT window_start, count(*), max(v) FROM SESSION(s, INTERVAL '10 s') WHERE v > 90"
    )
    for second, value in ((0, 99), (8, 1), (16, 98), (60, 2), (90, 3)):
        event(timed, second, value)
    assert rows(timed, "SELECT * FROM v") == [(START + timedelta(seconds=60), 0, None)], "a session without such rows"
    timed.execute("DROP VIEW v")
    timed.execute("CREATE VIEW v WITH (backfill, retain = 2) AS SELECT count(*) FROM SESSION(s, INTERVAL '10 s')")
    assert rows(timed, "SELECT * FROM v") == [(1,), (3,)]


# -- late rows -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ticks", [False, True])
def test_late_rows_correct_extend_and_join_sessions(timed: Pond, ticks: bool) -> None:
    timed.execute(
        "CREATE VIEW v WITH (retain = 3) AS SELECT window_start, window_end, sum(v) FROM SESSION(s, INTERVAL '10 s')"
    )

    def shown() -> list[tuple[float, float, int]]:
        if ticks:
            tick(timed)
        found = rows(timed, "SELECT * FROM v")
        return [((first - START).total_seconds(), (end - START).total_seconds(), sum_) for first, end, sum_ in found]

    for second in (0, 15, 100):
        event(timed, second)
    assert shown() == [(0, 10, 1), (15, 25, 1)]
    event(timed, 15, 10)
    assert shown() == [(0, 10, 1), (15, 25, 11)]
    event(timed, -5, 100)
    assert shown() == [(-5, 10, 101), (15, 25, 11)]
    event(timed, 7, 1000)
    assert shown() == [(-5, 25, 1112)]


def test_a_subscriber_gets_sessions_and_corrections(timed: Pond) -> None:
    timed.execute("CREATE VIEW v AS SELECT window_start, sum(v) FROM SESSION(s, INTERVAL '10 s') GROUP BY window_start")
    with timed.subscribe("v", snapshot=False) as changes:
        event(timed, 0, 1)
        event(timed, 100, 2)
        assert next(changes).row == (START, 1)
        event(timed, 4, 10)
        assert {next(changes).row for _ in range(2)} == {(START, 1), (START, 11)}


# -- what is kept ----------------------------------------------------------------------------------------------------


def test_a_session_without_end_is_kept_as_one_partial(timed: Pond) -> None:
    timed.execute("CREATE VIEW v WITH (early) AS SELECT k, count(*), sum(v) FROM SESSION(s, 5) GROUP BY k")
    for first in range(0, 40_000, 5_000):
        keys = pa.array([place % 2 for place in range(5_000)], pa.int32())
        moments = pa.array([None] * 5_000, pa.timestamp("us", "UTC"))
        values = pa.array(range(first, first + 5_000), pa.int32())
        timed.insert("s", pa.table({"k": keys, "v": values, "at": moments}))
        tick(timed)
        wait_until(lambda: session_state(timed).tree.rows <= 4_002, "panes of one session are merged")
    timed.insert("s", [(0, 7, None)])
    assert rows(timed, "SELECT * FROM v") == [(0, 20_001, 399_980_007), (1, 20_000, 400_000_000)]


def test_sessions_are_forgotten_by_age(timed: Pond) -> None:
    timed.execute(f"CREATE VIEW v WITH (max_age = '1 minute') AS SELECT k, count(*) FROM {BY_KEY} GROUP BY k")
    for second in range(0, 1000, 5):
        event(timed, second, key=second)
    tick(timed)
    state = session_state(timed)
    assert state.sessions.count < 20
    assert len(state.sessions.by_key) < 20
    assert rows(timed, "SELECT count(*) FROM v") == [(12,)]
    kept = state.sessions.count
    assert rows(timed, "SELECT kept, groups, bytes BETWEEN 410 * kept AND 20000 FROM millpond_windows") == [
        (kept, state.tree.rows, True)
    ]


def test_sessions_of_all_keys_are_evaluated_together_and_only_when_they_change(timed: Pond) -> None:
    timed.execute(f"CREATE VIEW v AS SELECT k, sum(v) FROM {BY_KEY} GROUP BY k")
    timed.execute("CREATE VIEW other AS SELECT count(*) FROM s")
    timed.insert("s", [(key, 1, START) for key in range(50)])
    event(timed, 100)
    assert rows(timed, "SELECT count(*), sum(sum) FROM v") == [(50, 50)]
    (view,) = (one for one in timed.services.views.all() if isinstance(one, SessionView))
    assert view.costs.runs == 1
    event(timed, 101)
    assert rows(timed, "SELECT count(*), sum(sum) FROM v") == [(50, 50)]
    assert view.costs.runs == 1, "no session that is shown has changed"
    event(timed, 1, 10, key=7)
    assert rows(timed, "SELECT k, sum FROM v WHERE k IN (6, 7)") == [(6, 1), (7, 11)]
    assert len(view.answer(timed.services.runner, "test", {}, ()).rows) == 50


def test_sessions_go_on_after_a_restart(timed: Pond, open_pond: Callable[[], Pond]) -> None:
    timed.execute(f"CREATE VIEW v WITH (early, retain = 2) AS SELECT k, window_start, sum(v) FROM {BY_KEY} GROUP BY k")
    for second in range(0, 60, 4):
        event(timed, second, second, second % 3)
    tick(timed)
    event(timed, 60, 60)
    before = rows(timed, "SELECT * FROM v")
    again = open_pond()
    assert rows(again, "SELECT * FROM v") == before
    event(again, 61, 1)
    tick(again)
    assert sum(row[2] for row in rows(again, "SELECT * FROM v")) == sum(row[2] for row in before) + 1


# -- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "sqlstate", "message"),
    [
        ("SELECT count(*) FROM SESSION(s)", "42883", "wrong number of arguments for SESSION"),
        ("SELECT count(*) FROM SESSION(s, at, 5)", "42804", "needs intervals"),
        ("SELECT count(*) FROM SESSION(s, INTERVAL '1 month')", "0A000", "months"),
        ("SELECT count(*) FROM SESSION(s, 5 PARTITION BY x)", "42703", 'column "x" does not exist'),
        ("SELECT count(*) FROM SESSION(s, 0)", "22023", "greater than zero"),
        ("SELECT count(*) FROM SESSION(f, 5 PARTITION BY d)", "0A000", "partitioned by double precision"),
        ("SELECT count(*) FROM SESSION(s, 5) a JOIN TUMBLE(s, 5) b ON a.k = b.k", "0A000", "beside another"),
        ("SELECT count(*) FROM SESSION(s, 5) a JOIN SESSION(f, 5) b ON a.k = b.k", "0A000", "beside another"),
        ("SELECT (SELECT count(*) FROM s) AS n, count(*) FROM SESSION(s, 5)", "0A000", "beside another"),
    ],
)
def test_errors(timed: Pond, query: str, sqlstate: str, message: str) -> None:
    timed.execute("CREATE STREAM f (k int, d double precision)")
    with pytest.raises(MillpondError, match=message) as caught:
        timed.execute(f"CREATE VIEW v AS {query}")
    assert caught.value.sqlstate == sqlstate
    assert caught.value.position is not None


def test_explain_says_how_sessions_are_evaluated(timed: Pond) -> None:
    shown = timed.execute(f"EXPLAIN (SPLIT) SELECT k, count(*) FROM {BY_KEY} GROUP BY k").fetchall()
    text = "\n".join(line for (line,) in shown)
    assert "sessions of each k with a gap of 10s" in text
    assert "upper pipeline, for all sessions at once" in text
    shown = timed.execute(f"EXPLAIN (SPLIT) SELECT k, count(*) FROM {BY_KEY} GROUP BY ROLLUP (k)").fetchall()
    assert "upper pipeline, for one session after the other" in "\n".join(line for (line,) in shown)

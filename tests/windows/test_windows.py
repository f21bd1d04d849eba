"""Windows as their users see them: late rows, idle streams, restarts, subscriptions, and what is refused."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta

import pyarrow as pa
import pytest

from millpond import MillpondError, Pond
from millpond.run import frames_query, measured_mode
from millpond.run.pane_state import PaneState
from millpond.run.windowed_view import WindowedView
from tests.windows.conftest import START, Clock, at, event, rows, tick


def pane_state(pond: Pond, name: str) -> PaneState:
    (view,) = (one for one in pond.services.views.all() if one.relation.name == name)
    (state,) = view.states.values()
    assert isinstance(state, PaneState)
    return state


# -- what is complete, and what is late ------------------------------------------------------------------------------


def test_a_window_is_complete_when_the_watermark_has_passed_its_end(timed: Pond) -> None:
    timed.execute("CREATE VIEW v AS SELECT window_end, count(*) FROM TUMBLE(s, INTERVAL '10 s')")
    event(timed, 1)
    event(timed, 14.9)
    assert rows(timed, "SELECT count FROM v") == []
    event(timed, 15)
    assert rows(timed, "SELECT window_end, count FROM v") == [(START + timedelta(seconds=10), 1)]


def test_late_rows_correct_what_is_shown_and_others_are_counted(timed: Pond) -> None:
    timed.execute("CREATE VIEW v WITH (retain = 2) AS SELECT window_start, sum(v) FROM TUMBLE(s, INTERVAL '10 s')")
    for second in (1, 11, 21, 36):
        event(timed, second)
    tick(timed)
    assert rows(timed, "SELECT sum FROM v") == [(1,), (1,)]
    event(timed, 12, 100)  # its window is shown
    event(timed, 2, 1000)  # its window is not
    assert rows(timed, "SELECT sum FROM v") == [(1,), (101,)]
    tick(timed)
    assert rows(timed, "SELECT sum FROM v") == [(1,), (101,)]
    assert rows(timed, "SELECT late_rows FROM millpond_windows") == [(1,)]


def test_an_idle_stream_does_not_hold_its_windows_open(timed: Pond, clock: Clock) -> None:
    timed.execute("CREATE VIEW v AS SELECT count(*) FROM TUMBLE(s, INTERVAL '10 s')")
    event(timed, 1)
    clock.pass_(59)
    assert rows(timed, "SELECT * FROM v") == []
    clock.pass_(2)
    assert rows(timed, "SELECT * FROM v") == [(0,)], "the window that ended last has no rows"
    timed.execute("CREATE VIEW w WITH (backfill, retain = 10) AS SELECT count(*) FROM TUMBLE(s, INTERVAL '10 s')")
    assert rows(timed, "SELECT * FROM w") == [(0,), (0,), (0,), (0,), (0,), (1,)]


def test_windows_of_arrivals_end_by_the_clock(timed: Pond, clock: Clock) -> None:
    timed.execute("CREATE VIEW v AS SELECT sum(v) FROM TUMBLE(s, arrival_timestamp, INTERVAL '10 s')")
    event(timed, 500, 3)
    event(timed, -500, 4)
    assert rows(timed, "SELECT * FROM v") == []
    clock.pass_(10)
    assert rows(timed, "SELECT * FROM v") == [(7,)]
    clock.pass_(10)
    assert rows(timed, "SELECT * FROM v") == [(None,)]


def test_rows_without_a_time_are_in_no_window(timed: Pond) -> None:
    timed.execute("CREATE VIEW v AS SELECT count(*) FROM TUMBLE(s, INTERVAL '1 hour')")
    timed.execute("CREATE VIEW r AS SELECT count(*) FROM TUMBLE(s, 2)")
    timed.execute(f"INSERT INTO s VALUES (1, 1, '{at(60)}'), (1, 1, NULL), (1, 1, '{at(120)}'), (1, 1, '{at(3605)}')")
    assert (rows(timed, "SELECT * FROM v"), rows(timed, "SELECT * FROM r")) == ([(2,)], [(2,)])
    tick(timed)
    assert rows(timed, "SELECT * FROM v") == [(2,)]


def test_rows_without_a_time_are_in_none_of_several_windows(timed: Pond) -> None:
    timed.execute("CREATE VIEW v WITH (retain = 3) AS SELECT DISTINCT k FROM TUMBLE(s, INTERVAL '1 minute')")
    timed.execute(f"INSERT INTO s VALUES (1, 1, '{at(0)}'), (2, 1, NULL), (3, 1, '{at(65)}'), (4, 1, '{at(185)}')")
    assert rows(timed, "SELECT * FROM v") == [(1,), (3,)]


def test_the_youngest_of_several_ages_counts(timed: Pond) -> None:
    timed.execute(
        "CREATE VIEW recent WITH (max_age = '1 hour') AS SELECT * FROM s WHERE at > now() - interval '2 hours'"
    )
    timed.execute("CREATE VIEW n WITH (max_age = '1 day') AS SELECT count(*) FROM recent")
    timed.execute("CREATE VIEW m WITH (max_age = '10 minutes') AS SELECT count(*) FROM recent")
    for minutes in (-100, -50, -5):
        event(timed, minutes * 60)
    assert (rows(timed, "SELECT * FROM n"), rows(timed, "SELECT * FROM m")) == ([(2,)], [(1,)])


def test_what_is_of_a_later_day_is_not_of_today(timed: Pond) -> None:
    timed.execute("CREATE VIEW today AS SELECT count(*) FROM s WHERE at::date = current_date")
    timed.execute("CREATE VIEW onward AS SELECT count(*) FROM s WHERE at >= date_trunc('day', now())")
    for hours in (-13, 1, 13):
        event(timed, hours * 3600)
    assert (rows(timed, "SELECT * FROM today"), rows(timed, "SELECT * FROM onward")) == ([(1,)], [(2,)])
    tick(timed)
    assert (rows(timed, "SELECT * FROM today"), rows(timed, "SELECT * FROM onward")) == ([(1,)], [(2,)])


# -- what is kept ----------------------------------------------------------------------------------------------------


def test_memory_is_bounded_by_partials_and_not_by_rows(timed: Pond) -> None:
    timed.execute("CREATE VIEW v AS SELECT k, sum(v), min(v) FROM HOP(s, 1000, 20000) GROUP BY k")
    for first in range(0, 60_000, 10_000):
        values = range(first, first + 10_000)
        moments = pa.array([None] * 10_000, pa.timestamp("us", "UTC"))
        keys = pa.array([value % 5 for value in values], pa.int32())
        timed.insert("s", pa.table({"k": keys, "v": pa.array(values, pa.int32()), "at": moments}))
        tick(timed)
    assert rows(timed, "SELECT k, min FROM v") == [(key, 40_000 + key) for key in range(5)]
    tree = pane_state(timed, "v").tree
    assert tree.count <= 21
    assert tree.rows <= 21 * 5


def test_views_share_the_panes_of_their_windows(timed: Pond) -> None:
    timed.execute("CREATE VIEW hour WITH (step = '1min', max_age = '1h') AS SELECT k, sum(v) FROM s GROUP BY k")
    options = "step = '1 minute', max_age = '24 hours'"
    timed.execute(f"CREATE VIEW day WITH ({options}) AS SELECT k, count(*) FROM s GROUP BY k")
    assert pane_state(timed, "hour") is pane_state(timed, "day")
    event(timed, -7200, 5)
    event(timed, -60, 7)
    assert rows(timed, "SELECT * FROM hour") == [(0, 7)]
    assert rows(timed, "SELECT * FROM day") == [(0, 2)]


def test_views_of_several_ages_over_one_view_share_its_panes(timed: Pond, open_pond: Callable[[], Pond]) -> None:
    timed.execute("CREATE VIEW calls AS SELECT k, count(*) AS n, max(v) AS highest FROM s GROUP BY k HAVING max(v) > 0")
    timed.execute("CREATE VIEW daily WITH (max_age = '1 day') AS SELECT * FROM calls")
    timed.execute("CREATE VIEW weekly WITH (max_age = '7 days') AS SELECT c.highest, c.k FROM calls c WHERE n > 1")
    timed.execute("CREATE VIEW of_day WITH (max_age = '7 days') AS SELECT n, count(*) FROM daily GROUP BY n")
    assert pane_state(timed, "daily") is pane_state(timed, "weekly") is pane_state(timed, "of_day")
    day = 86_400
    for second, value, key in ((-30 * day, 9, 0), (-7 * day + 600, 5, 0), (-2 * day, 4, 0), (0, -1, 1), (0, 2, 0)):
        event(timed, second, value, key)
        if value == 4:
            tick(timed)
    for _ in range(2):
        assert rows(timed, "SELECT * FROM calls") == [(0, 4, 9)]
        assert rows(timed, "SELECT * FROM daily") == [(0, 1, 2)]
        assert rows(timed, "SELECT * FROM weekly") == [(5, 0)]
        assert rows(timed, "SELECT * FROM of_day") == [(1, 1)]
        assert rows(timed, "VERIFY VIEW weekly") == [(1, 0, 0)]
        timed = open_pond()
        assert pane_state(timed, "daily") is pane_state(timed, "weekly")


def test_a_view_over_windows_of_two_streams_in_one_grouping_is_verified(timed: Pond) -> None:
    timed.execute("CREATE STREAM r (k int, v int, at timestamptz) WITH (timestamp = at)")
    both = "SELECT k, sum(v) FROM (SELECT k, v FROM {s} a UNION ALL SELECT k, -v FROM {r} b) x GROUP BY k"
    timed.execute(f"CREATE VIEW aged WITH (max_age = '1 hour') AS {both.format(s='s', r='r')}")
    hop = "HOP({0}, INTERVAL '10 s', INTERVAL '20 s')"
    timed.execute(f"CREATE VIEW hopping AS {both.format(s=hop.format('s'), r=hop.format('r'))}")
    for second in (-4000, 1, 12, 31):
        event(timed, second, second)
        timed.execute(f"INSERT INTO r VALUES (0, 1, '{at(second)}')")
    assert rows(timed, "SELECT * FROM aged") == [(0, 1 + 12 + 31 - 3)]
    assert rows(timed, "VERIFY VIEW aged") == [(1, 0, 0)]
    assert rows(timed, "SELECT * FROM hopping") == [(0, 1 + 12 - 2)]
    assert rows(timed, "VERIFY VIEW hopping") == [(1, 0, 0)]


def test_what_continuous_views_read_is_not_replaced(timed: Pond) -> None:
    timed.execute("CREATE VIEW recent WITH (max_age = '1 day') AS SELECT * FROM s")
    timed.execute("CREATE VIEW calls AS SELECT k, count(*) FROM recent GROUP BY k")
    timed.execute("CREATE VIEW hourly WITH (max_age = '1 hour') AS SELECT * FROM calls")
    for view, query in (("recent", "SELECT * FROM s"), ("calls", "SELECT k, count(*) FROM s GROUP BY k")):
        with pytest.raises(MillpondError, match=f'replacing view "{view}", which continuous views read, is not') as why:
            timed.execute(f"CREATE OR REPLACE VIEW {view} WITH (max_age = '2 days') AS {query}")
        assert why.value.sqlstate == "0A000"
    with pytest.raises(MillpondError, match="cannot drop view calls because other objects depend on it"):
        timed.execute("DROP VIEW calls")


def test_windows_that_slide_differently_share_panes(timed: Pond, open_pond: Callable[[], Pond]) -> None:
    for name, slide, size in (("often", 5, 20), ("seldom", 10, 30), ("never", 7, 21)):
        window = f"HOP(s, INTERVAL '{slide} s', INTERVAL '{size} s')"
        timed.execute(f"CREATE VIEW {name} AS SELECT k, sum(v), count(*) FROM {window} GROUP BY k")
    assert pane_state(timed, "often") is pane_state(timed, "seldom")
    assert pane_state(timed, "often") is not pane_state(timed, "never"), "7 seconds are no whole number of panes"
    for second in range(47):
        event(timed, second, second, second % 2)
        if second == 25:
            tick(timed)

    def expected(start: int, end: int) -> list[tuple[int, int, int]]:
        return [(k, sum(range(start + k, end, 2)), (end - start) // 2) for k in (0, 1)]

    for _ in range(2):
        assert rows(timed, "SELECT * FROM often") == expected(20, 40)
        assert rows(timed, "SELECT * FROM seldom") == expected(10, 40)
        timed = open_pond()
        assert pane_state(timed, "often") is pane_state(timed, "seldom")


def test_windows_go_on_after_a_restart(timed: Pond, open_pond: Callable[[], Pond], clock: Clock) -> None:
    timed.execute("CREATE VIEW v AS SELECT k, sum(v) FROM HOP(s, INTERVAL '5 s', INTERVAL '20 s') GROUP BY k")
    timed.execute("CREATE VIEW young AS SELECT count(*) FROM s WHERE at > now() - interval '1 minute'")
    for second in range(30):
        event(timed, second, second, second % 2)
    tick(timed)
    event(timed, 30, 30)
    before = rows(timed, "SELECT * FROM v"), rows(timed, "SELECT * FROM young")
    again = open_pond()
    assert (rows(again, "SELECT * FROM v"), rows(again, "SELECT * FROM young")) == before
    assert before == ([(0, sum(range(6, 25, 2))), (1, sum(range(5, 25, 2)))], [(31,)])
    clock.pass_(120)
    assert rows(again, "SELECT * FROM young") == [(0,)]


def test_an_answer_is_one_job_and_is_given_again_for_nothing(timed: Pond) -> None:
    timed.execute("CREATE VIEW v AS SELECT k, sum(v) FROM HOP(s, 10, 50) GROUP BY k")
    timed.insert("s", [(1, value, None) for value in range(60)])
    (view,) = timed.services.views.all()
    assert isinstance(view, WindowedView)
    assert rows(timed, "SELECT * FROM v") == [(1, sum(range(10, 60)))]
    runs = view.costs.runs
    tick(timed)
    timed.insert("s", [(1, 5, None)])
    assert rows(timed, "SELECT * FROM v") == [(1, sum(range(10, 60)))]
    assert view.costs.runs == runs, "no row of the window is new"


def test_a_stream_is_not_dropped_below_a_window(timed: Pond) -> None:
    timed.execute("CREATE VIEW v AS SELECT count(*) FROM TUMBLE(s, 10)")
    with pytest.raises(MillpondError, match="other objects depend on it"):
        timed.execute("DROP STREAM s")
    timed.execute("DROP STREAM s CASCADE")
    assert rows(timed, "SELECT view FROM millpond_windows") == []


# -- subscriptions ---------------------------------------------------------------------------------------------------


def test_a_subscriber_gets_each_slide_and_corrections(timed: Pond) -> None:
    timed.execute("CREATE VIEW v AS SELECT window_start, sum(v) FROM TUMBLE(s, INTERVAL '10 s')")
    with timed.subscribe("v", snapshot=False) as changes:
        for second in (1, 11, 21, 36):
            event(timed, second, second)
        seen = [next(changes).row for _ in range(3)]
        assert [row[1] for row in seen if row is not None] == [1, 11, 21]
        event(timed, 22, 100)
        assert next(changes).row == (START + timedelta(seconds=20), 121)


def test_slides_that_are_over_are_computed_together_and_told_one_by_one(timed: Pond) -> None:
    timed.execute("CREATE VIEW v AS SELECT window_start, k, sum(v) FROM HOP(s, 10, 50) GROUP BY k, window_start")
    timed.execute("CREATE VIEW all_of_them WITH (retain = 100) AS SELECT window_end, count(*) FROM HOP(s, 10, 50)")
    with timed.subscribe("v", snapshot=False) as changes:
        timed.insert("s", [(value % 2, value, None) for value in range(700)])
        slides = range(0, 660, 10)
        for start in slides:
            told = {change.row for change in changes.fetch() if change.change in ("insert", "update")}
            assert told == {(start, k, sum(v for v in range(start, start + 50) if v % 2 == k)) for k in (0, 1)}
        assert changes.skipped == 0
    assert rows(timed, "SELECT * FROM all_of_them") == [(start + 50, 50) for start in slides]
    runs = {view.relation.name: view.costs.runs for view in timed.services.views.all()}
    assert max(runs.values()) < len(slides) / 10


def test_windows_that_were_computed_together_are_shown_beside_one_computed_alone(timed: Pond) -> None:
    timed.execute("CREATE VIEW v WITH (retain = 3) AS SELECT k, window_start, count(*) FROM TUMBLE(s, 2) GROUP BY k")
    for first, last, shown in ((0, 6, (0, 2, 4)), (6, 8, (2, 4, 6))):
        timed.insert("s", [(0, value, None) for value in range(first, last)])
        assert rows(timed, "SELECT * FROM v") == [(0, start, 2) for start in shown]


def test_a_slide_of_many_rows_brings_no_others_along(timed: Pond, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames_query, "ROWS_MAX", 99)
    timed.execute("CREATE VIEW v AS SELECT k, sum(v) FROM HOP(s, 10, 50) GROUP BY k")
    (view,) = timed.services.views.all()
    assert isinstance(view, WindowedView)
    view.followers = 1
    timed.insert("s", [(value % 2, value, None) for value in range(100)])
    slide = view.slide_after(None)
    answer = timed.services.views.answer(view, "test", {}, None, slide)
    assert (answer.slide, view.costs.runs) == (slide, 1)
    assert sorted(answer.rows.to_pydict()["c1"]) == [sum(range(0, 50, 2)), sum(range(1, 50, 2))]


def test_a_slide_that_fails_does_so_after_those_before_it_were_told(timed: Pond) -> None:
    timed.execute("CREATE VIEW v AS SELECT 10 / sum(v) FROM TUMBLE(s, 2)")
    with timed.subscribe("v", snapshot=False) as changes:
        timed.insert("s", [(0, value, None) for value in (1, 1, 1, 4, 5, 5, 0, 0)])
        assert [next(changes).row for _ in range(3)] == [(5,), (2,), (1,)]
        with pytest.raises(MillpondError, match="division by zero"):
            next(changes)


def test_a_subscriber_is_told_when_rows_grow_too_old(timed: Pond, clock: Clock) -> None:
    timed.execute("CREATE VIEW v AS SELECT count(*) FROM s WHERE at > now() - interval '10 seconds'")
    with timed.subscribe("v") as changes:
        assert next(changes).row == (0,)
        event(timed, 0)
        assert next(changes).row == (1,)
        time.sleep(0.1)
        clock.pass_(20)
        assert next(changes).row == (0,)


def test_a_subscription_to_a_window_that_nothing_groups(timed: Pond) -> None:
    with timed.subscribe("SELECT v FROM TUMBLE(s, 2) WHERE v > 1", snapshot=False) as changes:
        timed.insert("s", [(0, value, None) for value in range(4)])
        assert sorted(str(next(changes).row) for _ in range(2)) == ["(2,)", "(3,)"]


# -- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "sqlstate", "message"),
    [
        ("CREATE CONTINUOUS QUERY q AS INSERT INTO t SELECT k FROM TUMBLE(s, 10)", "0A000", "TUMBLE"),
        ("CREATE VIEW v WITH (retain = 0) AS SELECT count(*) FROM TUMBLE(s, 10)", "22023", "valid range"),
        ("CREATE VIEW v WITH (retain = 2) AS SELECT count(*) FROM s", "42704", 'unrecognized parameter "retain"'),
        ("CREATE VIEW v WITH (max_age = '1h') AS SELECT count(*) FROM TUMBLE(s, 10)", "42704", "max_age"),
        ("CREATE VIEW v WITH (max_age = '1 month') AS SELECT count(*) FROM s", "22023", "invalid value"),
        ("CREATE VIEW v WITH (max_age = 'long') AS SELECT count(*) FROM s", "22023", "invalid value"),
        ("CREATE STREAM r (k int) WITH (idle = '1s')", "22023", 'option "idle" needs option "timestamp"'),
    ],
)
def test_errors(timed: Pond, statement: str, sqlstate: str, message: str) -> None:
    timed.execute("CREATE TABLE t (k int)")
    with pytest.raises(MillpondError, match=message) as caught:
        timed.execute(statement)
    assert caught.value.sqlstate == sqlstate


# -- how windows are computed ----------------------------------------------------------------------------------------


def test_a_measured_choice_is_shown_and_outlives_a_restart(
    timed: Pond, open_pond: Callable[[], Pond], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measured_mode, "SLIDES", 1)
    timed.execute("CREATE VIEW v AS SELECT sum(v) FROM HOP(s, 2, 4)")
    timed.execute("CREATE VIEW fixed WITH (window_mode = incremental) AS SELECT sum(v) FROM HOP(s, 2, 4)")
    seen = set()
    for first in range(0, 14, 2):
        timed.insert("s", [(0, first, None), (0, first + 1, None)])
        newest = [sum(range(first - 2, first + 2))]
        assert rows(timed, "SELECT * FROM v") == ([tuple(newest)] if first else [])
        seen.add(rows(timed, "SELECT mode FROM millpond_windows WHERE view = 'v'")[0][0])
    assert seen == {"incremental", "reevaluate"}
    (view,) = (one for one in timed.services.views.all() if one.relation.name == "v")
    assert isinstance(view, WindowedView)
    assert view.mode.settled
    shown = rows(timed, "SELECT view, mode FROM millpond_windows")
    assert ("fixed", "incremental") in shown
    assert rows(open_pond(), "SELECT view, mode FROM millpond_windows") == shown


def test_a_window_that_the_stream_no_longer_holds_is_computed_from_partials(timed: Pond) -> None:
    timed.execute("CREATE STREAM small (v int) WITH (capacity = '10')")
    timed.execute("CREATE VIEW v AS SELECT count(*), min(v) FROM HOP(small, 10, 100)")
    (view,) = timed.services.views.all()
    assert isinstance(view, WindowedView)
    view.mode.mode, view.mode.settled = "reevaluate", True
    for first in range(0, 150, 10):
        timed.insert("small", [(value,) for value in range(first, first + 10)])
        tick(timed)
    (stream,) = view.streams.values()
    assert stream.stats().first_tid > 50
    assert rows(timed, "SELECT * FROM v") == [(100, 50)]


def test_rows_from_before_a_view_are_in_none_of_its_windows_however_it_computes_them(timed: Pond) -> None:
    timed.insert("s", [(0, value, None) for value in range(5)])
    timed.execute("CREATE VIEW v AS SELECT count(*), min(v) FROM LANDMARK(s, 100)")
    (view,) = timed.services.views.all()
    assert isinstance(view, WindowedView)
    timed.insert("s", [(0, value, None) for value in range(5, 8)])
    assert rows(timed, "SELECT * FROM v") == [(3, 5)]
    view.mode.mode, view.mode.settled = "reevaluate", True
    timed.insert("s", [(0, 8, None)])
    assert rows(timed, "SELECT * FROM v") == [(4, 5)]

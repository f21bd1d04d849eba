"""Late rows that no window takes: where they go, exactly once, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from millpond import MillpondError, Pond
from tests.queries.support import wait_until
from tests.windows.conftest import START, at, event, rows, tick

LATE = "SELECT late_view, late_tid, v, late_watermark, at FROM s_late ORDER BY late_view, late_tid"


def late(pond: Pond) -> list[tuple[Any, ...]]:
    """What is in the stream of late rows once all that there are were published."""
    tick(pond)
    pond.services.views.late.publish()
    return list(pond.execute(LATE).fetchall())


def test_rows_that_no_window_takes_go_to_a_stream_of_their_own(timed: Pond) -> None:
    timed.execute("CREATE VIEW v WITH (retain = 2) AS SELECT window_start, sum(v) FROM TUMBLE(s, INTERVAL '10 s')")
    timed.execute("CREATE VIEW wide WITH (retain = 9) AS SELECT count(*) FROM TUMBLE(s, INTERVAL '10 s')")
    for second in (1, 11, 21, 36):
        event(timed, second)
    event(timed, 12, 100)
    event(timed, 2, 1000)
    expected = ("v", 5, 1000, START + timedelta(seconds=31), START + timedelta(seconds=2))
    assert late(timed) == [expected]
    assert late(timed) == [expected], "once is enough"
    event(timed, 3, 1001)
    event(timed, -500, 7)
    assert [row[:3] for row in late(timed)] == [("v", 5, 1000), ("v", 6, 1001), ("v", 7, 7), ("wide", 7, 7)]


def test_late_rows_arrive_without_being_asked_for(timed: Pond) -> None:
    timed.execute("CREATE VIEW v AS SELECT count(*) FROM TUMBLE(s, INTERVAL '10 s')")
    with timed.subscribe("SELECT late_view, v FROM s_late", snapshot=False) as changes:
        for second, value in ((100, 1), (200, 2), (5, 3)):
            event(timed, second, value)
        assert next(changes).row == ("v", 3)


def test_late_rows_of_sessions(timed: Pond) -> None:
    timed.execute(
        "CREATE VIEW v AS SELECT k, window_start, count(*) FROM SESSION(s, INTERVAL '10 s' PARTITION BY k) GROUP BY k"
    )
    for second in (1, 100, 200):
        event(timed, second)
    event(timed, 2, 5)  # the session of this key was shown before the last
    event(timed, 2, 6, key=1)  # this key has no other
    assert [row[:3] for row in late(timed)] == [("v", 3, 5)]
    assert rows(timed, "SELECT k, count FROM v") == [(0, 1), (1, 1)]
    assert rows(timed, "SELECT late_rows FROM millpond_windows") == [(1,)]


def test_late_rows_survive_a_restart_and_are_not_told_twice(timed: Pond, open_pond: Callable[[], Pond]) -> None:
    timed.execute("CREATE VIEW v AS SELECT count(*) FROM TUMBLE(s, INTERVAL '10 s')")
    timed.services.views.late.close()  # whatever ticks find is not published
    for second, value in ((100, 1), (200, 2), (5, 3)):
        event(timed, second, value)
    tick(timed)
    assert timed.execute(LATE).fetchall() == []
    again = open_pond()
    wait_until(lambda: len(again.execute(LATE).fetchall()) == 1, "late rows are published after a restart")
    event(again, 6, 4)
    assert [row[2] for row in late(again)] == [3, 4]
    assert [row[2] for row in late(open_pond())] == [3, 4]


def test_what_was_published_right_before_the_end_is_not_published_again(
    timed: Pond, open_pond: Callable[[], Pond]
) -> None:
    timed.execute("CREATE VIEW v AS SELECT count(*) FROM TUMBLE(s, INTERVAL '10 s')")
    for second, value in ((100, 1), (200, 2), (5, 3)):
        event(timed, second, value)
    assert [row[2] for row in late(timed)] == [3]
    # Until the next tick the state still lists them.
    (view,) = timed.services.views.all()
    (state,) = view.states.values()
    assert len(state.record.late) == 1
    assert [row[2] for row in late(open_pond())] == [3]


def test_a_stream_may_want_no_late_rows(timed: Pond) -> None:
    timed.execute("CREATE STREAM d (v int, at timestamptz) WITH (timestamp = at, late = 'drop')")
    timed.execute("CREATE VIEW v AS SELECT count(*) FROM TUMBLE(d, INTERVAL '10 s')")
    timed.execute(f"INSERT INTO d VALUES (1, '{at(100)}'), (1, '{at(200)}'), (1, '{at(5)}')")
    tick(timed)
    assert rows(timed, "SELECT late_rows FROM millpond_windows WHERE stream = 'd'") == [(1,)]
    with pytest.raises(MillpondError, match='relation "d_late" does not exist'):
        timed.execute("SELECT * FROM d_late")


def test_windows_without_late_rows_need_no_stream(timed: Pond) -> None:
    timed.execute("CREATE VIEW r AS SELECT count(*) FROM TUMBLE(s, 10)")
    timed.execute("CREATE VIEW a AS SELECT count(*) FROM TUMBLE(s, arrival_timestamp, INTERVAL '1 s')")
    with pytest.raises(MillpondError, match='relation "s_late" does not exist'):
        timed.execute("SELECT * FROM s_late")


def test_the_name_may_be_taken(timed: Pond) -> None:
    timed.execute("CREATE TABLE s_late (a int)")
    with pytest.raises(MillpondError, match='relation "s_late" already exists') as caught:
        timed.execute("CREATE VIEW v AS SELECT count(*) FROM TUMBLE(s, INTERVAL '10 s')")
    assert caught.value.sqlstate == "42P07"
    assert caught.value.hint is not None
    assert rows(timed, "SELECT name FROM millpond_views") == []


def test_it_is_dropped_with_its_stream(timed: Pond) -> None:
    timed.execute("CREATE VIEW v AS SELECT count(*) FROM TUMBLE(s, INTERVAL '10 s')")
    timed.execute("CREATE VIEW told AS SELECT count(*) FROM s_late")
    with pytest.raises(MillpondError, match="other objects depend on it") as caught:
        timed.execute("DROP STREAM s_late")
    assert caught.value.sqlstate == "2BP01"
    timed.execute("DROP VIEW v")
    with pytest.raises(MillpondError, match="other objects depend on it"):
        timed.execute("DROP STREAM s")
    timed.execute("DROP VIEW told")
    timed.execute("DROP STREAM s, s_late")
    assert rows(timed, "SELECT name FROM millpond_streams") == []


def test_late_rows_have_the_name_that_a_view_has_then(timed: Pond) -> None:
    timed.execute("CREATE VIEW v AS SELECT count(*) FROM TUMBLE(s, INTERVAL '10 s')")
    timed.execute("CREATE VIEW w AS SELECT k, count(*) FROM SESSION(s, INTERVAL '10 s' PARTITION BY k) GROUP BY k")
    for second, value in ((100, 1), (200, 2), (300, 3), (5, 4)):
        event(timed, second, value)
    assert [row[:3] for row in late(timed)] == [("v", 3, 4), ("w", 3, 4)]
    timed.execute("ALTER VIEW v RENAME TO x")
    timed.execute("ALTER VIEW w RENAME TO y")
    event(timed, 6, 5)
    assert [row[:3] for row in late(timed)] == [("v", 3, 4), ("w", 3, 4), ("x", 4, 5), ("y", 4, 5)]


@pytest.mark.parametrize("restarts", [False, True])
def test_late_rows_of_a_view_that_fails_are_published(
    timed: Pond, open_pond: Callable[[], Pond], restarts: bool
) -> None:
    """One view has a state of its own; the other shares one with a view that goes on."""
    timed.execute("CREATE VIEW alone AS SELECT k, sum(10 / v) FROM TUMBLE(s, INTERVAL '10 s') GROUP BY k")
    timed.execute("CREATE VIEW shared AS SELECT sum(10 / v) FROM TUMBLE(s, INTERVAL '10 s')")
    timed.execute("CREATE VIEW whole AS SELECT count(*) FROM TUMBLE(s, INTERVAL '10 s')")
    timed.services.views.late.close()  # whatever ticks find is not published
    for second, value in ((100, 1), (200, 2), (5, 3)):
        event(timed, second, value)
    tick(timed)
    event(timed, 6, 0)
    tick(timed)
    assert rows(timed, "SELECT name FROM millpond_views WHERE error IS NOT NULL") == [("alone",), ("shared",)]
    pond = open_pond() if restarts else timed
    assert [row[:3] for row in late(pond)] == [("alone", 2, 3), ("shared", 2, 3), ("whole", 2, 3), ("whole", 3, 0)]
    again = open_pond()
    assert len(late(again)) == 4, "once is enough"
    assert all(view.record.late == () for view in again.services.views.all())
    again.execute("DROP VIEW alone, shared, whole")
    again.execute("DROP STREAM s")


def test_it_gets_the_owner_of_its_stream(timed: Pond) -> None:
    timed.execute("CREATE ROLE ann; CREATE ROLE bob; GRANT CREATE ON SCHEMA public TO ann, bob")
    timed.execute("CREATE VIEW v AS SELECT count(*) FROM TUMBLE(s, INTERVAL '10 s')")
    owners = "SELECT relname, relowner::regrole::text FROM pg_class WHERE relname IN ('s', 's_late')"
    timed.execute("ALTER FOREIGN TABLE s OWNER TO ann")
    assert rows(timed, owners) == [("s", "ann"), ("s_late", "ann")]
    timed.execute("ALTER FOREIGN TABLE s_late OWNER TO bob")
    timed.execute("ALTER TABLE s OWNER TO bob")
    timed.execute("REASSIGN OWNED BY bob TO ann")
    assert rows(timed, owners) == [("s", "ann"), ("s_late", "ann")]


def test_streams_keep_their_names(timed: Pond) -> None:
    """Views know their streams by name; so do streams of late rows."""
    for words in ("TABLE", "FOREIGN TABLE", "STREAM"):
        with pytest.raises(MillpondError) as caught:
            timed.execute(f"ALTER {words} s RENAME TO t")
        assert caught.value.sqlstate.value in ("0A000", "42601"), words

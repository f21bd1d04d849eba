"""Sessions of a stream, however it is cut, beside a model that looks at one row after the other."""

from __future__ import annotations

from itertools import pairwise

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from millpond.run.session_rows import arrivals_of
from millpond.run.sessions import Keeps, Key, Session, Sessions

GAP, DELAY = 10, 5
Rows = list[tuple[str | None, int | None]]

KEEPS = st.sampled_from([Keeps(1), Keeps(2), Keeps(None, max_age=25), Keeps(3, max_age=40)])
STEPS = st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from([0, 1, 4, 11, 20]), st.sampled_from([0, 0, 3, 30]))


@st.composite
def arriving(draw: st.DrawFn) -> Rows:
    """Rows in about the order of their places; few have none."""
    rows: Rows = []
    now = 0
    for key, step, behind in draw(st.lists(STEPS, max_size=60)):
        now += step
        rows.append((key, None if draw(st.integers(0, 30)) == 0 else now - behind))
    return rows


def take(sessions: Sessions, rows: Rows) -> list[int]:
    """Take more rows; the tids of those that are late."""
    places = pa.chunked_array([pa.array([place for _, place in rows], pa.int64())])
    keys = pa.chunked_array([pa.array([key for key, _ in rows], pa.string())])
    arrivals, known = arrivals_of(places, [keys])
    first = sessions.end
    return [first + int(known[number]) for number, _ in sessions.take(arrivals, first + len(rows))]


def kept(sessions: Sessions) -> dict[Key, tuple[Session, ...]]:
    sessions.settle()
    return {key: own.sessions for key, own in sessions.by_key.items() if own.sessions}


@settings(max_examples=200, deadline=None)
@given(arriving(), st.sets(st.integers(1, 59)), KEEPS, st.booleans())
def test_neither_sessions_nor_late_rows_depend_on_the_cuts(
    rows: Rows, cuts: set[int], keeps: Keeps, saved: bool
) -> None:
    model, expected = Sessions(GAP, DELAY, keeps, 0), []
    for row in rows:
        expected += take(model, [row])
    cut, late = Sessions(GAP, DELAY, keeps, 0), []
    bounds = sorted({0, *(one for one in cuts if one < len(rows)), len(rows)})
    for first, end in pairwise(bounds):
        late += take(cut, rows[first:end])
        cut.settle()
        if saved:
            loaded = Sessions(GAP, DELAY, keeps, cut.end, cut.high)
            loaded.load(cut.to_table([pa.string()]))
            assert loaded == cut
            cut = loaded
    assert late == expected
    assert kept(cut) == kept(model)


@given(arriving())
def test_rows_of_a_session_follow_each_other_within_the_gap(rows: Rows) -> None:
    sessions = Sessions(GAP, DELAY, Keeps(retain=None), 0)
    assert take(sessions, rows) == []
    for (key,), own in sessions.by_key.items():
        places = sorted(place for other, place in rows if other == key and place is not None)
        breaks = [place for before, place in pairwise(places) if place - before >= GAP]
        assert [one.first for one in own.sessions] == [places[0], *breaks]
        assert sum(one.rows for one in own.sessions) == len(places)


def test_a_row_is_late_where_a_session_was_forgotten() -> None:
    sessions = Sessions(GAP, 0, Keeps(1), 0)
    assert take(sessions, [("a", 3), ("a", 50), ("a", 100)]) == []
    assert take(sessions, [("a", 7), ("b", 7), ("a", 45)]) == [3]
    assert kept(sessions) == {("a",): (Session(45, 50, 2), Session(100, 100, 1)), ("b",): (Session(7, 7, 1),)}


def test_keys_go_with_their_last_session() -> None:
    sessions = Sessions(GAP, 0, Keeps(None, max_age=30), 0)
    take(sessions, [(None, 0), ("b", 100)])
    assert kept(sessions) == {("b",): (Session(100, 100, 1),)}
    assert len(sessions.by_key) == 1
    assert sessions.first_pane == 10

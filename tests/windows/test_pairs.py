"""Two windows that are joined and grouped: pairs of rows are kept, whatever arrives when, and forgotten in time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from millpond import MillpondError, Pond
from millpond.run.windowed_view import WindowedView
from tests.windows.conftest import event, rows, tick

QUERY = (
    "SELECT a.k, count(*), sum(b.v) FROM HOP(s, INTERVAL '10 s', INTERVAL '30 s') a"
    " JOIN HOP(s, INTERVAL '10 s', INTERVAL '30 s') b ON a.k = b.k GROUP BY a.k"
)


def settle(pond: Pond) -> None:
    """Have all rows taken, and all pairs kept."""
    tick(pond)
    pond.services.views.pair_up()


def kept(pond: Pond) -> tuple[int, int]:
    """Rows that the only view has paired, and partials of their pairs."""
    pairs = only_view(pond).pairs
    assert pairs is not None
    return pairs.rows, pairs.partials


def only_view(pond: Pond) -> WindowedView:
    (view,) = pond.services.views.all()
    assert isinstance(view, WindowedView)
    return view


def test_late_rows_meet_the_rows_that_came_before(timed: Pond) -> None:
    timed.execute(f"CREATE VIEW v AS {QUERY}")
    for second in (1, 11, 12, 25, 36):
        event(timed, second, second)
    settle(timed)
    assert rows(timed, "SELECT * FROM v") == [(0, 16, 4 * (1 + 11 + 12 + 25))]
    event(timed, 13, 13)  # late, into a pane that is paired
    expected = [(0, 25, 5 * (1 + 11 + 12 + 13 + 25))]
    assert rows(timed, "SELECT * FROM v") == expected
    tick(timed)
    assert rows(timed, "SELECT * FROM v") == expected, "taken, but not yet paired"
    settle(timed)
    event(timed, 37, 1, key=9)  # nothing of the window, so that it is not computed anew
    assert rows(timed, "SELECT * FROM v") == expected


def test_pairs_are_found_again_after_a_restart(timed: Pond, open_pond: Callable[[], Pond]) -> None:
    timed.execute(f"CREATE VIEW v AS {QUERY}")
    for second in range(0, 40, 2):
        event(timed, second, second, second % 3)
    settle(timed)
    before = rows(timed, "SELECT * FROM v")
    again = open_pond()
    assert rows(again, "SELECT * FROM v") == before
    event(again, 3, 100, 2)
    settle(again)
    assert rows(again, "SELECT k, count FROM v") != [(k, n) for k, n, _ in before]


def test_what_is_kept_of_pairs_is_bounded_by_panes_and_rows_of_windows(timed: Pond) -> None:
    timed.execute("CREATE VIEW v AS SELECT count(*) FROM HOP(s, 10, 50) a, HOP(s, 10, 50) b WHERE a.k = b.k")
    for first in range(0, 200, 20):
        timed.insert("s", [(value % 3, value, None) for value in range(first, first + 20)])
        rows(timed, "SELECT * FROM v")
        settle(timed)
    assert rows(timed, "SELECT * FROM v") == [(17**2 + 17**2 + 16**2,)]
    paired, partials = kept(timed)
    assert paired == 2 * 50
    assert partials <= 2 * 5


def test_pairs_of_several_windows_at_once(timed: Pond) -> None:
    """Some of them paired, some pending and some not even taken, as a view shows all of them in one answer."""
    query = "SELECT a.window_end, a.k, sum(a.v - b.k) FROM HOP(s, 10, 50) a, HOP(s, 10, 50) b WHERE a.k = b.k"
    timed.execute(f"CREATE VIEW v WITH (retain = 20) AS {query} GROUP BY a.k, a.window_end")
    for first, last in ((0, 100), (100, 163), (163, 230)):
        timed.insert("s", [(value % 3, value * value % 17, None) for value in range(first, last)])
        if last == 100:
            settle(timed)
        elif last == 163:
            tick(timed)
    expected = []
    for end in range(50, 231, 10):
        for k in range(3):
            values = [value * value % 17 for value in range(end - 50, end) if value % 3 == k]
            expected.append((end, k, len(values) * (sum(values) - k * len(values))))
    assert rows(timed, "SELECT * FROM v") == sorted(expected)


def test_a_reader_waits_for_pairs_in_the_making_unless_it_knows_the_answer(timed: Pond) -> None:
    timed.execute("CREATE VIEW v AS SELECT count(*) FROM TUMBLE(s, 4) a, TUMBLE(s, 4) b WHERE a.k = b.k")
    pairs = only_view(timed).pairs
    assert pairs is not None
    timed.insert("s", [(value % 2, value, None) for value in range(4)])
    tick(timed)
    with ThreadPoolExecutor(1) as reader:
        with pairs._at_work:
            answer = reader.submit(rows, timed, "SELECT * FROM v")
            with pytest.raises(TimeoutError):
                answer.result(timeout=0.5)
        assert answer.result() == [(8,)]
        with pairs._at_work:
            assert reader.submit(rows, timed, "SELECT * FROM v").result() == [(8,)]


def test_an_error_in_a_pair_goes_when_its_rows_do(timed: Pond) -> None:
    timed.execute("CREATE VIEW v AS SELECT sum(100 / (a.v - b.k)) FROM TUMBLE(s, 2) a, TUMBLE(s, 2) b WHERE a.k = b.k")
    timed.insert("s", [(1, 1, None), (1, 2, None)])
    with pytest.raises(MillpondError, match="division by zero"):
        rows(timed, "SELECT * FROM v")
    timed.insert("s", [(1, 2, None), (1, 3, None)])
    assert rows(timed, "SELECT * FROM v") == [(2 * (100 + 50),)]


def test_a_view_that_comes_later_pairs_only_what_it_sees(timed: Pond) -> None:
    query = "SELECT count(*) FROM LAST_WINDOW a, LAST_WINDOW b WHERE a.k = b.k".replace("LAST_WINDOW", "TUMBLE(s, 4)")
    timed.execute(f"CREATE VIEW early_on AS {query}")
    timed.insert("s", [(1, 1, None), (1, 2, None), (1, 3, None), (1, 4, None)])
    settle(timed)
    timed.execute(f"CREATE VIEW later AS {query}")
    assert (rows(timed, "SELECT * FROM early_on"), rows(timed, "SELECT * FROM later")) == ([(16,)], [])
    timed.insert("s", [(1, 1, None), (2, 2, None), (2, 3, None), (2, 4, None)])
    assert (rows(timed, "SELECT * FROM early_on"), rows(timed, "SELECT * FROM later")) == ([(10,)], [(10,)])

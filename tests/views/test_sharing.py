"""Views that share a state: one job for all of them, and each as if it were alone, whoever comes, goes or fails."""

from __future__ import annotations

import pytest

from millpond import Pond
from millpond.run import kept, merge
from tests.views.support import OpenPond, error_of, last_job, numbers, rows, states

ROWS = 100
pytestmark = pytest.mark.timeout(300)

VIEWS = {
    "sums": "SELECT k, sum(v) AS total FROM s GROUP BY k",
    "even": "SELECT t.k, count(*) AS n, max(t.v) AS top FROM s AS t WHERE t.v % 2 = 0 GROUP BY t.k",
    "keys": "SELECT DISTINCT k FROM s WHERE k < 3 AND v % 2 = 0",
}


def create(pond: Pond, *names: str) -> None:
    for name in names:
        pond.execute(f"CREATE VIEW {name} AS {VIEWS[name]}")


def check(pond: Pond, *names: str) -> None:
    """Each view holds what its query over the same tuples answers."""
    for name in names:
        ((_, missing, unexpected),) = rows(pond, f"VERIFY VIEW {name}")
        assert (name, missing, unexpected) == (name, 0, 0)


def explained(pond: Pond, name: str) -> list[str]:
    return [line for (line,) in pond.execute(f"EXPLAIN VIEW {name}").fetchall()]


def test_views_by_the_same_key_are_kept_by_one_job(pond: Pond, always_ticks: None) -> None:
    pond.execute("CREATE STREAM s (k int, v int)")
    create(pond, *VIEWS)
    assert len(states(pond)) == 1
    pond.insert("s", numbers(0, ROWS))
    before = last_job(pond)
    pond.services.views.catch_up(pond.services.catalog.snapshot.relations["s"].oid)
    assert last_job(pond) - before == 1
    assert rows(pond, "SELECT * FROM keys ORDER BY k") == [(0,), (2,)]
    check(pond, *VIEWS)


def test_explain_shows_what_is_shared(pond: Pond) -> None:
    pond.execute("CREATE STREAM s (k int, v int)")
    create(pond, "sums", "even")
    lines = explained(pond, "even")
    place = lines.index("state_0 is shared with sums")
    assert "FILTER (WHERE (`t`.`v` % 2) = 0)" in lines[place + 1]
    create(pond, "keys")
    assert "state_0 is shared with even, keys" in explained(pond, "sums")
    pond.execute("DROP VIEW even; DROP VIEW keys")
    assert not any("shared" in line for line in explained(pond, "sums"))


@pytest.mark.parametrize("few_rows", [0, 100_000], ids=["in buckets", "in one file"])
def test_a_view_that_joins_later_sees_later_tuples_only(
    open_pond: OpenPond, monkeypatch: pytest.MonkeyPatch, few_rows: int
) -> None:
    monkeypatch.setattr(kept, "COLLECTED_ROWS_MAX", few_rows)
    monkeypatch.setattr(merge, "SMALL_ROWS_MAX", few_rows)
    pond = open_pond()
    pond.execute("CREATE STREAM s (k int, v int)")
    create(pond, "sums")
    pond.insert("s", numbers(0, 40))
    create(pond, "even")
    assert len(states(pond)) == 1
    assert rows(pond, "SELECT * FROM even") == []
    pond.insert("s", numbers(40, 60))
    check(pond, "sums", "even")
    pond = open_pond()
    create(pond, "keys")
    pond.insert("s", numbers(60, 71))
    assert len(states(pond)) == 1
    check(pond, *VIEWS)
    pond.execute("DROP VIEW sums")
    pond.insert("s", numbers(71, 90))
    pond = open_pond()
    check(pond, "even", "keys")
    assert rows(pond, "SELECT name, tuples_in + lag FROM millpond_views ORDER BY name") == [("even", 50), ("keys", 30)]


def test_a_failing_view_leaves_the_others(open_pond: OpenPond, always_ticks: None) -> None:
    pond = open_pond()
    pond.execute("CREATE STREAM s (k int, v int)")
    create(pond, *VIEWS)
    pond.execute("CREATE VIEW bad AS SELECT k, count(*) FILTER (WHERE 10 / (v - 13) > 0) AS x FROM s GROUP BY k")
    assert len(states(pond)) == 1
    pond.insert("s", numbers(0, ROWS))
    check(pond, *VIEWS)
    assert error_of(pond, "SELECT * FROM bad") == ("22012", "division by zero")
    pond = open_pond()
    pond.insert("s", numbers(0, ROWS))
    check(pond, *VIEWS)
    assert error_of(pond, "SELECT * FROM bad") == ("22012", "division by zero")


def test_a_backfilled_view_has_a_state_of_its_own(pond: Pond, always_ticks: None) -> None:
    pond.execute("CREATE STREAM s (k int, v int)")
    create(pond, "sums")
    pond.insert("s", numbers(0, 40))
    rows(pond, "SELECT * FROM sums")
    pond.execute(f"CREATE VIEW all_even WITH (backfill) AS {VIEWS['even']}")
    assert len(states(pond)) == 2
    pond.insert("s", numbers(40, 50))
    assert sum(n for _, n, _ in rows(pond, "SELECT * FROM all_even")) == 25
    check(pond, "sums", "all_even")


def test_a_view_may_share_with_itself(pond: Pond, always_ticks: None) -> None:
    pond.execute("CREATE STREAM s (k int, v int)")
    pond.execute(
        "CREATE VIEW pairs AS SELECT a.k, a.n, b.top FROM (SELECT k, count(*) AS n FROM s GROUP BY k) a"
        " LEFT JOIN (SELECT k, max(v) AS top FROM s WHERE v % 3 = 0 GROUP BY k) b ON b.k = a.k"
    )
    assert len(states(pond)) == 1
    pond.insert("s", numbers(0, 50))
    pond.insert("s", numbers(50, 55))
    check(pond, "pairs")
    pond.execute("DROP VIEW pairs")
    assert states(pond) == {}


def test_large_parts_are_merged_without_a_shuffle_and_in_the_background(
    pond: Pond, always_ticks: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "COLLECTED_ROWS_MAX", 0)
    monkeypatch.setattr(merge, "SMALL_ROWS_MAX", 0)
    pond.execute("CREATE STREAM s (k int, v int)")
    create(pond, "sums", "even")
    view = pond.services.views.all()[0]
    (state,) = view.states.values()
    pond.insert("s", [(number, number) for number in range(1000)])
    rows(pond, "SELECT * FROM sums")
    assert [(part.rows, part.buckets > 0) for part in state.record.parts] == [(1000, True)]
    pond.insert("s", [(number, number) for number in range(100)])
    rows(pond, "SELECT * FROM sums")
    assert [part.rows for part in state.record.parts] == [1000, 100], "a small part does not rewrite a large one"
    check(pond, "sums", "even")
    grouping = state.shared.grouping
    assert "Exchange" not in state._frame(pond.services.runner, grouping, state.record.parts, {}).explain()
    with pond.services.streams.get(pond.services.catalog.snapshot.relations["s"]).hold(0, 500) as chunk:
        (oid,) = view.streams
        plan = state._frame(pond.services.runner, grouping, state.record.parts, {oid: chunk}).explain()
        assert plan.count("Exchange") == 1, "only the rows of the chunk are shuffled"

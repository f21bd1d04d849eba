"""Views through restarts: whatever was read, or was not, each goes on where it was."""

from __future__ import annotations

import pytest

from millpond.run import kept, merge, views
from tests.views.support import OpenPond, error_of, numbers, rows

pytestmark = pytest.mark.timeout(300)


@pytest.mark.parametrize("read_along_rows", [0, 100_000], ids=["ticks", "reads along"])
@pytest.mark.parametrize("merged_rows", [0, 100_000], ids=["many parts", "one part"])
def test_a_view_goes_on_after_a_restart_in_any_state(
    open_pond: OpenPond, monkeypatch: pytest.MonkeyPatch, read_along_rows: int, merged_rows: int
) -> None:
    monkeypatch.setattr(views, "READ_ALONG_ROWS_MAX", read_along_rows)
    monkeypatch.setattr(kept, "COLLECTED_ROWS_MAX", merged_rows)
    monkeypatch.setattr(merge, "SMALL_ROWS_MAX", merged_rows)
    pond = open_pond()
    pond.execute("CREATE STREAM s (k int, v int)")
    pond.execute("CREATE VIEW by_k AS SELECT k, count(*) AS n, sum(v) AS v FROM s GROUP BY k")
    pond = open_pond()  # nothing arrived
    pond.insert("s", numbers(0, 30))
    pond = open_pond()  # nobody has read
    assert rows(pond, "SELECT * FROM by_k") == _by_k(30)
    pond = open_pond()  # all was read
    assert rows(pond, "SELECT * FROM by_k") == _by_k(30)
    pond.insert("s", numbers(30, 60))
    rows(pond, "SELECT * FROM by_k")
    pond.insert("s", numbers(60, 90))
    pond = open_pond()  # some was read
    pond.insert("s", numbers(90, 100))
    assert rows(pond, "SELECT * FROM by_k") == _by_k(100)


def _by_k(end: int) -> list[tuple[int, int, int]]:
    return [(k, len(range(k, end, 10)), sum(range(k, end, 10))) for k in range(10)]


def test_a_dropped_view_stays_dropped(open_pond: OpenPond, always_ticks: None) -> None:
    pond = open_pond()
    pond.execute("CREATE STREAM s (k int, v int)")
    pond.execute("CREATE VIEW total AS SELECT count(*) AS n FROM s")
    pond.insert("s", numbers(0, 10))
    rows(pond, "SELECT * FROM total")
    pond.execute("DROP VIEW total")
    state = pond.path / "state"
    assert list(state.iterdir()) == []
    pond = open_pond()
    assert error_of(pond, "SELECT * FROM total") == ("42P01", 'relation "total" does not exist')
    pond.execute("CREATE VIEW total AS SELECT count(*) AS n FROM s")
    assert rows(pond, "SELECT * FROM total") == [(0,)], "a new view of the name starts anew"


def test_a_view_of_a_memory_stream_keeps_what_it_read(open_pond: OpenPond, always_ticks: None) -> None:
    pond = open_pond()
    pond.execute("CREATE FOREIGN TABLE s (k int, v int) SERVER stream OPTIONS (durability 'memory')")
    pond.execute("CREATE VIEW total AS SELECT count(*) AS n, sum(v) AS v FROM s")
    pond.insert("s", numbers(0, 50))
    assert rows(pond, "SELECT * FROM total") == [(50, 1225)]
    pond = open_pond()
    assert rows(pond, "SELECT * FROM total") == [(50, 1225)]
    pond.insert("s", numbers(50, 60))
    pond.insert("s", numbers(60, 100))
    assert rows(pond, "SELECT * FROM total") == [(100, 4950)]


def test_a_pinned_table_survives_change_vacuum_and_restart(open_pond: OpenPond) -> None:
    pond = open_pond()
    pond.execute("CREATE STREAM s (k int, v int)")
    pond.execute("CREATE TABLE t (k int, name text)")
    pond.execute("INSERT INTO t VALUES (1, 'one'), (2, 'two')")
    pond.execute("CREATE VIEW named AS SELECT name, count(*) AS n FROM s JOIN t ON s.k = t.k GROUP BY name")
    pond.insert("s", numbers(0, 20))
    pond.execute("UPDATE t SET name = 'changed'")
    pond.execute("VACUUM FULL t")
    pond = open_pond()
    pond.insert("s", numbers(20, 40))
    assert rows(pond, "SELECT * FROM named") == [("one", 4), ("two", 4)]

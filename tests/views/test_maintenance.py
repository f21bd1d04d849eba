"""How views are kept: many of them at once, beside writers and readers, and in a ring that is too small."""

from __future__ import annotations

import threading
from collections.abc import Mapping

import pyarrow as pa
import pytest

from millpond import Pond
from millpond.run import views
from millpond.spark.runner import Frame, Input, Runner
from tests.spark.judge import Failure, ask_pond
from tests.views.support import OpenPond, error_of, in_background, last_job, numbers, rows

ROWS = 100
pytestmark = pytest.mark.timeout(300)

# -- many views ------------------------------------------------------------------------------------------------------


def test_views_of_a_stream_advance_together(pond: Pond, always_ticks: None) -> None:
    pond.execute("CREATE STREAM s (k int, v int)")
    for number in range(8):
        pond.execute(f"CREATE VIEW v{number} AS SELECT k, sum(v) AS total FROM s WHERE v % 8 = {number} GROUP BY k")
    pond.insert("s", numbers(0, ROWS))
    pond.execute("SELECT * FROM v0")
    offsets = {tuple(state.offsets.values()) for state in pond.services.catalog.states().values()}
    assert offsets == {(ROWS,)}, "one tick serves all views, in one transaction"
    for number in range(8):
        assert sum(total for _, total in rows(pond, f"SELECT * FROM v{number}")) == sum(range(number, ROWS, 8))


def test_a_view_of_two_streams_reads_each_at_its_own_pace(pond: Pond, always_ticks: None) -> None:
    pond.execute("CREATE STREAM a (k int, v int)")
    pond.execute("CREATE STREAM b (k int, v int)")
    both = "SELECT k, v FROM a UNION ALL SELECT k, v FROM b"
    pond.execute(f"CREATE VIEW total AS SELECT count(*) AS n, sum(v) AS v FROM ({both}) AS both")
    pond.insert("a", numbers(0, 10))
    assert rows(pond, "SELECT * FROM total") == [(10, 45)]
    pond.insert("b", numbers(0, 5))
    pond.insert("a", numbers(10, 20))
    assert rows(pond, "SELECT * FROM total") == [(25, 200)]


# -- writers and readers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("read_along_rows", [0, 100_000], ids=["ticks", "reads along"])
def test_every_acknowledged_insert_is_in_the_next_read(
    open_pond: OpenPond, monkeypatch: pytest.MonkeyPatch, read_along_rows: int
) -> None:
    monkeypatch.setattr(views, "READ_ALONG_ROWS_MAX", read_along_rows)
    pond = open_pond(view_chunk_rows=40)
    pond.execute("CREATE STREAM s (k int, v int)")
    pond.execute("CREATE VIEW total AS SELECT count(*) AS n, sum(v) AS v FROM s")
    counted = threading.Lock()
    begun = acknowledged = 0

    def write() -> None:
        nonlocal begun, acknowledged
        for size in (1, 7, 30, 2, 50, 10):
            with counted:
                begun += size
            pond.insert("s", pa.table({"k": [1] * size, "v": [1] * size}))
            with counted:
                acknowledged += size

    def read() -> None:
        for _ in range(5):
            before = acknowledged
            n, v = rows(pond, "SELECT * FROM total")[0]
            assert before <= n <= begun
            assert v == (n or None), "a read sees whole rows"

    with in_background(write, write, write, read, read):
        pass
    assert rows(pond, "SELECT * FROM total") == [(300, 300)]


def test_writers_wait_for_views_when_the_ring_is_full(pond: Pond) -> None:
    pond.execute("CREATE FOREIGN TABLE s (k int, v int) SERVER stream OPTIONS (capacity '200')")
    pond.execute("CREATE VIEW by_k AS SELECT k, count(*) AS n, sum(v) AS v FROM s GROUP BY k")
    for first in range(0, 1500, 50):
        pond.insert("s", numbers(first, first + 50))
    held = pond.services.streams.get(pond.services.catalog.snapshot.relations["s"])
    assert held.followers.waits > 0
    assert held.stats().first_tid > 0, "the ring holds less than was written"
    assert rows(pond, "SELECT * FROM by_k") == [(k, 150, sum(range(k, 1500, 10))) for k in range(10)]


def test_a_chunk_larger_than_the_ring_is_not_lost(pond: Pond) -> None:
    pond.execute("CREATE FOREIGN TABLE s (k int, v int) SERVER stream OPTIONS (capacity '200')")
    pond.execute("CREATE VIEW total AS SELECT count(*) AS n, sum(v) AS v FROM s")
    pond.insert("s", numbers(0, 1000))
    assert rows(pond, "SELECT * FROM total") == [(1000, 499500)]


# -- reading ---------------------------------------------------------------------------------------------------------


def test_reads_and_ticks_repeat_a_query_that_was_analysed_once(pond: Pond, monkeypatch: pytest.MonkeyPatch) -> None:
    pond.execute("CREATE STREAM s (k int, v int)")
    pond.execute("CREATE VIEW by_k AS SELECT k, count(*) AS n, sum(v) AS v FROM s GROUP BY k")
    (state,) = pond.services.views.get(pond.services.catalog.snapshot.relations["by_k"]).states.values()
    (stream,) = state.record.offsets
    analysed: list[str] = []
    frame = Runner.frame

    def noted(self: Runner, sql: str, inputs: Mapping[str, Input], tag: str) -> Frame:
        analysed.append(tag)
        return frame(self, sql, inputs, tag)

    monkeypatch.setattr(Runner, "frame", noted)
    for number in range(4):
        first = number * ROWS
        pond.insert("s", numbers(first, first + ROWS // 2))
        pond.services.views.catch_up(stream)
        pond.insert("s", numbers(first + ROWS // 2, first + ROWS))
        end = first + ROWS
        assert rows(pond, "SELECT * FROM by_k") == [(k, end // 10, sum(range(k, end, 10))) for k in range(10)]
    # The first tick found no parts, and so was another query. What is repeated is analysed once more, for one stage.
    assert [analysed.count(state.tag), len(analysed)] == [3, 5]


def test_an_unchanged_view_is_read_without_a_job(pond: Pond) -> None:
    pond.execute("CREATE STREAM s (k int, v int)")
    pond.execute("CREATE VIEW total AS SELECT count(*) AS n FROM s")
    pond.insert("s", numbers(0, 10))
    before = last_job(pond)
    first = rows(pond, "SELECT * FROM total")
    assert last_job(pond) > before
    before = last_job(pond)
    assert rows(pond, "SELECT * FROM total") == first
    assert last_job(pond) == before
    pond.insert("s", numbers(10, 11))
    assert rows(pond, "SELECT * FROM total") == [(11,)]


def test_a_view_is_dropped_while_it_is_read(pond: Pond) -> None:
    pond.execute("CREATE STREAM s (k int, v int)")
    pond.execute("CREATE VIEW total AS SELECT count(*) AS n FROM s")
    started = threading.Barrier(3)
    ends: list[str] = []

    def read() -> None:
        started.wait()
        for number in range(1000):
            pond.insert("s", numbers(number, number + 1))
            answer = ask_pond(pond, "SELECT * FROM total")
            if isinstance(answer, Failure):
                ends.append(answer.sqlstate)
                return

    with in_background(read, read):
        started.wait()
        rows(pond, "SELECT * FROM total")
        pond.execute("DROP VIEW total")
    assert ends == ["42P01", "42P01"], "a reader gets an answer, or there is no such view"


def test_views_come_and_go_beside_writers(pond: Pond) -> None:
    pond.execute("CREATE STREAM s (k int, v int)")
    pond.execute("CREATE VIEW stays AS SELECT count(*) AS n FROM s")

    def write() -> None:
        for number in range(40):
            pond.insert("s", numbers(number, number + 1))

    def come_and_go() -> None:
        for number in range(4):
            pond.execute(f"CREATE VIEW passing AS SELECT {number} AS number, count(*) AS n FROM s")
            assert rows(pond, "SELECT number FROM passing") == [(number,)]
            pond.execute("DROP VIEW passing")

    with in_background(write, come_and_go):
        pass
    assert rows(pond, "SELECT * FROM stays") == [(40,)]


def test_a_view_that_was_rolled_back_leaves_nothing(pond: Pond) -> None:
    pond.execute("CREATE STREAM s (k int, v int)")
    pond.execute("BEGIN")
    pond.execute("CREATE VIEW total AS SELECT count(*) AS n FROM s")
    pond.execute("ROLLBACK")
    assert error_of(pond, "SELECT * FROM total")[0] == "42P01"
    assert pond.services.views.all() == []
    pond.insert("s", numbers(0, 10))
    pond.execute("CREATE VIEW total AS SELECT count(*) AS n FROM s")
    assert rows(pond, "SELECT * FROM total") == [(0,)]

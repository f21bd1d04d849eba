"""A view of two streams, whose ticks run side by side."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import millpond


def test_ticks_of_two_streams_do_not_undo_each_other(shared_spark: None, tmp_path: Path) -> None:
    with millpond.connect(tmp_path / "pond", master="local[2]") as pond:
        pond.execute("CREATE STREAM a (x int); CREATE STREAM b (x int)")
        pond.execute(
            "CREATE VIEW both AS SELECT x.n AS a, y.n AS b, x.s + y.s AS s FROM"
            " (SELECT count(*) AS n, sum(x) AS s FROM a) x, (SELECT count(*) AS n, sum(x) AS s FROM b) y"
        )

        view = pond.services.views.all()[0]

        def write(name: str) -> None:
            stream = pond.services.catalog.snapshot.relations[name]
            for step in range(30):
                pond.insert(name, [(step,)] * 20)
                if step % 10 == 9:
                    pond.services.views.catch_up(stream.oid)

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(write, ["a", "b"]))
        assert pond.execute("SELECT * FROM both").fetchall() == [(600, 600, 2 * 20 * sum(range(30)))]
        assert sum(state.costs.runs for state in view.states.values()) >= 6
        assert pond.execute("VERIFY VIEW both").fetchall() == [(1, 0, 0)]
    with millpond.connect(tmp_path / "pond", master="local[2]") as pond:
        assert pond.execute("SELECT a, b FROM both").fetchall() == [(600, 600)]

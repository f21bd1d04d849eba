"""Random windows over random streams, cut, read, ticked and restarted at random, beside DuckDB on the same rows.

MILLPOND_FUZZ_CASES sets how many views there are (200, and some sessions), MILLPOND_FUZZ_SEED which ones.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from math import ceil
from pathlib import Path
from random import Random

import pytest

import millpond
from millpond import Pond
from millpond.run import measured_mode
from tests.windows.judge import Judge, JudgedView, comparable
from tests.windows.random_sessions import RandomSessions, random_sessions
from tests.windows.random_windows import KEYS, RandomView, Row, micros, random_view

CASES = int(os.environ.get("MILLPOND_FUZZ_CASES", "200"))
FIRST_SEED = 1000 * int(os.environ.get("MILLPOND_FUZZ_SEED", "0"))
VIEWS = 25
VERIFIED = 3
SESSION_VIEWS = 15
STEPS = 4

SEEDS = range(FIRST_SEED, FIRST_SEED + ceil(CASES / VIEWS))
SESSION_SEEDS = range(FIRST_SEED, FIRST_SEED + ceil(CASES / 75))
"""One for each round of views, which share a pond."""

START = datetime(2024, 2, 28, 23, 59, 30, tzinfo=UTC)
KINDS = {0: "zero", 1: "one", 2: "two"}


class World:
    """A pond, the judge who knows what went into it, and the time."""

    def __init__(self, path: Path, random: Random) -> None:
        self._path, self._random = path, random
        self.judge, self.now = Judge(KINDS), START
        self.pond = self._open()

    def _open(self) -> Pond:
        return millpond.Pond(self._path, master="local[2]", catalog=None, settings={}, clock=lambda: micros(self.now))

    def restart(self) -> None:
        self.pond.close()
        self.pond = self._open()

    def create(self, views: Sequence[JudgedView]) -> None:
        for stream in ("s", "r"):
            self.pond.execute(
                f"CREATE STREAM {stream} (k int, v int, d numeric(8,2), at timestamptz)"
                " WITH (timestamp = at, watermark = '20s')"
            )
        self.pond.execute("CREATE TABLE kind (k int, name text)")
        self.pond.insert("kind", list(KINDS.items()))
        for view in views:
            self.pond.execute(view.statement)

    def insert(self) -> None:
        """Rows in about the order of their time; some are late, few have none."""
        stream, random = self._random.choice("sssr"), self._random
        rows = self.judge.rows[stream]
        for _ in range(random.choice([1, 1, 3, 10, 40])):
            late = random.choice([0, 0, 1, 5, 19]) if random.random() < 0.95 else random.randint(20, 200)
            at = None if random.random() < 0.02 else self.now - timedelta(seconds=late)
            value = round(random.uniform(-5, 5), 2)
            rows.append(Row(len(rows), random.randrange(KEYS), random.randint(0, 99), value, at, self.now))
            self.pond.insert(stream, [(rows[-1].k, rows[-1].v, value, at)])
            self.now += timedelta(microseconds=random.choice([0, 1, 200_000, 1_000_000]))

    def tick(self) -> None:
        for oid in {oid for view in self.pond.services.views.all() for oid in view.streams}:
            self.pond.services.views.catch_up(oid)

    def check(self, view: JudgedView) -> None:
        given = comparable(self.pond.execute(f"SELECT * FROM {view.name}").fetchall())
        assert given == self.judge.expected(view, self.now), f"{view.statement}\nat {self.now}"

    def check_once(self, view: RandomView | RandomSessions) -> None:
        """The view computed in one shot, and its query by itself, which shows the newest complete window, or the newest
        complete session of each key."""
        ((_, missing, unexpected),) = self.pond.execute(f"VERIFY VIEW {view.name}").fetchall()
        assert (missing, unexpected) == (0, 0), f"{view.statement}\nat {self.now}"
        if view.is_default:
            query = view.statement.split(" AS ", 1)[1]
            given = comparable(self.pond.execute(query).fetchall())
            assert given == self.judge.expected(view, self.now), f"{query}\nat {self.now}"

    def check_late(self, views: Sequence[JudgedView]) -> None:
        """That each row that came too late is in the stream of late rows, once for each view."""
        self.tick()
        self.pond.services.views.late.publish()
        found: dict[str, list[int]] = {view.name: [] for view in views}
        for view, tid in self.pond.execute("SELECT late_view, late_tid FROM s_late ORDER BY tid").fetchall():
            found[view].append(tid)
        assert found == {view.name: view.late(self.judge.rows["s"]) for view in views}


@pytest.fixture
def world(
    request: pytest.FixtureRequest, shared_spark: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[World]:
    # Windows of few rows are computed in another way at each slide.
    monkeypatch.setattr(measured_mode, "SLIDES", 1)
    made = World(tmp_path / "pond", Random(request.param))
    yield made
    made.pond.close()


@pytest.mark.long
@pytest.mark.parametrize(("world", "seed"), [(seed, seed) for seed in SEEDS], indirect=["world"])
def test_windows_are_their_queries_over_their_rows(world: World, seed: int) -> None:
    random = Random(1000 + seed)
    views = [random_view(random, number) for number in range(VIEWS)]
    flow(world, random, views)
    for view in random.sample(views, VERIFIED):
        world.check_once(view)


@pytest.mark.long
@pytest.mark.parametrize(("world", "seed"), [(seed, seed) for seed in SESSION_SEEDS], indirect=["world"])
def test_sessions_are_their_queries_over_their_rows(world: World, seed: int) -> None:
    random = Random(2000 + seed)
    views = [random_sessions(random, number) for number in range(SESSION_VIEWS)]
    flow(world, random, views)
    by_default = [view for view in views if view.is_default]
    for view in [random.choice(views), *by_default[: VERIFIED - 1]]:
        world.check_once(view)


def flow(world: World, random: Random, views: Sequence[JudgedView]) -> None:
    world.create(views)
    restarted = random.randrange(STEPS)
    for step in range(STEPS):
        world.insert()
        if random.random() < 0.4:
            world.tick()
        if step == restarted:
            world.restart()
        for view in random.sample(views, len(views) // 12):
            world.check(view)
        world.now += timedelta(seconds=random.choice([0, 0, 2, 30]))
    for view in views:
        world.check(view)
    world.check_late(views)

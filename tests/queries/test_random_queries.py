"""Random chunks, rests, restarts and replacements: a target equals its query in one shot over the source's tuples.

MILLPOND_FUZZ_SEED repeats a run, MILLPOND_FUZZ_CASES=3000 makes ten.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass

import pytest

from millpond import Pond
from tests.queries.support import caught_up
from tests.views.support import OpenPond, numbers

SEED = int(os.environ.get("MILLPOND_FUZZ_SEED", "0")) or random.SystemRandom().randrange(1, 2**31)
RUNS = max(1, int(os.environ.get("MILLPOND_FUZZ_CASES", "300")) // 300)
STEPS = 12
CHUNK_ROWS = (60, 300, 100_000)

pytestmark = pytest.mark.timeout(300)


@dataclass(frozen=True)
class Case:
    """A query over the stream `s (k int, v int)` and the table `names`, and what it writes."""

    name: str
    target: str
    select: str

    @property
    def create(self) -> str:
        return f"CREATE CONTINUOUS QUERY {self.name} AS INSERT INTO {self.target} {self.select}"


CASES = (
    Case("filtered", "t1", "SELECT k, v * 2, 'x' FROM s WHERE v % 3 <> 0"),
    Case("joined", "t2", "SELECT s.k, v, n.name FROM s JOIN names AS n ON n.k = s.k"),
    Case(
        "left_joined",
        "s1",
        "SELECT s.k, v, n.name FROM (SELECT * FROM s WHERE v > 20) AS s LEFT JOIN names AS n USING (k)",
    ),
    Case("doubled", "s2", "SELECT k, v, 'a' FROM s UNION ALL SELECT v, k, 'b' FROM s WHERE k IN (SELECT k FROM names)"),
    Case("chained", "t3", "SELECT k + 1, v, name FROM s1 WHERE name IS NOT NULL"),
)


def create(pond: Pond) -> None:
    pond.execute("CREATE STREAM s (k int, v int)")
    pond.execute("CREATE TABLE names (k int, name text)")
    pond.execute("INSERT INTO names VALUES (1, 'one'), (1, 'uno'), (4, 'four'), (NULL, 'none')")
    for kind in ("TABLE", "STREAM"):
        for number in (1, 2, 3):
            pond.execute(f"CREATE {kind} {kind[0].lower()}{number} (k int, v bigint, name text)")
    for case in CASES:
        pond.execute(case.create)


def act(pond: Pond, chance: random.Random, end: int) -> int:
    """Do something at random; returns how many rows were inserted in all."""
    case = chance.choice(CASES)
    action = chance.choices(("insert", "pause", "resume", "replace"), weights=(6, 1, 2, 1))[0]
    if action == "insert":
        rows_new = chance.choice((1, 3, 40, 200))
        pond.insert("s", numbers(end, end + rows_new))
        return end + rows_new
    if action == "replace":
        pond.execute(case.create.replace("CREATE", "CREATE OR REPLACE", 1))
    else:
        pond.execute(f"ALTER CONTINUOUS QUERY {case.name} {action.upper()}")
    return end


@pytest.mark.parametrize("run", range(RUNS))
def test_a_target_equals_its_query_over_the_source(open_pond: OpenPond, run: int) -> None:
    chance, end = random.Random(SEED + run), 0
    print(f"MILLPOND_FUZZ_SEED={SEED + run}")
    pond = open_pond(query_chunk_rows=chance.choice(CHUNK_ROWS))
    create(pond)
    for _ in range(STEPS):
        end = act(pond, chance, end)
        if chance.random() < 0.3:
            pond = open_pond(query_chunk_rows=chance.choice(CHUNK_ROWS))
    for case in CASES:
        pond.execute(f"ALTER CONTINUOUS QUERY {case.name} RESUME")
        caught_up(pond, case.name)
    for case in CASES:
        assert texts(pond, f"SELECT * FROM {case.target}") == texts(pond, case.select), case.name
    arrived = [v for (v,) in pond.execute("SELECT v FROM s1 ORDER BY tid").fetchall()]
    assert arrived == sorted(arrived), "rows keep their order"


def texts(pond: Pond, sql: str) -> list[str]:
    """The rows of a query, in an order that NULLs do not disturb."""
    return sorted(map(str, pond.execute(sql).fetchall()))

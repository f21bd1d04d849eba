"""Random views over random streams hold what PostgreSQL answers, however the stream is cut, read and restarted.

MILLPOND_FUZZ_CASES sets how many views there are (300), MILLPOND_FUZZ_SEED which ones; a failure prints the SQL that
shows it again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.spark.judge import Judge, judge_at
from tests.views.replay import play

CASES = int(os.environ.get("MILLPOND_FUZZ_CASES", "300"))
SEED = int(os.environ.get("MILLPOND_FUZZ_SEED", "1"))
CASES_PER_ROUND = 25
"""Views that share a pond, its streams and its restarts: opening a pond costs more than a view."""

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def judge(postgres: str) -> Iterator[Judge]:
    with judge_at(postgres) as opened:
        yield opened


@pytest.mark.parametrize("number", range((CASES + CASES_PER_ROUND - 1) // CASES_PER_ROUND))
def test_views_hold_what_postgresql_answers(shared_spark: None, judge: Judge, tmp_path: Path, number: int) -> None:
    cases = min(CASES_PER_ROUND, CASES - number * CASES_PER_ROUND)
    found = play(tmp_path / "pond", judge, SEED * 1000 + number, cases)
    shown = "\n\n".join(found)
    assert not found, f"{len(found)} of {cases} views are wrong with MILLPOND_FUZZ_SEED={SEED}:\n\n{shown}"

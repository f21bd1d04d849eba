"""Ten minutes of Linear Road: what plain Python expects is what SQL says, with tolls, accidents and balances in it."""

from __future__ import annotations

import pytest

from millpond.bench.answers import WrongAnswerError
from millpond.bench.linear_road.history import history
from millpond.bench.linear_road.queries import whole_query
from millpond.bench.linear_road.run import RoadRun
from millpond.bench.linear_road.traffic import Traffic
from millpond.bench.linear_road.validator import expected_of, verify_answers, verify_tolls

pytestmark = pytest.mark.timeout(600)

FIRST, MINUTES = 19, 10
"""From before the first accident on."""


def test_ten_minutes_are_as_expected(shared_spark: None) -> None:
    minutes = list(Traffic().minutes(FIRST + MINUTES))[FIRST:]
    expected, paid = expected_of(minutes), history(minutes)
    assert expected.tolls
    assert any(expected.balances.values())
    assert expected.accidents
    with RoadRun(minutes, whole_query(MINUTES), paid) as run:
        driven = run.stress()
        assert len(driven.cycles) == MINUTES
        assert sum(one.rows_in for one in driven.cycles) == driven.rows
        assert verify_tolls(run.pond, expected) == len(expected.tolls)
        answers = len(expected.notifications) + len(expected.balances) + len(expected.expenditures)
        assert verify_answers(run.pond, expected, paid) == answers
        run.pond.execute("UPDATE notification SET toll = toll + 1 WHERE vid = (SELECT max(vid) FROM notification)")
        with pytest.raises(WrongAnswerError, match="notification"):
            verify_answers(run.pond, expected, paid)

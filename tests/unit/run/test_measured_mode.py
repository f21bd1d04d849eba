"""The choice between partials and rows, by what answers took."""

from __future__ import annotations

import pytest

from millpond.run.measured_mode import FEW_ROWS, ROUNDS, SLIDES, MeasuredMode, can_measure
from millpond.stream_window import StreamWindow


@pytest.mark.parametrize(
    ("partials_s", "rows_s", "chosen"),
    [(0.08, 0.05, "reevaluate"), (0.05, 0.08, "incremental"), (0.05, 0.05, "incremental")],
)
def test_the_faster_way_is_chosen_after_both_were_tried(partials_s: float, rows_s: float, chosen: str) -> None:
    mode = MeasuredMode(settled=False)
    tried = []
    for _ in range(len(ROUNDS) * SLIDES):
        tried.append(mode.mode)
        assert not mode.settled
        settled = mode.slid(rows_s if mode.mode == "reevaluate" else partials_s)
    assert (mode.mode, mode.settled, settled) == (chosen, True, True)
    assert tried == [one for one in ROUNDS for _ in range(SLIDES)]
    assert not mode.slid(9.0), "it is chosen once"


def test_only_windows_of_few_rows_are_measured() -> None:
    few = StreamWindow("hop", "w", "tid", True, 10, FEW_ROWS)
    many = StreamWindow("hop", "w", "tid", True, 10, FEW_ROWS + 10)
    timed = StreamWindow("hop", "w", "at", False, 10, 20)
    assert can_measure("auto", [few])
    assert not can_measure("incremental", [few])
    assert not can_measure("auto", [few, many])
    assert not can_measure("auto", [timed])

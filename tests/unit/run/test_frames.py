"""Which windows a view shows, by how far its streams are."""

from __future__ import annotations

from millpond.run.adaptive_chunks import SLIDES, AdaptiveChunks
from millpond.run.frames import Reach, Shows, frames
from millpond.stream_window import AgeWindow, StreamWindow

HOP = StreamWindow("hop", "w", "at", by_rows=False, slide=10, size=30)
ROWS = StreamWindow("tumble", "w", "tid", by_rows=True, slide=5, size=5)


ONE = Shows()


def numbers(window: StreamWindow, reach: Reach | None, shows: Shows = ONE, up_to: int | None = None) -> list[int]:
    found = frames({"a": window}, {"a": reach}, 0, shows, up_to)
    return [frame["a"] for frame in found]


def test_the_newest_complete_window_is_shown() -> None:
    assert numbers(HOP, Reach(1, position=95, newest=99, low=3)) == [6]
    assert numbers(HOP, Reach(1, position=95, newest=99, low=3), Shows(retain=3)) == [4, 5, 6]
    assert numbers(HOP, None) == []


def test_windows_before_the_first_row_are_not_shown() -> None:
    assert numbers(HOP, Reach(1, position=40, newest=45, low=12), Shows(retain=9)) == [-1, 0, 1]
    assert numbers(ROWS, Reach(1, position=30, newest=29, low=7), Shows(retain=9)) == [2, 3, 4, 5]


def test_an_early_window_is_the_one_after_the_complete_ones() -> None:
    assert numbers(HOP, Reach(1, position=95, newest=99, low=3), Shows(early=True)) == [6, 7]
    assert numbers(ROWS, Reach(1, position=30, newest=29, low=0), Shows(early=True)) == [5]


def test_a_slide_of_the_past_can_be_shown_again() -> None:
    assert numbers(HOP, Reach(1, position=95, newest=99, low=3), Shows(retain=2), up_to=4) == [3, 4]


def test_windows_of_time_end_together_and_windows_of_rows_have_the_same_number() -> None:
    longer = StreamWindow("hop", "u", "at", by_rows=False, slide=20, size=40)
    reach = Reach(1, position=95, newest=99, low=3)
    assert frames({"a": HOP, "b": longer}, {"a": reach, "b": reach}, 0, Shows(), None) == [{"a": 6, "b": 2}]
    other = Reach(2, position=12, newest=11, low=0)
    both = frames({"a": ROWS, "b": ROWS}, {"a": Reach(1, 30, 29, 0), "b": other}, 0, Shows(), None)
    assert both == [{"a": 1, "b": 1}]


def test_what_is_young_moves_with_the_clock() -> None:
    age = AgeWindow("age", "w", "at", by_rows=False, slide=10, size=30)
    assert frames({"a": age}, {"a": None}, 95, Shows(), None) == [{"a": 9}]
    assert age.bounds(9)[0] == 60
    assert age.panes(9)[0] == 6


def test_chunks_are_doubled_while_answers_become_faster() -> None:
    chunks = AdaptiveChunks()
    for response_s in (1.0, 0.6, 0.4, 0.5):
        for _ in range(SLIDES):
            chunks.slid(100_000, response_s)
    assert (chunks.chunks, chunks.settled, chunks.rows_per_chunk) == (4, True, 25_000)
    for _ in range(SLIDES):
        chunks.slid(100_000, 3.0)
    assert (chunks.chunks, chunks.settled) == (1, False)


def test_a_slide_of_few_rows_is_one_chunk() -> None:
    chunks = AdaptiveChunks()
    for _ in range(SLIDES):
        chunks.slid(1000, 0.1)
    assert (chunks.chunks, chunks.settled, chunks.rows_per_chunk) == (1, True, None)

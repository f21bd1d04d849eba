"""The life of panes against the frames of a view, one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from millpond.run.frames import Reach, Shows, frames
from millpond.run.lifetimes import Lifetime
from millpond.stream_window import StreamWindow

sizes = st.integers(1, 30)


def hop(alias: str, slide: int, size: int, *, by_rows: bool) -> StreamWindow:
    return StreamWindow("hop", alias, "tid" if by_rows else "at", by_rows, slide, size)


@given(sizes, sizes, sizes, sizes, st.booleans(), st.integers(-40, 40))
def test_a_pane_lives_as_long_as_frames_have_it(
    slide: int, size: int, other_slide: int, other_size: int, by_rows: bool, pane: int
) -> None:
    windows = {"a": hop("a", slide, size, by_rows=by_rows), "b": hop("b", other_slide, other_size, by_rows=by_rows)}
    driver = "a" if slide <= other_slide else "b"
    reaches = {name: Reach(place, 2000, 2000, -2000) for place, name in enumerate(windows)}
    shown = frames(windows, reaches, 0, Shows(retain=4000), None)
    for name, window in windows.items():
        first, last = Lifetime(window, None if by_rows else windows[driver]).of(np.array([pane]))
        having = [one[driver] for one in shown if window.panes(one[name])[0] <= pane <= window.panes(one[name])[1]]
        assert having == list(range(int(first[0]), int(last[0]) + 1))

"""In which frames of a view the panes of a window are: from a first to a last one, since windows only move forward."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from millpond.stream_window import StreamWindow

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Lifetime:
    """The life of panes of a window, in frames with the numbers of the `driver`'s windows, each of which has the newest
    window that ends with it or before. Without a driver, frames have the window's own numbers.

    >>> hop = StreamWindow("hop", "w", "tid", True, 10, 20)
    >>> [one.tolist() for one in Lifetime(hop).of(np.arange(3))]
    [[-1, 0, 1], [0, 1, 2]]
    """

    window: StreamWindow
    driver: StreamWindow | None = None

    def of(self, panes: Numbers) -> tuple[Numbers, Numbers]:
        """The first and the last frame that has each pane."""
        window, driver = self.window, self.driver
        first = -((window.size - (panes + 1) * window.step) // window.slide)
        last = panes * window.step // window.slide
        if driver is None:
            return first, last
        longer = window.size - driver.size
        return -((-first * window.slide - longer) // driver.slide), (
            (last + 1) * window.slide + longer - 1
        ) // driver.slide

"""What was computed of the frames of a view over windows, kept until rows arrive that belong to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from millpond.run.frames import Frame
from millpond.run.frames_query import FRAMES_MAX
from millpond.run.kept import KeptState
from millpond.run.pane_state import PaneState
from millpond.stream_window import StreamWindow

KEPT_MAX = 2 * FRAMES_MAX
"""Results of slides that are not shown now, which a view that is followed and read may ask for in turn."""


@dataclass(frozen=True)
class _Result:
    """What was computed of a frame, from all tuples before `ends` and tables as `token` says."""

    ends: Mapping[int, int]
    token: object
    rows: pa.Table


@dataclass
class FrameResults:
    """The results of one view, of whose groupings these are the states and windows; used under the view's lock."""

    states: Mapping[str, KeptState]
    windows: Mapping[str, StreamWindow]
    _results: dict[tuple[int, ...], _Result] = field(default_factory=dict)

    def keep(self, frame: Frame, rows: pa.Table, ends: Mapping[int, int], token: object) -> None:
        self._results[_key(frame)] = _Result(ends, token, rows)

    def of(self, frames: Sequence[Frame]) -> list[pa.Table]:
        """The rows of frames that are kept."""
        return [self._results[_key(frame)].rows for frame in frames]

    def is_current(self, frame: Frame, ends: Mapping[int, int], token: object) -> bool:
        """Whether nothing arrived, since the result of a frame was computed, that it should have."""
        result = self._results.get(_key(frame))
        if result is None or result.token != token:
            return False
        for name, state in self.states.items():
            if not isinstance(state, PaneState):
                if any(result.ends[oid] != ends[oid] for oid in state.record.offsets):
                    return False
            elif any(
                axis.changed_since(result.ends[oid], *self.windows[name].bounds(frame[name]))
                for oid, axis in state.axes.items()
            ):
                return False
        return True

    def forget(self, shown: Sequence[Frame]) -> None:
        """Keep the results that are shown now, or were a few slides ago."""
        kept = {_key(frame) for frame in shown}
        for key in [one for one in self._results if one not in kept][: -KEPT_MAX or None]:
            del self._results[key]


def _key(frame: Frame) -> tuple[int, ...]:
    return tuple(frame.values())

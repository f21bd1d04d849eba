"""What a read of a view over windows finds at one moment, before anything is computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from millpond.run.frames import Frame
from millpond.run.frames_query import SeveralFrames
from millpond.run.view import Seen
from millpond.run.window_pairs import PairLook
from millpond.stream import Chunk


@dataclass(frozen=True)
class Panes:
    """The panes of a window: what is kept of them, and chunks that no tick has taken, which may have rows outside of
    the panes that `clip` names."""

    rows: pa.Table | None
    chunks: Mapping[int, Chunk]
    clip: tuple[int, int] | None


@dataclass(frozen=True)
class Wanted:
    """A frame to evaluate: its panes and, where they are kept, the pairs of rows of its windows."""

    frame: Frame
    panes: Mapping[str, Panes]
    pairs: PairLook | None


@dataclass(frozen=True)
class Look:
    """What a read found: up to where the streams are, the frames to show, and those of them to evaluate, alone or
    several together."""

    ends: Mapping[int, int]
    seen: Seen
    shown: list[Frame]
    wanted: Sequence[Wanted]
    several: Sequence[tuple[Sequence[Frame], SeveralFrames]]

    @property
    def is_stale(self) -> bool:
        return bool(self.wanted or self.several)

"""What the catalog records of a view: its parts, and the next tuple of each stream that it will read."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace


@dataclass(frozen=True)
class Part:
    """Merged partials of one grouping: a directory of Parquet files."""

    name: str
    rows: int
    bytes: int


@dataclass(frozen=True)
class ViewState:
    """One committed state: where each stream (by oid) was first read and will be read next, and parts by grouping."""

    starts: dict[int, int] = field(default_factory=dict)
    offsets: dict[int, int] = field(default_factory=dict)
    parts: dict[str, tuple[Part, ...]] = field(default_factory=dict)
    tuples_in: int = 0

    def advanced(self, stream: int, offset: int, parts: dict[str, tuple[Part, ...]]) -> ViewState:
        """The state after a chunk that ended at `offset`; groupings that it did not touch keep their parts."""
        assert offset >= self.offsets[stream], "a view does not read a tuple twice"
        read = offset - self.offsets[stream]
        offsets = {**self.offsets, stream: offset}
        return replace(self, offsets=offsets, parts={**self.parts, **parts}, tuples_in=self.tuples_in + read)

    def names(self) -> set[str]:
        """The names of all parts."""
        return {part.name for parts in self.parts.values() for part in parts}

    def dumps(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def loads(cls, text: str) -> ViewState:
        """The state that `dumps` wrote.

        >>> state = ViewState({7: 0}, {7: 3}, {"state_0": (Part("a", 1, 2),)}, 3)
        >>> ViewState.loads(state.dumps()) == state
        True
        """
        stored = json.loads(text)
        return cls(
            {int(stream): start for stream, start in stored["starts"].items()},
            {int(stream): offset for stream, offset in stored["offsets"].items()},
            {name: tuple(Part(**part) for part in parts) for name, parts in stored["parts"].items()},
            stored["tuples_in"],
        )

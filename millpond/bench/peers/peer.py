"""What all peers have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from millpond.bench.stopwatch import Spent

Answers = dict[str, list[tuple[object, ...]]]
"""The rows of each query, in any order."""


class PeerMissingError(Exception):
    """A peer cannot run here; the message says why."""


@dataclass(frozen=True)
class PeerRun:
    """What a peer took for the whole input, and answers of its own to check: for all of it, or for a part of it."""

    spent: Spent
    answers: Answers
    by_query: Mapping[str, Spent] = field(default_factory=dict)
    """What each query took, of a peer that runs one after the other."""

"""What the catalog records of states, views and continuous queries: where each stands, and who uses which state."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeVar

from millpond.errors import MillpondError, SqlState

T = TypeVar("T")


@dataclass(frozen=True)
class Part:
    """Merged partials of one grouping: a directory of Parquet files.

    With `buckets`, each file holds the groups whose keys hash to its number.
    """

    name: str
    rows: int
    bytes: int
    buckets: int = 0


@dataclass(frozen=True)
class SavedAxis:
    """How far the rows of a stream reach on the axis of its windows, and up to where these were taken for complete.

    Readers may have been ahead; `taken` is how far the rows reach that the state has taken.
    """

    low: int
    high: int
    reached: int | None
    taken: int | None = None


@dataclass(frozen=True)
class SavedSessions:
    """The sessions of a stream: a part that lists them, and how far the rows reach that they are of."""

    part: Part
    high: int


@dataclass(frozen=True)
class LatePart:
    """Rows of a stream's chunk that ended at a tuple, which came too late for a view, both by oid; to be published."""

    view: int
    stream: int
    end: int
    part: Part


@dataclass(frozen=True)
class StateRecord:
    """One committed version of a state: where each stream (by oid) will be read next, and the parts, oldest first.

    `columns_made` is how many columns the state has ever had, `taken` how many tuples it has taken of each stream.
    `axes` are those of windows, and so are `sessions`; `late` are rows that have to be published.
    """

    offsets: dict[int, int]
    parts: tuple[Part, ...] = ()
    columns_made: int = 0
    taken: dict[int, int] = field(default_factory=dict)
    axes: dict[int, SavedAxis | None] = field(default_factory=dict)
    sessions: SavedSessions | None = None
    late: tuple[LatePart, ...] = ()

    def advanced(self, stream: int, offset: int, parts: tuple[Part, ...]) -> StateRecord:
        """The state after a chunk that ended at `offset`."""
        assert offset >= self.offsets[stream], "a state does not take a tuple twice"
        taken = {**self.taken, stream: self.taken.get(stream, 0) + offset - self.offsets[stream]}
        return replace(self, offsets={**self.offsets, stream: offset}, parts=parts, taken=taken)

    @property
    def rows(self) -> int:
        return sum(part.rows for part in self.parts)

    def names(self) -> set[str]:
        """The names of all parts."""
        parts = [*self.parts, *(one.part for one in self.late), *([self.sessions.part] if self.sessions else [])]
        return {part.name for part in parts}

    def dumps(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def loads(cls, text: str) -> StateRecord:
        """The record that `dumps` wrote.

        >>> sessions = SavedSessions(Part("b", 1, 2), 5)
        >>> late = (LatePart(8, 7, 3, Part("c", 1, 2)),)
        >>> record = StateRecord({7: 3}, (Part("a", 1, 2),), 1, {7: 3}, {7: SavedAxis(1, 2, None)}, sessions, late)
        >>> StateRecord.loads(record.dumps()) == record
        True
        """
        stored = json.loads(text)
        parts = tuple(Part(**part) for part in stored["parts"])
        saved = {oid: None if one is None else SavedAxis(**one) for oid, one in _by_oid(stored.get("axes", {})).items()}
        listed = stored.get("sessions")
        sessions = None if listed is None else SavedSessions(Part(**listed["part"]), listed["high"])
        offsets, taken = _by_oid(stored["offsets"]), _by_oid(stored["taken"])
        return cls(offsets, parts, stored["columns_made"], taken, saved, sessions, _late_parts(stored))


@dataclass(frozen=True)
class Link:
    """Where a view keeps one of its groupings: the state, and the state's column for each of the grouping's own."""

    state: int
    names: dict[str, str]
    presence: str


@dataclass(frozen=True)
class Failure:
    """Why a view or a continuous query was set aside."""

    sqlstate: str
    message: str
    detail: str | None = None
    hint: str | None = None

    @classmethod
    def of(cls, error: MillpondError) -> Failure:
        return cls(error.sqlstate.value, error.message, error.detail, error.hint)

    @property
    def error(self) -> MillpondError:
        """What was raised."""
        return MillpondError(SqlState(self.sqlstate), self.message, detail=self.detail, hint=self.hint)


@dataclass(frozen=True)
class ViewRecord:
    """Where a view first read each stream (by oid; None if the stream has forgotten it), and its groupings' states.

    `taken_before` is how many tuples of each stream those states had taken when the view joined them. `window_mode` is
    how its windows are computed, once that was measured; `panes` how long those are that it took from other views.
    `late` is what is left to publish of the late rows of a view that was set aside.
    """

    starts: dict[int, int | None]
    links: dict[str, Link] = field(default_factory=dict)
    taken_before: dict[int, int] = field(default_factory=dict)
    failure: Failure | None = None
    window_mode: str | None = None
    panes: dict[str, int] = field(default_factory=dict)
    late: tuple[LatePart, ...] = ()

    def dumps(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def loads(cls, text: str) -> ViewRecord:
        """The record that `dumps` wrote.

        >>> late = (LatePart(8, 7, 3, Part("c", 1, 2)),)
        >>> failed = Failure("22012", "overflow")
        >>> record = ViewRecord({7: 3}, {"state_0": Link(9, {"p0": "c0"}, "c0")}, {7: 5}, failed, late=late)
        >>> ViewRecord.loads(record.dumps()) == record
        True
        """
        stored = json.loads(text)
        links = {name: Link(**link) for name, link in stored["links"].items()}
        failure = None if stored["failure"] is None else Failure(**stored["failure"])
        before, mode, panes = _by_oid(stored["taken_before"]), stored.get("window_mode"), stored.get("panes", {})
        return cls(_by_oid(stored["starts"]), links, before, failure, mode, panes, _late_parts(stored))


@dataclass(frozen=True)
class CycleRecord:
    """How far a query that runs in cycles is: how many it has done, up to which place of the axis, and which tuples it
    looked at for the last. `reached` is the highest place before the tuple that it reads next; `late` counts tuples
    that came after their cycle. `ended` says that the stream has ended: there will be no other."""

    cycles: int = 0
    done: int = -(1 << 62)
    seen: int = 0
    reached: int = -(1 << 62)
    late: int = 0
    ended: bool = False

    def after(self, *, done: int, seen: int, reached: int, late: int) -> CycleRecord:
        """One cycle later."""
        return CycleRecord(self.cycles + 1, done, seen, reached, self.late + late)


@dataclass(frozen=True)
class QueryRecord:
    """Where a continuous query will read each stream (by oid) next, and what it has done so far.

    `chunks` counts its steps: of two records of a query, the one with more of them is the newer. `functions` are the
    parts that hold what its functions remember.
    """

    offsets: dict[int, int]
    chunks: int = 0
    rows_in: int = 0
    rows_out: int = 0
    failure: Failure | None = None
    cycle: CycleRecord | None = None
    functions: dict[str, Part] = field(default_factory=dict)

    def advanced(self, ends: Mapping[int, int], rows_out: int, cycle: CycleRecord | None = None) -> QueryRecord:
        """The query after chunks that ended there, of which it made so many rows; perhaps after a cycle."""
        assert all(end >= self.offsets[stream] for stream, end in ends.items()), "a query does not take a tuple twice"
        taken = sum(end - self.offsets[stream] for stream, end in ends.items())
        offsets, rows = {**self.offsets, **ends}, (self.rows_in + taken, self.rows_out + rows_out)
        return QueryRecord(offsets, self.chunks + 1, *rows, cycle=cycle, functions=self.functions)

    def at_end(self, stream: int, end: int) -> QueryRecord:
        """The query after the last cycle of a stream that has ended there."""
        cycle = replace(self.cycle or CycleRecord(seen=end), ended=True)
        return self.advanced({stream: end}, 0, cycle)

    def is_over(self, cycles_max: int | None) -> bool:
        """Whether all cycles are done that there will be."""
        cycle = self.cycle or CycleRecord()
        return cycle.ended or (cycles_max is not None and cycle.cycles >= cycles_max)

    def dumps(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def loads(cls, text: str) -> QueryRecord:
        """The record that `dumps` wrote.

        >>> failed = QueryRecord({7: 3}, failure=Failure("22012", "division by zero"), functions={"a": Part("b", 1, 2)})
        >>> record = failed.advanced({7: 5}, 1)
        >>> QueryRecord.loads(record.dumps()) == record == QueryRecord({7: 5}, 1, 2, 1, functions=failed.functions)
        True
        """
        stored = json.loads(text)
        failure = None if stored["failure"] is None else Failure(**stored["failure"])
        cycle = CycleRecord(**stored["cycle"]) if stored.get("cycle") else None
        functions = {name: Part(**part) for name, part in stored.get("functions", {}).items()}
        known = {"offsets": _by_oid(stored["offsets"]), "failure": failure, "cycle": cycle, "functions": functions}
        return cls(**{**stored, **known})


def _late_parts(stored: Mapping[str, Any]) -> tuple[LatePart, ...]:
    return tuple(LatePart(**{**one, "part": Part(**one["part"])}) for one in stored.get("late", ()))


def _by_oid(stored: dict[str, T]) -> dict[int, T]:
    """JSON has only texts for keys."""
    return {int(oid): value for oid, value in stored.items()}

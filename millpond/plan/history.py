"""Calls that remember rows of earlier cycles, as they were cut out of a cycle query (`history_cut.py`)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pyarrow as pa

from millpond.errors import MillpondError, SqlState
from millpond.plan.plain_tuples import PlainTuples
from millpond.python_function import PythonFunction
from millpond.relation import Column, Relation
from millpond.sql.bind import BoundQuery, RelationRef
from millpond.sql.history_functions import MOVING


@dataclass(frozen=True)
class SortKey:
    """A column of a feed that rows of a key are ordered by."""

    column: str
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True)
class HistoryCall:
    """A call: over which columns of the feed, how many rows it is about, and the columns that it makes. That of a
    stateful function in Python is alone in its window, whose keys are among its arguments."""

    function: str
    arguments: tuple[str, ...]
    rows: int
    results: tuple[Column, ...]
    python: PythonFunction | None = None

    @property
    def kept(self) -> int:
        """How many rows of a key have to be remembered for those to come."""
        return self.rows - 1 if self.function in MOVING else self.rows


@dataclass(frozen=True)
class HistoryWindow:
    """Calls over the same rows in the same order; `name` tells it from others of the query.

    Without `order`, a key may have one row a cycle.
    """

    name: str
    keys: tuple[str, ...]
    order: tuple[SortKey, ...]
    calls: tuple[HistoryCall, ...]

    @property
    def kept(self) -> int:
        return max(call.kept for call in self.calls)

    @property
    def columns(self) -> tuple[str, ...]:
        """What is remembered of a row."""
        return tuple(dict.fromkeys((*self.keys, *(one for call in self.calls for one in call.arguments))))


@dataclass(frozen=True, eq=False)
class HistoryCut:
    """A SELECT that was cut: its feed, the windows over the feed's rows, and the relation that both make.

    `tuples` says what the feed delivers of the stream, if it does nothing else.
    """

    feed: BoundQuery
    windows: tuple[HistoryWindow, ...]
    relation: Relation
    tuples: PlainTuples | None

    @property
    def key(self) -> str:
        """What the relation is called in the mapping given to `to_spark`."""
        return RelationRef(self.relation).key

    def is_like(self, other: HistoryCut) -> bool:
        """Whether another cut would deliver the same rows, and remember the same."""
        windows = [[replace(window, name="") for window in cut.windows] for cut in (self, other)]
        columns = [cut.relation.columns for cut in (self, other)]
        return self.feed.tree == other.feed.tree and windows[0] == windows[1] and columns[0] == columns[1]

    @property
    def feed_names(self) -> list[str]:
        return [column.name for column in self.feed.columns]

    @property
    def feed_schema(self) -> pa.Schema:
        return pa.schema([self.relation.arrow_schema.field(name) for name in self.feed_names])


def several_rows(window: HistoryWindow) -> MillpondError:
    """The error for a key that has more rows in a cycle than can be put in order."""
    return MillpondError(
        SqlState.CARDINALITY_VIOLATION,
        f"{window.calls[0].function} found several rows of a key in one cycle, and no order among them",
        hint="Write ORDER BY in its OVER clause.",
    )

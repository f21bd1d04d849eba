"""Sessions as a relation of Spark's: their numbers, keys, panes and bounds, and how rows of a state find theirs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from millpond.plan.panes import bound_type, partitioned_by
from millpond.plan.pipelines import Grouping
from millpond.relation import TID, Column, Relation
from millpond.run.axis import as_places
from millpond.run.repeated_query import RepeatedQuery
from millpond.run.session_rows import Arrivals, Places, arrivals_of
from millpond.run.sessions import Keeps, Key, Session, Sessions, key_columns
from millpond.spark.runner import StateInput
from millpond.stream_window import SessionWindow
from millpond.types import BIGINT, SqlType

SESSION = "session"
"""The column with the number of a session."""

FIRST_PANE = "first_pane"
_LAST_PANE = "last_pane"
_BOUNDS = ("window_start", "window_end")


@dataclass(frozen=True)
class SessionList:
    """Lists sessions of the stream below a grouping, under a name for Spark."""

    window: SessionWindow
    stream: Relation
    name: str

    @classmethod
    def of(cls, grouping: Grouping, name: str) -> SessionList:
        assert isinstance(grouping.window, SessionWindow)
        return cls(grouping.window, grouping.pipelines[0].stream, name)

    @property
    def by(self) -> list[Column]:
        """What sessions are partitioned by."""
        return partitioned_by(self.stream, self.window)

    def no_sessions(self, delay_us: int, keeps: Keeps, end: int) -> Sessions:
        """The sessions before any row of a stream, which is read from the tuple `end` on."""
        # The tid to come is the place up to which a stream is complete.
        return Sessions(self.window.size, -1 if self.window.column == TID.name else delay_us, keeps, end)

    @property
    def columns(self) -> list[str]:
        """The columns of a stream that tell its sessions."""
        return list(dict.fromkeys([*(column.name for column in self.by), self.window.column]))

    def arrivals(self, rows: pa.Table) -> tuple[Arrivals, Places]:
        """Those of some rows that have a place, and their numbers."""
        keys = [rows.column(column.name) for column in self.by]
        return arrivals_of(as_places(rows.column(self.window.column)), keys)

    def input(self, repeated: RepeatedQuery, sessions: Sequence[tuple[Key, Session]], first: int = 0) -> StateInput:
        """The sessions, numbered from the first on."""
        schema = ", ".join(f"{name} {kind.spark}" for name, kind in self._types().items())
        return StateInput((repeated.rows(self.name, self._table(sessions, first)),), schema, single=True)

    def condition(self, grouping: Grouping) -> str:
        """Whether a row `x` of the state of a grouping is of the session `s`."""
        *keys, pane = grouping.keys[-1 - len(self.by) :]
        same = [f"x.{key.name} <=> s.{own}" for key, own in zip(keys, self._keys(), strict=True)]
        return " AND ".join([*same, f"x.{pane.name} BETWEEN s.{FIRST_PANE} AND s.{_LAST_PANE}"])

    def _keys(self) -> list[str]:
        return [f"key{place}" for place in range(len(self.by))]

    def _types(self) -> dict[str, SqlType]:
        keys = {name: column.type for name, column in zip(self._keys(), self.by, strict=True)}
        numbers = dict.fromkeys((SESSION, FIRST_PANE, _LAST_PANE), BIGINT)
        return {**keys, **numbers, **dict.fromkeys(_BOUNDS, self._bound_type)}

    @property
    def _bound_type(self) -> SqlType:
        return bound_type(self.stream, self.window)

    def _table(self, sessions: Sequence[tuple[Key, Session]], first: int) -> pa.Table:
        gap = self.window.size
        firsts, lasts = [one.first for _, one in sessions], [one.last for _, one in sessions]
        keys = key_columns([key for key, _ in sessions], [column.type.arrow for column in self.by])
        places = (range(first, first + len(sessions)), [one // gap for one in firsts], [one // gap for one in lasts])
        numbers = [pa.array(column, pa.int64()) for column in places]
        ends = [one + gap for one in lasts]
        bounds = [pa.array(column, pa.int64()).cast(self._bound_type.arrow) for column in (firsts, ends)]
        return pa.table([*keys.values(), *numbers, *bounds], names=list(self._types()))

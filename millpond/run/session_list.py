"""Sessions as a relation of Spark's: their numbers, keys, panes and bounds, and how rows of a state find theirs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from millpond.plan.panes import partitioned_by
from millpond.plan.pipelines import Grouping
from millpond.relation import Column, Relation
from millpond.run.repeated_query import RepeatedQuery
from millpond.run.sessions import Key, Session, key_columns
from millpond.spark.runner import StateInput
from millpond.stream_window import SessionWindow
from millpond.types import BIGINT, TIMESTAMP, SqlType

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

    def input(self, repeated: RepeatedQuery, sessions: Sequence[tuple[Key, Session]], first: int = 0) -> StateInput:
        """The sessions, numbered from the first on."""
        schema = ", ".join(f"{name} {kind.spark}" for name, kind in self._types().items())
        return StateInput((repeated.file(self.name, self._table(sessions, first)),), schema, single=True)

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
        if self.window.by_rows:
            return BIGINT
        axis = self.stream.column(self.window.column)
        assert axis is not None
        return TIMESTAMP if axis.type.name == "date" else axis.type

    def _table(self, sessions: Sequence[tuple[Key, Session]], first: int) -> pa.Table:
        gap = self.window.size
        firsts, lasts = [one.first for _, one in sessions], [one.last for _, one in sessions]
        keys = key_columns([key for key, _ in sessions], [column.type.arrow for column in self.by])
        places = (range(first, first + len(sessions)), [one // gap for one in firsts], [one // gap for one in lasts])
        numbers = [pa.array(column, pa.int64()) for column in places]
        ends = [one + gap for one in lasts]
        bounds = [pa.array(column, pa.int64()).cast(self._bound_type.arrow) for column in (firsts, ends)]
        return pa.table([*keys.values(), *numbers, *bounds], names=list(self._types()))

"""What the functions of a cycle query remember: rows of each key, in parts that are committed with the query's record.

1. a cycle's rows and the memory of the record make results and a new memory, which is written as a part
2. the part is named in the record after the cycle, which becomes true together with the cycle's results
3. before the next cycle, parts that the committed record does not name are removed: old ones, and those of cycles that
   were not committed
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Mapping
from functools import cached_property

import pyarrow as pa
import pyarrow.parquet as pq

from millpond.plan.history import HistoryCut, HistoryWindow
from millpond.python_function import STATE
from millpond.run.key_calls import KeyCalls
from millpond.run.key_history import remembered
from millpond.state.parts import PartStore
from millpond.state.records import Part
from millpond.types import SqlType
from millpond.values.arrays import Array, nulls

CallPython = Callable[[HistoryWindow, pa.Table, Mapping[str, SqlType]], pa.Table]
"""Calls a stateful function for each row of a table (see `KeyCalls`), given the types of a feed's columns."""


class FunctionState:
    """The memory of one query's functions; for one cycle at a time. A query without any needs no store."""

    def __init__(self, open_store: Callable[[], PartStore]) -> None:
        self._open_store = open_store
        self._at_hand: dict[str, pa.Table] = {}
        self._before: dict[str, Part] = {}
        self._after: dict[str, Part] = {}
        self._definition = ""
        self._has_parts = False

    @cached_property
    def _store(self) -> PartStore:
        return self._open_store()

    def begin(self, saved: Mapping[str, Part], definition: str | None) -> None:
        """Start a cycle after those that were committed. Another definition of the query begins with no memory."""
        names = {part.name for part in saved.values()}
        if names or self._has_parts:
            self._store.remove_orphans(names)
            self._has_parts = bool(names)
        self._define(definition)
        self._before = {name: part for name, part in saved.items() if name.startswith(self._definition)}
        self._after = dict(self._before)
        self._at_hand = {one: rows for one, rows in self._at_hand.items() if one in names}

    def forget(self) -> None:
        """Remove all that is remembered."""
        if "_store" in vars(self):
            shutil.rmtree(self._store.directory, ignore_errors=True)

    def _define(self, definition: str | None) -> None:
        self._definition = hashlib.sha256((definition or "").encode()).hexdigest()[:16]

    @property
    def saved(self) -> dict[str, Part]:
        """What the record after the cycle has to name."""
        return self._after

    def evaluated(self, cut: HistoryCut, rows: pa.Table, call: CallPython) -> pa.Table:
        """The rows of a feed with the results of the calls over them, which are remembered."""
        kinds = {column.name: column.type for column in cut.relation.columns}
        made: dict[str, Array] = {}
        for window in cut.windows:
            arrays, after = self._window(window, rows, call, kinds)
            made |= dict(zip((one.name for call in window.calls for one in call.results), arrays, strict=True))
            if rows.num_rows:
                self._keep(window, after)
        for name in cut.relation.arrow_schema.names[rows.num_columns :]:
            rows = rows.append_column(name, made[name])
        return rows.cast(cut.relation.arrow_schema)

    def _window(
        self, window: HistoryWindow, rows: pa.Table, call: CallPython, kinds: Mapping[str, SqlType]
    ) -> tuple[list[Array], pa.Table]:
        python, schema = window.calls[0].python, rows.schema
        if python is None:
            wanted = pa.schema([schema.field(name) for name in window.columns])
            return remembered(window, rows, self._memory(window, wanted))
        keys = dict.fromkeys(window.keys)
        wanted = pa.schema([*(schema.field(name) for name in keys), pa.field(STATE, pa.binary())])
        memory = self._memory(window, wanted)
        given = KeyCalls.of(window, rows, wanted.empty_table() if memory is None else memory)
        if not rows.num_rows:
            return [nulls(0, python.result.arrow)], given.others
        values, after = given.results(call(window, given.calls, kinds))
        return [values], after

    def _memory(self, window: HistoryWindow, wanted: pa.Schema) -> pa.Table | None:
        """The rows that are remembered; none if a view that the query reads was replaced, and they have other types."""
        part = self._before.get(self._name(window))
        if part is None:
            return None
        if part.name not in self._at_hand:
            self._at_hand[part.name] = pa.concat_tables(pq.read_table(path) for path in self._store.paths([part]))
        rows = self._at_hand[part.name]
        return rows if rows.schema.equals(wanted) else None

    def _keep(self, window: HistoryWindow, memory: pa.Table) -> None:
        part, self._has_parts = self._store.write(memory), True
        self._after[self._name(window)] = part
        self._at_hand[part.name] = memory

    def _name(self, window: HistoryWindow) -> str:
        return f"{self._definition}.{window.name}"

"""What the functions of an EMIT branch remember: it moves on with each piece of the open cycle, in memory, and is
written as parts when the cycle ends, to be committed with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pyarrow as pa

from millpond.plan.history import HistoryWindow
from millpond.run.function_state import FunctionState
from millpond.state.records import Part

_EMITTED = "emitted."
"""How the names of its parts begin in the query's record; the query's other functions have others."""


class EmittedState(FunctionState):
    """Use it for one piece at a time; a piece that fails leaves what was there before it."""

    _done: Mapping[str, pa.Table] = {}
    _piece: Mapping[str, pa.Table] = {}

    def begin(self, saved: Mapping[str, Part], definition: str | None) -> None:
        """Start a cycle after those that were committed, with what is remembered of them."""
        self._define(definition)
        own = {name: part for name, part in saved.items() if name.startswith(f"{_EMITTED}{self._definition}")}
        if own != self._before:
            self._before, self._done = own, {}

    @contextmanager
    def moving_on(self) -> Iterator[None]:
        """Around the work on a piece, which counts once it is done."""
        self._piece = dict(self._done)
        yield
        self._done = self._piece

    def written(self) -> dict[str, Part]:
        """What the record after the cycle has to name, written now."""
        self._before = {**self._before, **{name: self._store.write(rows) for name, rows in self._done.items()}}
        return self._before

    def _memory(self, window: HistoryWindow, wanted: pa.Schema) -> pa.Table | None:
        rows = self._piece.get(self._name(window))
        if rows is None:
            return super()._memory(window, wanted)
        return rows if rows.schema.equals(wanted) else None

    def _keep(self, window: HistoryWindow, memory: pa.Table) -> None:
        self._piece = {**self._piece, self._name(window): memory}

    def _name(self, window: HistoryWindow) -> str:
        return f"{_EMITTED}{super()._name(window)}"

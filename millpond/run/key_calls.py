"""The calls of a stateful function in Python: one for each key that has rows in a cycle.

rows     k  v        calls    place  length  p0  p1      state          answers   place  made
         1  10                0      2       1   [10,7]  b"..."                   0      {made: [..], state: b"..."}
         2  9                 1      1       2   [9]     NULL                     1      {made: [..], state: b"..."}
         1  7
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from millpond.plan.history import HistoryCall, HistoryWindow
from millpond.python_function import STATE
from millpond.run.key_history import Numbers, Ordered, array_of_numbers, check_single, codes_of, ranks_of
from millpond.values.arrays import Array, Column, contiguous, pc


@dataclass(frozen=True)
class KeyCalls:
    """The calls as a table, the states of keys that have no rows, and the rows in the order of the calls."""

    window: HistoryWindow
    calls: pa.Table
    others: pa.Table
    order: Numbers

    @classmethod
    def of(cls, window: HistoryWindow, rows: pa.Table, memory: pa.Table) -> KeyCalls:
        """Those of a cycle's rows, after the states that the memory has."""
        both = pa.concat_tables([memory.drop_columns([STATE]), rows.select(list(dict.fromkeys(window.keys)))])
        codes = np.unique(codes_of([both.column(key) for key in window.keys], both.num_rows), return_inverse=True)[1]
        known, new = codes[: memory.num_rows], codes[memory.num_rows :]
        if not window.order:
            check_single(window, new)
        ordered = Ordered.by(new, [ranks_of(rows.column(key.column), key) for key in window.order])
        starts = np.flatnonzero(ordered.place == 0)
        calls = _arguments(window.calls[0], rows.take(ordered.rows), starts)
        calls[STATE] = _states(contiguous(memory.column(STATE)), known, new[ordered.rows][starts])
        others = memory.filter(pa.array(~np.isin(known, new)))
        return cls(window, pa.table(calls), others, ordered.rows)

    def results(self, answers: pa.Table) -> tuple[Array, pa.Table]:
        """The values for the cycle's rows, in the order of these, and all states after them."""
        made = contiguous(answers.sort_by("place").column("made"))
        back = np.empty(len(self.order), dtype=np.int64)
        back[self.order] = np.arange(len(self.order))
        keys: dict[str, Column] = dict(zip(self.window.keys, self._key_columns(), strict=True))
        memory = pa.table({**keys, STATE: made.field(STATE)})
        values = pc.list_flatten(made.field("made")).take(pa.array(back))
        return values, pa.concat_tables([self.others, memory.cast(self.others.schema)])

    def _key_columns(self) -> list[Column]:
        python = self.window.calls[0].python
        assert python is not None
        places = [place for place, one in enumerate(python.parameters) if one.name in python.keys]
        return [self.calls.column(f"p{place}") for place in places]


def _arguments(call: HistoryCall, rows: pa.Table, starts: Numbers) -> dict[str, Array]:
    """The columns of calls over sorted rows, of which those at `starts` are the first of their keys."""
    assert call.python is not None
    lists: Any = pa.ListArray.from_arrays
    offsets = np.append(starts, rows.num_rows).astype(np.int32)
    made: dict[str, Array] = {
        "place": pa.array(np.arange(len(starts))),
        "length": pa.array(np.diff(offsets).astype(np.int64)),
    }
    for place, (name, parameter) in enumerate(zip(call.arguments, call.python.parameters, strict=True)):
        values, is_key = contiguous(rows.column(name)), parameter.name in call.python.keys
        made[f"p{place}"] = values.take(pa.array(starts)) if is_key else lists(pa.array(offsets), values)
    return made


def _states(states: Array, known: Numbers, wanted: Numbers) -> Array:
    """The states of keys, by their codes; NULL for one that has none yet."""
    places = np.full(max(known.max(initial=-1), wanted.max(initial=-1)) + 1, -1)
    places[known] = np.arange(len(known))
    found = places[wanted]
    return states.take(array_of_numbers(np.maximum(found, 0), found < 0))

"""The thread that emits: each tuple of a cycle once and in order, however often it is offered, and what goes wrong."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millpond.errors import MillpondError, SqlState
from millpond.run.cuts import Piece
from millpond.run.emitter import Emitter

SIZE = 20


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(1, SIZE), st.sampled_from(["", "", "stop", "fail"])), max_size=30))
def test_every_tuple_is_emitted_once(steps: list[tuple[int, str]]) -> None:
    """Cycles of so many tuples; each is offered in growing pieces, the thread fails or is stopped in between."""
    emitter, emitted = Emitter("test"), list[int]()
    cycle = end = 0

    def emit(piece: Piece) -> None:
        emitted.extend(range(piece.first, piece.end))

    def fail(_piece: Piece) -> None:
        raise MillpondError(SqlState.DIVISION_BY_ZERO, "division by zero")

    for count, event in [*steps, (SIZE, "")]:
        first = cycle * SIZE
        end = min(end + count, first + SIZE)
        if event == "fail":
            emitter.finish()
            emitter.offer(cycle, Piece(0, 0, first, end + 1, None), fail)
            with pytest.raises(MillpondError):
                emitter.finish()
            continue
        emitter.offer(cycle, Piece(0, 0, first, end, None), emit)
        if event == "stop":
            emitter.stop()
            emitter.offer(cycle, Piece(0, 0, first, end, None), emit)
        if end == first + SIZE:
            emitter.finish()
            cycle += 1
    emitter.finish()
    emitter.stop()
    assert emitted == list(range(end))
    assert not [thread for thread in threading.enumerate() if thread.name == "test"]

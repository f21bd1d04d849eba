"""The axis of a stream: where its rows are, however the stream was cut when somebody looked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from millpond.run.axis import Axis, Places
from millpond.stream import StreamOptions, StreamRelation

SCHEMA = pa.schema([pa.field("at", pa.timestamp("us", "UTC"))])


@contextmanager
def stream(now: list[int]) -> Iterator[StreamRelation]:
    with TemporaryDirectory() as directory:
        folders = Path(directory) / "stream", Path(directory) / "scratch"
        opened = StreamRelation.open("s", *folders, SCHEMA, StreamOptions(durability="memory"), lambda: now[0])
        yield opened
        opened.close()


def insert(opened: StreamRelation, events: list[int | None]) -> None:
    opened.append(pa.table([pa.array(events, SCHEMA.field(0).type)], schema=SCHEMA))


def axis_of(opened: StreamRelation, delay_us: int = 10, idle_us: int | None = None) -> Axis:
    return Axis(opened, "at", nullable=True, delay_us=delay_us, idle_us=idle_us, end=0)


@settings(max_examples=25)
@given(st.lists(st.integers(0, 100), min_size=1, max_size=40), st.sets(st.integers(1, 39)))
def test_what_is_late_does_not_depend_on_the_cuts(events: list[int], cuts: set[int]) -> None:
    late: list[int] = []

    def count(places: Places, complete: Places) -> None:
        late.extend(places[places < complete].tolist())

    with stream([1000]) as opened:
        axis = axis_of(opened)
        axis.on_events["test"] = count
        insert(opened, list(events))
        for end in sorted({*(cut for cut in cuts if cut < len(events)), len(events)}):
            axis.advance(end)
        highest = np.maximum.accumulate(events)
        expected = [event for event, before in zip(events[1:], highest, strict=False) if event < before - 10]
        assert late == expected
        assert axis.position() == max(events) - 10
        assert axis.newest() == max(events)


def test_what_changed_is_known_by_place() -> None:
    with stream([1000]) as opened:
        axis = axis_of(opened)
        insert(opened, [5, 7])
        axis.advance(2)
        insert(opened, [50, None])
        axis.advance(4)
        assert axis.changed_since(2, 40, 60)
        assert not axis.changed_since(2, 0, 40)
        assert axis.changed_since(0, 0, 40)
        assert not axis.changed_since(4, 0, 100)
        assert not axis.is_within(2, 40, 60), "a row may have no place"


def test_time_goes_on_by_the_clock_when_nothing_arrives() -> None:
    now = [1000]
    with stream(now) as opened:
        axis = axis_of(opened, delay_us=10, idle_us=100)
        assert axis.position() is None
        insert(opened, [500])
        axis.advance(1)
        assert axis.position() == 490
        now[0] += 150
        assert axis.position() == 650
        insert(opened, [520])
        axis.advance(2)
        assert axis.position() == 650, "what was complete stays so"

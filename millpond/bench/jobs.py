"""How many jobs Spark runs for a chunk of new rows and for a read: each has a fixed cost that small chunks pay for."""

from __future__ import annotations

import time

import pyarrow as pa

from millpond import Pond

_WAIT_S = 120.0
_LOOK_INTERVAL_S = 0.01


def jobs_started(pond: Pond) -> int:
    """How many jobs Spark has started so far: their ids count up from 0."""
    ids = pond.services.runner.session.sparkContext.statusTracker().getJobIdsForGroup(None)
    return max(ids, default=-1) + 1


def wait_until_read(pond: Pond, name: str) -> None:
    """Wait until the views of a stream have taken all its rows, which are worth a chunk; asking them would do more."""
    stream = pond.services.streams.get(pond.services.catalog.snapshot.relations[name])
    deadline = time.monotonic() + _WAIT_S
    while (floor := stream.followers.floor) is not None and floor < stream.stats().end_tid:
        if time.monotonic() > deadline:
            raise TimeoutError(f'the views of stream "{name}" have not taken its rows within {_WAIT_S:g} s')
        time.sleep(_LOOK_INTERVAL_S)


def jobs_of_chunk(pond: Pond, stream: str, rows: pa.Table) -> int:
    """The jobs that bring all views of a stream up to date with rows that are worth a chunk."""
    before = jobs_started(pond)
    pond.insert(stream, rows)
    wait_until_read(pond, stream)
    return jobs_started(pond) - before

"""What cars paid on days before today, made up: of nine in ten that will be asked about, and of as many others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from millpond.bench.linear_road.road import DAYS, EXPENDITURE

COLUMNS = ("vid", "xway", "day")


def history(minutes: Sequence[pa.Table], seed: int = 1) -> pa.Table:
    """An amount by car, expressway and day, of which each is there once."""
    random = np.random.default_rng(seed)
    asked = pa.concat_tables(one.filter(pc.field("type") == EXPENDITURE).select(COLUMNS) for one in minutes)
    asked = asked.filter(pa.array(random.random(asked.num_rows) < 0.9))
    day = pc.add(pc.bit_wise_and(pc.add(asked["day"], 7), 63), 1).cast(pa.int16())
    others = asked.set_column(2, "day", day)
    found = pa.concat_tables([asked, others]).group_by(list(COLUMNS)).aggregate([])
    assert DAYS >= 64
    return found.append_column("amount", pa.array(random.integers(0, 100, found.num_rows), pa.int32()))

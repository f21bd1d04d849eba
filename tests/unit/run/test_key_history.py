"""Functions over the rows of keys: what is cut into cycles makes what a plain loop over all rows makes."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from millpond.errors import MillpondError
from millpond.plan.history import HistoryCall, HistoryWindow, SortKey
from millpond.relation import Column
from millpond.run.key_history import remembered
from millpond.state.parts import PartStore
from millpond.types import BIGINT, BOOLEAN, DOUBLE, SqlType, numeric

Row = dict[str, Any]

NAN = float("nan")

VALUES: dict[str, tuple[pa.DataType, SqlType, Callable[[Random], Any]]] = {
    "int": (pa.int32(), BIGINT, lambda random: random.randrange(-3, 4)),
    "bigint": (pa.int64(), numeric(29, 0), lambda random: random.choice([0, 1, -(2**63), 2**63 - 1])),
    "decimal": (pa.decimal128(38, 16), numeric(38, 16), lambda random: Decimal(random.randrange(10**9)).scaleb(-3)),
    "wide": (
        pa.decimal128(25, 2),
        numeric(35, 2),
        lambda random: Decimal(random.choice([-1, 1]) * (10**24 + 3)).scaleb(-2),
    ),
    "double": (pa.float64(), DOUBLE, lambda random: random.choice([0.1, -0.0, 0.0, 1e300, NAN, math.inf, -math.inf])),
}


def calls(kind: str, rows: int) -> tuple[HistoryCall, ...]:
    _, total, _ = VALUES[kind]
    return (
        HistoryCall("moving_avg", ("x",), rows, (Column("s", total), Column("n", BIGINT))),
        HistoryCall("lag_cycle", ("x",), rows, (Column("lag", total),)),
        HistoryCall("change_point", ("x", "k"), 1, (Column("changed", BOOLEAN),)),
    )


def same(left: Any, right: Any) -> bool:
    both_nan = isinstance(left, float) and isinstance(right, float) and math.isnan(left) and math.isnan(right)
    return both_nan or (left == right and (left is None) == (right is None))


def judged(rows: Sequence[Row], number: int) -> list[list[Any]]:
    """The same in plain Python, over rows that are in order."""
    seen: dict[Any, list[Any]] = defaultdict(list)
    made = []
    for row in rows:
        before = seen[row["k"], str(row["t"])]
        last = [x for x in [*before, row["x"]][-number:] if x is not None]
        total = None
        for x in last:
            total = x if total is None else total + x
        lag = before[-number] if len(before) >= number else None
        made.append([total, len(last) or None, lag, not before or not same(before[-1], row["x"])])
        before.append(row["x"])
    return made


@pytest.mark.parametrize("kind", VALUES)
def test_cut_into_cycles_and_kept_in_files(tmp_path: Path, kind: str) -> None:
    random, store = Random(len(kind)), PartStore(tmp_path, durable=False)
    arrow, _, value = VALUES[kind]
    for _ in range(20):
        number, keys = random.choice([1, 2, 3, 7]), random.choice([1, 3])
        window = HistoryWindow("w", ("k", "t"), (SortKey("at", descending=True), SortKey("tid")), calls(kind, number))
        kinds: dict[str, pa.DataType] = {"k": pa.int32(), "t": pa.float64(), "at": pa.float64(), "tid": pa.int64()}
        schema = pa.schema({**kinds, "x": arrow})
        rows: list[Row] = [
            {
                "k": random.choice([None, *range(keys)]),
                "t": random.choice([NAN, 0.0]),
                "x": None if random.random() < 0.2 else value(random),
                "at": -float(tid // 2),
                "tid": tid,
            }
            for tid in range(random.randrange(40))
        ]
        memory, found, place = None, [], 0
        while place < len(rows):
            cycle = rows[place : place + random.randrange(15)]
            place += len(cycle)
            shuffled = random.sample(cycle, len(cycle))
            arrays, memory = remembered(window, pa.Table.from_pylist(shuffled, schema), memory)
            columns = [array.to_pylist() for array in arrays]
            found += [(row["tid"], made) for row, *made in zip(shuffled, *columns, strict=True)]
            memory = pq.read_table(store.paths([store.write(memory)])[0])
        made = [one for _, one in sorted(found, key=lambda one: one[0])]
        for one, expected in zip(made, judged(rows, number), strict=True):
            assert all(same(*pair) for pair in zip(one, expected, strict=True)), (one, expected)


def test_rows_of_a_key_need_an_order() -> None:
    window = HistoryWindow("w", ("k",), (), calls("int", 2))
    rows = pa.table({"k": pa.array([1, 2], pa.int32()), "x": pa.array([3, 4], pa.int32())})
    _, memory = remembered(window, rows, None)
    assert [array.to_pylist() for array in remembered(window, rows, memory)[0]] == [
        [6, 8],
        [2, 2],
        [None, None],
        [False] * 2,
    ]
    with pytest.raises(MillpondError, match="moving_avg found several rows of a key"):
        remembered(window, pa.concat_tables([rows, rows]), None)

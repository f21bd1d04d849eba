"""What writers insert until they are killed: numbers without a gap, each acknowledged on standard output."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from millpond import Pond


def insert_numbers(pond: Pond, row: Callable[[int], tuple[object, ...]] = lambda number: (number,)) -> NoReturn:
    """Go on after the largest number in the stream `s`, for ever; `row` is what is inserted of each."""
    number = pond.execute("SELECT coalesce(max(n), 0) FROM s").fetchall()[0][0]
    print("write", flush=True)
    while True:
        pond.insert("s", [row(number + step) for step in range(1, 8)])
        number += 7
        print(f"ack {number}", flush=True)

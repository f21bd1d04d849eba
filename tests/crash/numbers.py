"""What writers insert until they are killed: numbers without a gap, each acknowledged on standard output."""

from __future__ import annotations

from typing import NoReturn

from millpond import Pond


def insert_numbers(pond: Pond) -> NoReturn:
    """Go on after the largest number in the stream `s`, for ever."""
    number = pond.execute("SELECT coalesce(max(n), 0) FROM s").fetchall()[0][0]
    print("write", flush=True)
    while True:
        pond.insert("s", [(number + step,) for step in range(1, 8)])
        number += 7
        print(f"ack {number}", flush=True)

"""The process that the crash test kills: threads append to a stream and report each acknowledged append on stdout.

Lines are `opening`, `open`, and `ack <first tid> <run> <number> <size>`. Run as
`python writer.py <directory> <scratch> <run> <seed>`; it never ends by itself.
"""

from __future__ import annotations

import itertools
import os
import random
import sys
import threading
from pathlib import Path

import pyarrow as pa

from millpond.stream import StreamOptions, StreamRelation, TidRange

SCHEMA = pa.schema([("run", pa.int32()), ("number", pa.int32()), ("index", pa.int32()), ("size", pa.int32())])
OPTIONS = StreamOptions(
    capacity_rows=20_000,
    segment_rows_max=2500,
    segment_rows_min=300,
    small_segments_max=6,
)
WRITERS = 4
SIZES = (1, 2, 5, 40, 299, 300, 1000, 9000)


def rows(run: int, number: int, size: int) -> pa.Table:
    """One append: each row knows which it is of how many."""
    constants = [pa.repeat(pa.scalar(value, pa.int32()), size) for value in (run, number, size)]
    return pa.table([*constants[:2], pa.array(range(size), pa.int32()), constants[2]], schema=SCHEMA)


def append(stream: StreamRelation, table: pa.Table, chance: random.Random) -> TidRange:
    """Append in one of the ways that there are."""
    if chance.random() < 0.7:
        return stream.append(table)
    with stream.stage() as staged:
        step = chance.randint(1, table.num_rows)
        for start in range(0, table.num_rows, max(step, 100)):
            staged.write(table.slice(start, max(step, 100)))
        return staged.publish()


def write(stream: StreamRelation, run: int, numbers: itertools.count[int], seed: int) -> None:
    chance = random.Random(seed)
    while True:
        number = next(numbers)
        size = chance.choices(SIZES, weights=(8, 8, 8, 6, 3, 3, 2, 1))[0]
        tids = append(stream, rows(run, number, size), chance)
        os.write(1, f"ack {tids.first} {run} {number} {size}\n".encode())


def read(stream: StreamRelation) -> None:
    """Hold chunks, so that overwritten and merged segments have readers when the end comes."""
    while True:
        with stream.hold(), stream.hold() as chunk:
            assert chunk.read(["tid"]).num_rows == chunk.rows


def main() -> None:
    directory, scratch, run, seed = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    rows(run, 0, 1)  # Arrow imports what it needs now, not in the little time that there will be
    os.write(1, b"opening\n")
    stream = StreamRelation.open("s", directory, scratch, SCHEMA, OPTIONS)
    os.write(1, b"open\n")
    numbers = itertools.count()
    targets = [(write, (stream, run, numbers, seed + writer)) for writer in range(WRITERS)]
    threads = [threading.Thread(target=target, args=arguments) for target, arguments in targets]
    threads.append(threading.Thread(target=read, args=(stream,)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()

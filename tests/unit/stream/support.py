"""What the tests of streams share: numbered rows, small limits, a clock to set, and a disk that fails on demand."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from millpond.stream import Chunk, StreamOptions, StreamRelation
from millpond.stream.disk import Disk

COLUMNS: dict[str, pa.DataType] = {"n": pa.int64(), "text": pa.string()}
SCHEMA = pa.schema(COLUMNS)


def numbered(first: int, count: int) -> pa.Table:
    """Rows numbered from `first`."""
    numbers = range(first, first + count)
    return pa.table({"n": pa.array(numbers, pa.int64()), "text": [f"row {n}" for n in numbers]}, schema=SCHEMA)


def small_options(**changes: Any) -> StreamOptions:
    """Limits that a few rows reach: appends of 8 rows are large, segments hold 32."""
    values: dict[str, Any] = {
        "capacity_rows": 1000,
        "segment_rows_max": 32,
        "segment_rows_min": 8,
        "small_segments_max": 4,
    }
    return StreamOptions(**(values | changes))


class ManualClock:
    """A clock that stands still until it is set."""

    def __init__(self, now_us: int = 1_700_000_000_000_000) -> None:
        self.now_us = now_us

    def __call__(self) -> int:
        return self.now_us


def open_stream(
    directory: Path,
    options: StreamOptions | None = None,
    *,
    clock: Callable[[], int] | None = None,
    disk: Disk | None = None,
) -> StreamRelation:
    """Open the stream "s" in a folder of a test."""
    return StreamRelation.open(
        "s",
        directory / "lasting",
        directory / "scratch",
        SCHEMA,
        options or small_options(),
        clock=clock or ManualClock(),
        disk=disk,
    )


def numbers(stream: StreamRelation) -> list[int]:
    """The numbers of all rows that the stream holds, after checking the rows and their tids."""
    with stream.hold() as chunk:
        return checked_numbers(chunk)


def checked_numbers(chunk: Chunk) -> list[int]:
    table = chunk.read()
    found: list[int] = table.to_pydict()["n"]
    assert table["text"].to_pylist() == [f"row {n}" for n in found]
    assert table["tid"].to_pylist() == list(range(chunk.first, chunk.end))
    return found


class Crash(BaseException):
    """Stands for the end of the process: nothing in the code under test may catch it and go on."""


Kind = Literal["before", "after", "forever", "crash"]

STEPS = (
    "make_directory",
    "write_segment",
    "write_scratch",
    "stamp_segment",
    "write_file",
    "create_mark",
    "rename",
    "remove",
    "remove_tree",
    "sync_directory",
    "create_log",
    "append_log",
    "truncate_log",
)


class FaultyDisk(Disk):
    """Counts its operations, and fails at one of them: once before or after doing it, forever, or as if killed.

    It syncs nothing: what a process wrote before it was killed is there anyway.
    """

    def __init__(self, *, durable: bool, fail_at: int = 0, kind: Kind = "before") -> None:
        super().__init__(durable=durable)
        self.fail_at = fail_at
        self.kind: Kind = kind
        self.fail_next = ""
        """The operation of this name, when it comes next, is the one to fail at."""
        self.steps: list[str] = []

    def perform(self, name: str, operation: Callable[[], Any]) -> Any:
        self.steps.append(name)
        step = len(self.steps)
        if name == self.fail_next:
            self.fail_next, self.fail_at = "", step
        if not self.fail_at or step < self.fail_at or (step > self.fail_at and self.kind in ("before", "after")):
            return operation()
        if self.kind == "crash":
            raise Crash
        if self.kind == "after":
            operation()
        raise OSError(errno.ENOSPC, "No space left on device")

    def _sync_file(self, path: Path) -> None:
        pass

    def _sync(self, descriptor: int) -> None:
        pass


def _sync_nothing(disk: Disk, path: Path) -> None:
    pass


def _counted(name: str) -> Callable[..., Any]:
    original = _sync_nothing if name == "sync_directory" else getattr(Disk, name)

    def method(self: FaultyDisk, *arguments: Any) -> Any:
        return self.perform(name, lambda: original(self, *arguments))

    return method


for _name in STEPS:
    setattr(FaultyDisk, _name, _counted(_name))

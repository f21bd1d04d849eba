"""Who waits for whom: group commit, bulk appends beside small ones, readers beside writers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from millpond.errors import MillpondError
from millpond.stream import StreamRelation, TidRange
from tests.unit.stream.support import FaultyDisk, numbered, numbers, open_stream, small_options


class SlowDisk(FaultyDisk):
    """Stops at the first operation called `slow` until it is let go."""

    def __init__(self, slow: str, *, durable: bool = True) -> None:
        super().__init__(durable=durable)
        self.slow = ""
        self._armed = slow
        self.reached = threading.Event()
        self.let_go = threading.Event()

    def arm(self) -> None:
        self.slow = self._armed

    def perform(self, name: str, operation: Callable[[], Any]) -> Any:
        if name == self.slow:
            self.slow = ""
            self.reached.set()
            assert self.let_go.wait(10)
        return super().perform(name, operation)


def wait_until(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.001)


def waiting(stream: StreamRelation) -> int:
    """How many appends wait for whoever is committing."""
    return len(stream._committer._queue)


def test_one_sync_serves_all_that_wait(tmp_path: Path) -> None:
    disk = SlowDisk("append_log")
    stream = open_stream(tmp_path, small_options(segment_rows_min=100, segment_rows_max=1000), disk=disk)
    stream.append(numbered(0, 1))
    disk.arm()
    with ThreadPoolExecutor(9) as pool:
        first = pool.submit(stream.append, numbered(1, 1))
        assert disk.reached.wait(10)
        others = [pool.submit(stream.append, numbered(n, 1)) for n in range(2, 10)]
        wait_until(lambda: waiting(stream) == 8)
        syncs_before = disk.steps.count("append_log")
        disk.let_go.set()
        tids = [future.result() for future in [first, *others]]
    assert disk.steps.count("append_log") - syncs_before == 2, "one for the first, one for the other eight"
    assert sorted(tid.first for tid in tids) == list(range(1, 10))
    assert sorted(numbers(stream)) == list(range(10))


def test_all_of_a_failed_group_are_told(tmp_path: Path) -> None:
    disk = SlowDisk("append_log")
    stream = open_stream(tmp_path, small_options(segment_rows_min=100, segment_rows_max=1000), disk=disk)
    stream.append(numbered(0, 1))
    disk.arm()
    with ThreadPoolExecutor(5) as pool:
        first = pool.submit(stream.append, numbered(1, 1))
        assert disk.reached.wait(10)
        others = [pool.submit(stream.append, numbered(n, 1)) for n in range(2, 6)]
        wait_until(lambda: waiting(stream) == 4)
        disk.fail_at = len(disk.steps) + 2  # the first succeeds, the group after it does not
        disk.let_go.set()
        assert first.result().first == 1
        for future in others:
            with pytest.raises(MillpondError, match="No space left on device"):
                future.result()
    assert numbers(stream) == [0, 1]
    assert stream.append(numbered(2, 1)).first == 2


def beside(disk: SlowDisk, slow: Callable[[], Any], quick: Callable[[], TidRange]) -> tuple[Any, TidRange]:
    """Start `slow`, do `quick` while it is stopped, then let it go on."""
    disk.arm()
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(slow)
        assert disk.reached.wait(10)
        result = quick()
        disk.let_go.set()
        return future.result(), result


def test_small_appends_do_not_wait_for_a_bulk_append_to_be_written(tmp_path: Path) -> None:
    disk = SlowDisk("write_segment")
    stream = open_stream(tmp_path, disk=disk)
    bulk, small = beside(disk, lambda: stream.append(numbered(1, 20)), lambda: stream.append(numbered(0, 1)))
    assert (small.first, bulk.first) == (0, 1)
    assert numbers(stream) == list(range(21))


def test_appends_do_not_wait_for_a_segment_to_be_closed(tmp_path: Path) -> None:
    disk = SlowDisk("write_segment")
    stream = open_stream(tmp_path, disk=disk)
    stream.append(numbered(0, 7))
    beside(disk, lambda: stream.append(numbered(7, 1)), lambda: stream.append(numbered(8, 1)))
    assert numbers(stream) == list(range(9))


def test_appends_do_not_wait_for_readers(tmp_path: Path) -> None:
    disk = SlowDisk("write_scratch")
    stream = open_stream(tmp_path, disk=disk)
    stream.append(numbered(0, 3))
    chunk, _ = beside(disk, stream.hold, lambda: stream.append(numbered(3, 1)))
    assert chunk.rows == 3
    chunk.release()


def test_a_reader_starts_again_when_its_segment_becomes_a_file(tmp_path: Path) -> None:
    disk = SlowDisk("write_scratch")
    stream = open_stream(tmp_path, disk=disk)
    stream.append(numbered(0, 3))
    disk.arm()
    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(stream.hold), pool.submit(stream.hold)]  # one waits for the piece of the other
        assert disk.reached.wait(10)
        append = pool.submit(stream.append, numbered(3, 5))
        wait_until(lambda: stream.stats().end_tid == 8)
        disk.let_go.set()
        append.result()
        for future in readers:
            with future.result() as chunk:
                assert chunk.rows in (3, 8)
                assert chunk.read(["n"])["n"].to_pylist() == list(range(chunk.rows))

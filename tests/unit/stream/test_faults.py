"""Every file operation of a stream fails once, or is the last before a crash: rows are never lost, torn or doubled."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from millpond.errors import MillpondError, SqlState
from millpond.stream import StreamOptions, StreamRelation
from tests.unit.stream.support import Crash, FaultyDisk, Kind, numbered, numbers, open_stream, small_options

SIZES = (1, 3, 70, 2, 5, 9, 1, 40, 3, 8, 8, 8, 6, 33)
"""Small and large appends, in an order that fills, seals, publishes several files at once and merges."""

STRIDES: dict[Kind, int] = {"before": 3, "after": 3, "forever": 4, "crash": 1}
"""A crash is tried at every step, other faults at every so many: the tests should take seconds."""


class Script:
    """Runs the appends on a stream and keeps count of what was acknowledged."""

    def __init__(self) -> None:
        self.acknowledged: list[int] = []
        self.refused: list[list[int]] = []

    def run(self, stream: StreamRelation) -> None:
        for number, size in enumerate(SIZES):
            rows = list(range(number * 1000, number * 1000 + size))
            try:
                self._append(stream, number, size)
            except MillpondError as error:
                if error.sqlstate not in (SqlState.DISK_FULL, SqlState.IO_ERROR):
                    raise
                self.refused.append(rows)
            except Crash:
                self.refused.append(rows)
                raise
            else:
                self.acknowledged += rows

    def _append(self, stream: StreamRelation, number: int, size: int) -> None:
        if number % 2:
            stream.append(numbered(number * 1000, size))
            return
        with stream.stage() as staged:
            for start in range(0, size, 20):
                staged.write(numbered(number * 1000 + start, min(20, size - start)))
            staged.publish()


def check_acknowledged_or_whole(found: list[int], script: Script) -> None:
    """Everything acknowledged is there once and in order; of what was refused, whole appends at most."""
    refused = {rows[0]: rows for rows in script.refused}
    for first in [n for n in found if n in refused]:
        place = found.index(first)
        assert found[place : place + len(refused[first])] == refused[first]
        del found[place : place + len(refused[first])]
    assert found == script.acknowledged


def steps_of_a_run(directory: Path, options: StreamOptions) -> int:
    disk = FaultyDisk(durable=options.durability == "log")
    stream = open_stream(directory, options, disk=disk)
    Script().run(stream)
    stream.close()
    shutil.rmtree(directory)
    return len(disk.steps)


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    with caplog.at_level(logging.ERROR):
        yield


@pytest.mark.parametrize("kind", ["before", "after"])
@pytest.mark.parametrize("durability", ["log", "memory"])
def test_a_failed_append_changes_nothing(tmp_path: Path, kind: Kind, durability: str) -> None:
    options = small_options(durability=durability)
    opened = open_steps(tmp_path / "opened", options)
    total = steps_of_a_run(tmp_path / "count", options)
    assert total > 50
    for step in range(opened + 1, total + 1, STRIDES[kind]):
        directory = tmp_path / str(step)
        disk = FaultyDisk(durable=durability == "log", fail_at=step, kind=kind)
        stream, script = open_stream(directory, options, disk=disk), Script()
        script.run(stream)
        assert numbers(stream) == script.acknowledged, f"step {step}: {disk.steps[step - 1]}"
        assert len(script.refused) <= 1
        if durability == "log":
            check_reopened(directory, options, stream, script)
        shutil.rmtree(directory)


def open_steps(directory: Path, options: StreamOptions) -> int:
    """How many operations opening a new stream takes; those have tests of their own."""
    disk = FaultyDisk(durable=options.durability == "log")
    open_stream(directory, options, disk=disk)
    return len(disk.steps)


def check_reopened(directory: Path, options: StreamOptions, stream: StreamRelation, script: Script) -> None:
    try:
        stream.close()
    except MillpondError:
        stream.close()  # the fault came only now, and was only one
    reopened = open_stream(directory, options, disk=FaultyDisk(durable=True))
    assert numbers(reopened) == script.acknowledged
    reopened.close()


@pytest.mark.parametrize("kind", ["forever", "crash"])
@pytest.mark.parametrize(("capacity_rows", "sparseness"), [(10_000, 1), (80, 3)])
def test_after_a_crash_or_a_dead_disk_everything_acknowledged_is_there(
    tmp_path: Path, kind: Kind, capacity_rows: int, sparseness: int
) -> None:
    options = small_options(capacity_rows=capacity_rows)
    for step in range(1, steps_of_a_run(tmp_path / "count", options) + 1, STRIDES[kind] * sparseness):
        directory, script = tmp_path / str(step), Script()
        disk = FaultyDisk(durable=True, fail_at=step, kind=kind)
        try:
            stream = open_stream(directory, options, disk=disk)
            script.run(stream)
            stream.close()
        except (Crash, MillpondError):
            pass
        check_after(directory, options, script)
        shutil.rmtree(directory)


def check_after(directory: Path, options: StreamOptions, script: Script) -> None:
    """The ring may start anywhere, but from there on nothing acknowledged is missing."""
    stream = open_stream(directory, options, disk=FaultyDisk(durable=True))
    found, first_tid = numbers(stream), stream.stats().first_tid
    if first_tid == 0:
        check_acknowledged_or_whole(found, script)
    else:
        kept = [n for n in found if n in set(script.acknowledged)]
        assert kept == script.acknowledged[len(script.acknowledged) - len(kept) :]
        assert len(found) >= options.capacity_rows
    stream.append(numbered(10**6, 1))
    assert numbers(stream)[-1] == 10**6
    stream.close()


def test_recovery_itself_may_crash_anywhere(tmp_path: Path) -> None:
    """Crash a run at some steps, then crash each opening at each of its steps, and open once more."""
    options = small_options()
    for step in range(5, steps_of_a_run(tmp_path / "count", options), 13):
        script, crashed = Script(), tmp_path / f"{step}"
        with pytest.raises(Crash):
            script.run(open_stream(crashed, options, disk=FaultyDisk(durable=True, fail_at=step, kind="crash")))
        probe = FaultyDisk(durable=True)
        shutil.copytree(crashed, tmp_path / "probe")
        open_stream(tmp_path / "probe", options, disk=probe)
        shutil.rmtree(tmp_path / "probe")
        for opening_step in range(1, len(probe.steps) + 1):
            again = tmp_path / "again"
            shutil.copytree(crashed, again)
            with pytest.raises(Crash):
                open_stream(again, options, disk=FaultyDisk(durable=True, fail_at=opening_step, kind="crash"))
            check_after(again, options, script)
            shutil.rmtree(again)


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    disk = FaultyDisk(durable=True)
    stream = open_stream(tmp_path, disk=disk)
    disk.fail_at, disk.kind = len(disk.steps) + 1, "before"
    with pytest.raises(MillpondError) as caught:
        stream.append(numbered(0, 1))
    assert caught.value.sqlstate == SqlState.DISK_FULL
    assert caught.value.message == 'could not write to stream "s": No space left on device'
    assert stream.append(numbered(0, 1)).first == 0


def test_a_stream_that_cannot_take_a_write_back_refuses_more(tmp_path: Path) -> None:
    disk = FaultyDisk(durable=True)
    stream = open_stream(tmp_path, disk=disk)
    stream.append(numbered(0, 1))
    disk.fail_at, disk.kind = len(disk.steps) + 1, "forever"
    with pytest.raises(MillpondError, match="could not write"):
        stream.append(numbered(1, 1))
    disk.fail_at = 0
    with pytest.raises(MillpondError, match='stream "s" takes no more appends') as caught:
        stream.append(numbered(1, 1))
    assert caught.value.hint == "Mend the disk and reopen the pond; acknowledged rows are safe."
    assert numbers(stream) == [0]


def test_memory_does_not_grow_while_segments_cannot_be_written(tmp_path: Path) -> None:
    disk = FaultyDisk(durable=False)
    stream = open_stream(tmp_path, small_options(durability="memory"), disk=disk)
    disk.fail_at, disk.kind = len(disk.steps) + 1, "forever"
    for first in range(0, 8, 4):
        stream.append(numbered(first, 4))  # these need no disk, and the segment that they fill cannot be written
    for _ in range(3):
        with pytest.raises(MillpondError, match="No space left on device"):
            stream.append(numbered(8, 4))
    disk.fail_at = 0
    stream.append(numbered(8, 4))
    assert numbers(stream) == list(range(12))


@pytest.mark.parametrize("kind", ["before", "after"])
def test_a_mark_that_cannot_be_moved_only_delays_overwriting(tmp_path: Path, kind: Kind) -> None:
    disk = FaultyDisk(durable=True)
    stream = open_stream(tmp_path, small_options(capacity_rows=64), disk=disk)
    disk.kind = kind
    for first in range(0, 400, 8):
        disk.fail_next = "create_mark" if first == 200 else ""
        stream.append(numbered(first, 8))
    assert disk.steps[disk.fail_at - 1] == "create_mark"
    assert stream.stats().rows_held <= 64 + 8
    stream.close()
    assert numbers(open_stream(tmp_path, small_options(capacity_rows=64)))[-64:] == list(range(400 - 64, 400))


def test_a_reader_is_told_when_its_piece_cannot_be_written(tmp_path: Path) -> None:
    disk = FaultyDisk(durable=True)
    stream = open_stream(tmp_path, disk=disk)
    stream.append(numbered(0, 3))
    disk.fail_at = len(disk.steps) + 1
    with pytest.raises(MillpondError, match="No space left on device"):
        stream.hold()
    assert numbers(stream) == [0, 1, 2]

"""The write-ahead log: what is cut off at any byte is a prefix, what is damaged is reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from millpond.errors import InternalError, MillpondError
from millpond.stream.disk import Disk
from millpond.stream.options import Tid
from millpond.stream.wal import Frame, Replay, Wal, replay
from tests.unit.stream.support import SCHEMA, FaultyDisk, numbered

FIRST_TID = Tid(5)


def frames(*sizes: int) -> list[Frame]:
    """Frames of one record batch each."""
    result, tid = [], FIRST_TID
    for size in sizes:
        payload = numbered(tid, size).combine_chunks().to_batches()[0].serialize().to_pybytes()
        result.append(Frame(tid, size, 1000 + tid, payload))
        tid = Tid(tid + size)
    return result


def write_log(path: Path, written: list[Frame]) -> list[int]:
    """Write a log and return where its header and each of its frames end."""
    log = Wal(Disk(durable=False), path, FIRST_TID)
    ends = [path.stat().st_size]
    for frame in written:
        log.append(frame)
        ends.append(path.stat().st_size)
    log.close()
    return ends


def read(path: Path) -> Replay:
    return replay(path, FIRST_TID)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path, written = tmp_path / "log", frames(1, 5, 2)
    write_log(path, written)
    found = read(path)
    assert list(found.frames) == written
    assert (found.first_tid, found.end_tid) == (5, 13)
    rows = [batch.to_pydict()["n"] for frame in found.frames for batch in frame.batches(SCHEMA)]
    assert rows == [[5], [6, 7, 8, 9, 10], [11, 12]]


def test_a_frame_may_hold_several_batches(tmp_path: Path) -> None:
    first, second = frames(2, 3)
    group = Frame(FIRST_TID, 5, 1000, first.payload + second.payload)
    write_log(tmp_path / "log", [group])
    (found,) = read(tmp_path / "log").frames
    assert [batch.num_rows for batch in found.batches(SCHEMA)] == [2, 3]


def test_a_log_cut_at_any_byte_is_a_prefix(tmp_path: Path) -> None:
    path, written = tmp_path / "log", frames(1, 3, 2)
    ends = write_log(path, written)
    data = path.read_bytes()
    for size in range(len(data) + 1):
        path.write_bytes(data[:size])
        whole = sum(1 for end in ends[1:] if end <= size)
        assert list(read(path).frames) == written[:whole], f"cut at byte {size}"


def test_rubbish_after_the_last_frame_is_a_torn_one(tmp_path: Path) -> None:
    path, written = tmp_path / "log", frames(1, 3)
    write_log(path, written)
    path.write_bytes(path.read_bytes() + bytes(1000))
    assert list(read(path).frames) == written


def test_damage_before_a_good_frame_is_reported(tmp_path: Path) -> None:
    path, written = tmp_path / "log", frames(1, 3, 2)
    ends = write_log(path, written)
    data = path.read_bytes()
    for position in range(ends[2]):
        path.write_bytes(data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :])
        with pytest.raises(MillpondError, match='file "log" of a stream is damaged'):
            read(path)


def test_damage_of_the_last_frame_cannot_be_told_from_a_torn_one(tmp_path: Path) -> None:
    path, written = tmp_path / "log", frames(1, 3, 2)
    ends = write_log(path, written)
    data = path.read_bytes()
    for position in range(ends[2], ends[3]):
        path.write_bytes(data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :])
        assert list(read(path).frames) == written[:2]


def test_rows_that_look_like_a_log_do_not_mislead(tmp_path: Path) -> None:
    inner, outer = tmp_path / "inner", tmp_path / "outer"
    write_log(inner, frames(1, 3))
    (first,) = frames(1)
    torn = Frame(Tid(6), 1, 1000, inner.read_bytes())
    ends = write_log(outer, [first, torn])
    outer.write_bytes(outer.read_bytes()[: ends[-1] - 1])
    assert list(read(outer).frames) == [first]


def test_a_failed_write_is_taken_back(tmp_path: Path) -> None:
    path, written = tmp_path / "log", frames(1, 3)
    disk = FaultyDisk(durable=False)
    log = Wal(disk, path, FIRST_TID)
    log.append(written[0])
    disk.fail_at, disk.kind = len(disk.steps) + 1, "after"
    with pytest.raises(OSError):
        log.append(written[1])
    assert not log.torn
    assert list(read(path).frames) == written[:1]
    log.append(written[1])
    assert list(read(path).frames) == written


def test_a_write_that_cannot_be_taken_back_is_known(tmp_path: Path) -> None:
    disk = FaultyDisk(durable=False)
    log = Wal(disk, tmp_path / "log", FIRST_TID)
    disk.fail_at, disk.kind = len(disk.steps) + 1, "forever"
    with pytest.raises(OSError):
        log.append(frames(1)[0])
    assert log.torn


def test_frames_must_follow_each_other(tmp_path: Path) -> None:
    log = Wal(Disk(durable=False), tmp_path / "log", FIRST_TID)
    with pytest.raises(InternalError, match="a frame starts with tuple 6 where 5 is due"):
        log.append(frames(1, 1)[1])

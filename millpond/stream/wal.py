"""The write-ahead log of one segment that is still in memory: a header, then one frame for each group of appends.

    file   = "MILLWAL1" | salt | crc of both                        20 bytes
    frame  = salt | crc of the rest | payload bytes | first tid | rows | arrival | payload
    payload = record batches as Arrow IPC messages, without schema

A frame is synced before the next one is written, so a crash can only tear the last one: a torn frame is dropped, its
appends were never acknowledged. A bad frame with a good one after it is damage that no crash does, and is reported.
The salt is random for each file, so that no row can contain what looks like a frame of the log it is in.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from millpond.errors import InternalError, MillpondError, SqlState
from millpond.stream.disk import Disk
from millpond.stream.options import Tid

_MAGIC = b"MILLWAL1"
_SALT_BYTES = 8
_CRC = struct.Struct("<I")
_FIELDS = struct.Struct("<QQQq")
_HEADER_BYTES = len(_MAGIC) + _SALT_BYTES + _CRC.size
_FRAME_HEAD_BYTES = _SALT_BYTES + _CRC.size + _FIELDS.size


@dataclass(frozen=True)
class Frame:
    """A group of appends that arrived, and became durable, together."""

    first_tid: Tid
    rows: int
    arrival_us: int
    payload: bytes

    def encode(self, salt: bytes) -> bytes:
        fields = _FIELDS.pack(len(self.payload), self.first_tid, self.rows, self.arrival_us)
        return b"".join((salt, _CRC.pack(zlib.crc32(self.payload, zlib.crc32(fields))), fields, self.payload))

    def batches(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The rows; `schema` is without `arrival_timestamp`."""
        source = pa.BufferReader(self.payload)
        while source.tell() < len(self.payload):
            yield pa.ipc.read_record_batch(pa.ipc.read_message(source), schema)


class Wal:
    """A log that is being written, by one thread at a time.

    `torn` becomes true when a failed write could not be taken back: what is on disk is then unknown.
    """

    def __init__(self, disk: Disk, path: Path, first_tid: Tid) -> None:
        self.path = path
        self.torn = False
        self._next_tid = first_tid
        self._disk = disk
        self._salt = os.urandom(_SALT_BYTES)
        header = _MAGIC + self._salt
        header += _CRC.pack(zlib.crc32(header))
        self._descriptor = disk.create_log(path, header)
        self._size_bytes = len(header)

    def append(self, frame: Frame) -> None:
        """Make a frame durable; a failure leaves the log as it was."""
        if frame.first_tid != self._next_tid:
            raise InternalError(f"a frame starts with tuple {frame.first_tid} where {self._next_tid} is due")
        data = frame.encode(self._salt)
        try:
            self._disk.append_log(self._descriptor, self._size_bytes, data)
        except BaseException:
            self._take_back()
            raise
        self._size_bytes += len(data)
        self._next_tid = Tid(self._next_tid + frame.rows)

    def _take_back(self) -> None:
        self.torn = True
        self._disk.truncate_log(self._descriptor, self._size_bytes)
        self.torn = False

    def close(self) -> None:
        """No more frames will come; the file stays."""
        os.close(self._descriptor)


@dataclass(frozen=True)
class Replay:
    """What a log holds: rows [first_tid, end_tid), in frames that follow each other."""

    path: Path
    first_tid: Tid
    frames: Sequence[Frame]

    @property
    def end_tid(self) -> Tid:
        return Tid(self.first_tid + sum(frame.rows for frame in self.frames))


def replay(path: Path, first_tid: Tid) -> Replay:
    """Read the log of the segment that starts with `first_tid`, up to a torn end if it has one."""
    data = path.read_bytes()
    salt = _read_header(path, data)
    frames: list[Frame] = []
    position, expected_tid = _HEADER_BYTES, first_tid
    while salt and (frame := _read_frame(data, position, salt)):
        if frame.first_tid != expected_tid:
            raise damaged(path, f"A frame starts with tuple {frame.first_tid} where {expected_tid} is due.")
        frames.append(frame)
        expected_tid = Tid(expected_tid + frame.rows)
        position += _FRAME_HEAD_BYTES + len(frame.payload)
    if salt and _has_frame_after(data, position, salt):
        raise damaged(path, f"The frame at byte {position} is damaged, but frames after it are not.")
    return Replay(path, first_tid, frames)


def _read_header(path: Path, data: bytes) -> bytes | None:
    """The salt, or None if the log was torn while it was created."""
    if len(data) < _HEADER_BYTES:
        return None
    signed, crc = data[: _HEADER_BYTES - _CRC.size], data[_HEADER_BYTES - _CRC.size : _HEADER_BYTES]
    if not signed.startswith(_MAGIC) or crc != _CRC.pack(zlib.crc32(signed)):
        raise damaged(path, "Its header is not that of a log.")
    return signed[len(_MAGIC) :]


def _read_frame(data: bytes, position: int, salt: bytes) -> Frame | None:
    """The frame at `position`, or None if there is no whole and undamaged one."""
    head = data[position : position + _FRAME_HEAD_BYTES]
    if len(head) < _FRAME_HEAD_BYTES or not head.startswith(salt):
        return None
    fields = head[-_FIELDS.size :]
    payload_bytes, first_tid, rows, arrival_us = _FIELDS.unpack(fields)
    payload = data[position + _FRAME_HEAD_BYTES : position + _FRAME_HEAD_BYTES + payload_bytes]
    crc = _CRC.pack(zlib.crc32(payload, zlib.crc32(fields)))
    if len(payload) < payload_bytes or crc != head[_SALT_BYTES : _SALT_BYTES + _CRC.size]:
        return None
    return Frame(Tid(first_tid), rows, arrival_us, payload)


def _has_frame_after(data: bytes, position: int, salt: bytes) -> bool:
    found = data.find(salt, position + 1)
    while found >= 0:
        if _read_frame(data, found, salt):
            return True
        found = data.find(salt, found + 1)
    return False


def damaged(path: Path, detail: str) -> MillpondError:
    """What the user is told about a file that no crash can have left like this."""
    return MillpondError(
        SqlState.IO_ERROR,
        f'file "{path.name}" of a stream is damaged',
        detail=detail,
        hint="Restore the pond from a backup, or drop the stream.",
    )

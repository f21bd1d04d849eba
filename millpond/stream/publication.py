"""How staged files become segments: all of them or none, whatever fails and whenever the process is killed.

1. Stamp the arrival into each staged file, and sync it.
2. If there are several: write the intent, a list of the renames to come, and sync it. From here on a crash completes
   the publication, because opening the stream finds the intent and makes the renames that are missing.
3. Rename each staged file to its segment's name.
4. Sync the folder of segments.
5. Remove the intent, and sync that.

A step that fails is undone: segments first and the intent last, so that a crash in between leaves an intent some of
whose files are gone, which tells that it was being undone.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from millpond.stream.disk import Disk
from millpond.stream.layout import Layout
from millpond.stream.options import Tid
from millpond.stream.segment_file import StoredFile
from millpond.stream.staging import StagedFile


class InDoubtError(Exception):
    """A publication failed and could not be undone: whether its rows are there is known when the stream is reopened."""


@dataclass(frozen=True)
class Move:
    """A staged file and the segment that it becomes."""

    source: Path
    target: Path


def publish(
    disk: Disk, layout: Layout, staged: Sequence[StagedFile], first_tid: Tid, arrival_us: int
) -> list[StoredFile]:
    """Make segments of staged files, the first of which starts with `first_tid`."""
    segments = _segments(layout, staged, first_tid)
    moves = [Move(file.path, segment.path) for file, segment in zip(staged, segments, strict=True)]
    try:
        for file in staged:
            disk.stamp_segment(file.path, arrival_us)
        if disk.durable and len(moves) > 1:
            disk.write_file(layout.intent, _encode(moves))
        _complete(disk, layout, moves)
    except BaseException:
        _undo_or_doubt(disk, layout, moves)
        raise
    return segments


def finish_interrupted(disk: Disk, layout: Layout) -> None:
    """Complete, or finish undoing, the publication that the last process was killed in."""
    if not layout.intent.exists():
        return
    moves = _decode(layout)
    if all(move.source.exists() or move.target.exists() for move in moves):
        _complete(disk, layout, [move for move in moves if move.source.exists()])
    else:
        _undo(disk, layout, moves)


def _segments(layout: Layout, staged: Sequence[StagedFile], first_tid: Tid) -> list[StoredFile]:
    segments: list[StoredFile] = []
    for file in staged:
        segments.append(StoredFile(layout.segment(first_tid, file.rows), first_tid, file.rows, file.size_bytes))
        first_tid = segments[-1].end_tid
    return segments


def _complete(disk: Disk, layout: Layout, moves: Sequence[Move]) -> None:
    for move in moves:
        disk.rename(move.source, move.target)
    disk.sync_directory(layout.segments)
    _remove_intent(disk, layout)


def _undo(disk: Disk, layout: Layout, moves: Sequence[Move]) -> None:
    for move in moves:
        disk.remove(move.target)
        disk.remove(move.source)
    disk.sync_directory(layout.segments)
    _remove_intent(disk, layout)


def _undo_or_doubt(disk: Disk, layout: Layout, moves: Sequence[Move]) -> None:
    try:
        _undo(disk, layout, moves)
    except OSError as error:
        raise InDoubtError from error


def _remove_intent(disk: Disk, layout: Layout) -> None:
    if layout.intent.exists():
        disk.remove(layout.intent)
        disk.sync_directory(layout.root)


def _encode(moves: Sequence[Move]) -> bytes:
    return json.dumps([[move.source.name, move.target.name] for move in moves]).encode()


def _decode(layout: Layout) -> list[Move]:
    names = json.loads(layout.intent.read_bytes())
    return [Move(layout.staged / source, layout.segments / target) for source, target in names]

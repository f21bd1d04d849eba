"""How staged files become segments: all of them or none, whatever fails and whenever the process is killed.

1. Stamp the arrival into each staged file, and sync it.
2. If there are several, or they have an origin: write the intent, a list of the renames to come, and sync it. From here
   on a crash completes the publication, because opening the stream finds the intent and makes the renames that are
   missing.
3. Rename each staged file to its segment's name.
4. Sync the folder of segments.
5. Remove the intent, and sync that. One with an origin is renamed instead: it becomes the note of how far the writer
   is, so that the rows and the note last together or not at all.

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
from millpond.stream.origins import Origin
from millpond.stream.segment_file import StoredFile
from millpond.stream.staging import StagedFile


class InDoubtError(Exception):
    """A publication failed and could not be undone: whether its rows are there is known when the stream is reopened."""


@dataclass(frozen=True)
class Move:
    """A staged file and the segment that it becomes."""

    source: Path
    target: Path


@dataclass(frozen=True)
class Intent:
    """What a publication is about to do, and for whom if that matters."""

    moves: Sequence[Move]
    origin: Origin | None = None

    def encode(self) -> bytes:
        names = [[move.source.name, move.target.name] for move in self.moves]
        return json.dumps({"moves": names, "origin": self.origin and self.origin.dumps()}).encode()

    @classmethod
    def read(cls, path: Path, layout: Layout) -> Intent:
        stored = json.loads(path.read_bytes())
        if isinstance(stored, list):  # as it was before there were origins
            stored = {"moves": stored, "origin": None}
        moves = [Move(layout.staged / source, layout.segments / target) for source, target in stored["moves"]]
        return cls(moves, stored["origin"] and Origin.loads(stored["origin"]))


def publish(
    disk: Disk,
    layout: Layout,
    staged: Sequence[StagedFile],
    first_tid: Tid,
    arrival_us: int,
    origin: Origin | None = None,
) -> list[StoredFile]:
    """Make segments of staged files, the first of which starts with `first_tid`."""
    segments = _segments(layout, staged, first_tid)
    moves = [Move(file.path, segment.path) for file, segment in zip(staged, segments, strict=True)]
    intent = Intent(moves, origin)
    try:
        for file in staged:
            disk.stamp_segment(file.path, arrival_us)
        if disk.durable and (len(moves) > 1 or origin is not None):
            disk.write_file(layout.intent, intent.encode())
        _complete(disk, layout, intent)
    except BaseException:
        _undo_or_doubt(disk, layout, intent)
        raise
    return segments


def finish_interrupted(disk: Disk, layout: Layout) -> None:
    """Complete, or finish undoing, the publication that the last process was killed in."""
    if not layout.intent.exists():
        return
    intent = Intent.read(layout.intent, layout)
    if all(move.source.exists() or move.target.exists() for move in intent.moves):
        _complete(disk, layout, intent)
    else:
        _undo(disk, layout, intent.moves)


def read_origins(layout: Layout) -> list[Origin]:
    """How far the writers are that told."""
    found = (Intent.read(path, layout).origin for path in layout.origins())
    return [origin for origin in found if origin is not None]


def _segments(layout: Layout, staged: Sequence[StagedFile], first_tid: Tid) -> list[StoredFile]:
    segments: list[StoredFile] = []
    for file in staged:
        segments.append(StoredFile(layout.segment(first_tid, file.rows), first_tid, file.rows, file.size_bytes))
        first_tid = segments[-1].end_tid
    return segments


def _complete(disk: Disk, layout: Layout, intent: Intent) -> None:
    for move in intent.moves:
        if move.source.exists():
            disk.rename(move.source, move.target)
    disk.sync_directory(layout.segments)
    if intent.origin is not None and disk.durable:
        disk.rename(layout.intent, layout.origin(intent.origin.writer))
        disk.sync_directory(layout.root)
    else:
        _remove_intent(disk, layout)


def _undo(disk: Disk, layout: Layout, moves: Sequence[Move]) -> None:
    for move in moves:
        disk.remove(move.target)
        disk.remove(move.source)
    disk.sync_directory(layout.segments)
    _remove_intent(disk, layout)


def _undo_or_doubt(disk: Disk, layout: Layout, intent: Intent) -> None:
    try:
        if _is_noted(layout, intent):
            raise InDoubtError
        _undo(disk, layout, intent.moves)
    except OSError as error:
        raise InDoubtError from error


def _is_noted(layout: Layout, intent: Intent) -> bool:
    """Whether the writer's note tells of this publication already: then its rows have to stay."""
    if intent.origin is None:
        return False
    note = layout.origin(intent.origin.writer)
    return note.exists() and Intent.read(note, layout) == intent


def _remove_intent(disk: Disk, layout: Layout) -> None:
    if layout.intent.exists():
        disk.remove(layout.intent)
        disk.sync_directory(layout.root)

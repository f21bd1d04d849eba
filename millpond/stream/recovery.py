"""What a stream finds when it is opened: whatever the last process left behind becomes a ring without a gap again.

1. Complete or finish undoing an interrupted publication; remove what was only staged.
2. Remove what is below the mark, which says with which tid the ring starts: it was overwritten, but had a reader.
3. Remove segments, and logs, whose rows a larger segment has: they were merged, or written as a file.
4. Check that the rest follows each other from the mark on, and that each file has the rows that its name says.
5. Write what is only in logs as segments, and remove the logs.

A kill can tear the end of the newest log, which holds nothing acknowledged. Everything else that is missing is damage,
which is reported and never passed over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from millpond.stream import segment_file, wal
from millpond.stream.disk import Disk
from millpond.stream.layout import Layout, parse_log_name, parse_mark_name, parse_segment_name
from millpond.stream.options import Tid
from millpond.stream.origins import Origin
from millpond.stream.publication import finish_interrupted, read_origins
from millpond.stream.segment_file import StoredFile, stored_schema, with_arrival
from millpond.stream.staging import Staging


@dataclass(frozen=True)
class Recovered:
    """The segments of a stream, without a gap; `first_tid` is where they start. `origins` tell how far writers are."""

    first_tid: Tid
    segments: Sequence[StoredFile]
    last_arrival_us: int
    origins: Sequence[Origin] = field(default_factory=list)


def recover(disk: Disk, layout: Layout, schema: pa.Schema) -> Recovered:
    """Make the folders of a new stream, or make the files of an old one whole again."""
    for folder in (layout.segments, layout.staged, layout.wal):
        disk.make_directory(folder)
    finish_interrupted(disk, layout)
    _remove_unfinished(disk, layout)
    first_tid = _read_mark(disk, layout)
    segments = _uncovered(disk, _list_segments(layout), first_tid)
    logs = _uncovered_logs(disk, _list_logs(layout), segments, first_tid)
    _check_dense(first_tid, [*segments, *logs])
    segments += [_store_log(disk, layout, log, schema) for log in logs]
    for log in logs:
        disk.remove(log.path)
    segments.sort(key=lambda segment: segment.first_tid)
    arrival_us = segment_file.last_arrival_us(segments[-1].path) if segments else 0
    return Recovered(first_tid, segments, arrival_us, read_origins(layout))


def _remove_unfinished(disk: Disk, layout: Layout) -> None:
    for path in [*layout.staged.iterdir(), *layout.root.glob("*.tmp")]:
        disk.remove(path)


def _read_mark(disk: Disk, layout: Layout) -> Tid:
    """The tid with which the ring starts; of several marks the highest is the newest."""
    marks = sorted(tid for path in layout.root.iterdir() if (tid := parse_mark_name(path.name)) is not None)
    if not marks:
        disk.create_mark(layout.mark(0))
        disk.sync_directory(layout.root)
        return Tid(0)
    for tid in marks[:-1]:
        disk.remove(layout.mark(tid))
    return marks[-1]


def _list_segments(layout: Layout) -> list[StoredFile]:
    """All segment files by first tid, of those with the same the largest first."""
    files = [
        StoredFile(path, *parsed, path.stat().st_size)
        for path in layout.segments.iterdir()
        if (parsed := parse_segment_name(path.name))
    ]
    return sorted(files, key=lambda file: (file.first_tid, -file.rows))


def _list_logs(layout: Layout) -> list[wal.Replay]:
    firsts = sorted(tid for path in layout.wal.iterdir() if (tid := parse_log_name(path.name)) is not None)
    return [wal.replay(layout.log(first_tid), first_tid) for first_tid in firsts]


def _uncovered(disk: Disk, files: Sequence[StoredFile], first_tid: Tid) -> list[StoredFile]:
    """The files that are the ring's; the others are removed."""
    kept: list[StoredFile] = []
    end_tid = first_tid
    for file in files:
        if file.end_tid <= end_tid:
            disk.remove(file.path)
        else:
            kept.append(file)
            end_tid = file.end_tid
    return kept


def _uncovered_logs(
    disk: Disk, logs: Sequence[wal.Replay], segments: Sequence[StoredFile], first_tid: Tid
) -> list[wal.Replay]:
    """The logs with rows that no segment has; the others are removed."""
    kept: list[wal.Replay] = []
    for log in logs:
        covered = any(file.first_tid <= log.first_tid and log.end_tid <= file.end_tid for file in segments)
        if covered or log.end_tid <= first_tid or not log.frames:
            disk.remove(log.path)
        else:
            kept.append(log)
    return kept


def _check_dense(first_tid: Tid, holders: Sequence[StoredFile | wal.Replay]) -> None:
    """Report rows that are missing or there twice, and files that do not have the rows that their names say."""
    expected_tid = first_tid
    for holder in sorted(holders, key=lambda holder: (holder.first_tid, holder.end_tid)):
        if holder.first_tid != expected_tid:
            raise wal.damaged(
                holder.path,
                f"It starts with tuple {holder.first_tid}, but the one before ends with {expected_tid - 1}.",
            )
        if isinstance(holder, StoredFile):
            _check_rows(holder)
        expected_tid = holder.end_tid


def _check_rows(file: StoredFile) -> None:
    try:
        rows = segment_file.count_rows(file.path)
    except (pa.ArrowInvalid, OSError) as error:
        raise wal.damaged(file.path, f"It is not a whole Parquet file: {error}") from error
    if rows != file.rows:
        raise wal.damaged(file.path, f"It has {rows} rows.")


def _store_log(disk: Disk, layout: Layout, log: wal.Replay, schema: pa.Schema) -> StoredFile:
    """Write the rows of a log as a segment."""
    stored = stored_schema(schema)
    batches = [with_arrival(batch, frame.arrival_us, stored) for frame in log.frames for batch in frame.batches(schema)]
    table = pa.Table.from_batches(batches, stored).combine_chunks()
    if table.num_rows != log.end_tid - log.first_tid:
        raise wal.damaged(log.path, f"Its frames have {table.num_rows} rows.")
    staged = Staging(disk, layout).write(table)
    path = layout.segment(log.first_tid, staged.rows)
    disk.rename(staged.path, path)
    disk.sync_directory(layout.segments)
    return StoredFile(path, log.first_tid, staged.rows, staged.size_bytes)


def clear_scratch(disk: Disk, folders: Sequence[Path]) -> None:
    """Make empty folders for files that do not outlive the process."""
    for folder in folders:
        disk.remove_tree(folder)
        disk.make_directory(folder)

"""Publication of staged files, and what opening a stream makes of one that was interrupted."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from millpond.stream import segment_file
from millpond.stream.disk import Disk
from millpond.stream.layout import Layout
from millpond.stream.options import Tid
from millpond.stream.publication import InDoubtError, finish_interrupted, publish
from millpond.stream.staging import StagedFile, Staging
from tests.unit.stream.support import Crash, FaultyDisk, numbered

ARRIVAL_US = 1_700_000_000_000_000


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    layout = Layout(tmp_path, tmp_path)
    for folder in (layout.segments, layout.staged):
        folder.mkdir()
    return layout


def stage(layout: Layout, *sizes: int) -> list[StagedFile]:
    staging = Staging(Disk(durable=False), layout)
    return [staging.write(segment_file.with_placeholder(numbered(0, size))) for size in sizes]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_files_get_names_and_arrivals(layout: Layout) -> None:
    segments = publish(Disk(durable=True), layout, stage(layout, 3, 2), Tid(7), ARRIVAL_US)
    assert [(segment.path.name, segment.first_tid, segment.rows) for segment in segments] == [
        ("00000000000000000007-3.parquet", 7, 3),
        ("00000000000000000010-2.parquet", 10, 2),
    ]
    for segment in segments:
        table = segment_file.read(segment.path)
        assert table["arrival_timestamp"].cast(pa.int64()).to_pylist() == [ARRIVAL_US] * segment.rows
        assert segment.size_bytes == segment.path.stat().st_size
    assert not layout.intent.exists()
    assert names(layout.staged) == []


@pytest.mark.parametrize("sizes", [(3,), (3, 2, 4)])
def test_a_crash_at_any_step_leaves_all_or_nothing(layout: Layout, sizes: tuple[int, ...]) -> None:
    step = 0
    while True:
        step += 1
        disk = FaultyDisk(durable=True, fail_at=step, kind="crash")
        try:
            publish(disk, layout, stage(layout, *sizes), Tid(0), ARRIVAL_US)
        except Crash:
            finish_interrupted(FaultyDisk(durable=True), layout)
            assert len(names(layout.segments)) in (0, len(sizes))
            assert not layout.intent.exists()
            for folder in (layout.segments, layout.staged):
                for path in folder.iterdir():
                    path.unlink()
        else:
            break
    assert step > len(sizes) * 2


def test_an_intent_whose_files_are_gone_was_being_undone(layout: Layout) -> None:
    kept, _ = stage(layout, 3, 2)
    kept.path.rename(layout.segment(0, 3))
    intent = [["0.parquet", layout.segment(0, 3).name], ["gone.parquet", layout.segment(3, 2).name]]
    layout.intent.write_text(json.dumps(intent))
    finish_interrupted(Disk(durable=True), layout)
    assert names(layout.segments) == []
    assert not layout.intent.exists()


def test_a_failure_is_undone(layout: Layout) -> None:
    staged = stage(layout, 3, 2)
    disk = FaultyDisk(durable=True, fail_at=5)
    with pytest.raises(OSError):
        publish(disk, layout, staged, Tid(0), ARRIVAL_US)
    assert disk.steps[4] == "rename"
    assert names(layout.segments) == names(layout.staged) == []
    assert not layout.intent.exists()


def test_a_failure_that_cannot_be_undone_is_in_doubt(layout: Layout) -> None:
    with pytest.raises(InDoubtError):
        publish(FaultyDisk(durable=True, fail_at=5, kind="forever"), layout, stage(layout, 3, 2), Tid(0), ARRIVAL_US)

"""Parts on disk, and the state that names them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from millpond.state.parts import PartStore
from millpond.state.records import Part, StateRecord


@pytest.fixture
def parts(tmp_path: Path) -> PartStore:
    return PartStore(tmp_path / "state")


ROWS = pa.table({"k0": [1, 2], "p0": [10, 20]})


def test_a_part_comes_back(parts: PartStore) -> None:
    part = parts.write(ROWS)
    assert part.rows == 2
    (path,) = parts.paths([part])
    assert pq.read_table(path).equals(ROWS)


def test_spark_may_write_several_files(parts: PartStore) -> None:
    directory = parts.new_directory()
    directory.mkdir()
    for index in range(3):
        pq.write_table(ROWS, directory / f"part-{index}.parquet")
    (directory / "_SUCCESS").touch()
    part = parts.adopt(directory)
    assert part.rows == 6
    assert len(parts.paths([part])) == 3


def test_a_part_goes_when_nobody_reads_it(parts: PartStore) -> None:
    part = parts.write(ROWS)
    release = parts.pins.pin(part.name)
    parts.remove([part.name])
    assert parts.paths([part])
    release()
    assert parts.paths([part]) == []


def test_orphans_go_when_the_view_opens(parts: PartStore) -> None:
    kept, orphan = parts.write(ROWS), parts.write(ROWS)
    parts.remove_orphans({kept.name})
    assert (len(parts.paths([kept])), parts.paths([orphan])) == (1, [])


def test_the_directory_of_a_state_goes_with_its_last_reader(parts: PartStore) -> None:
    one, other = parts.write(ROWS), parts.write(ROWS)
    release = parts.pins.pin(one.name)
    parts.remove_all({one.name, other.name})
    assert parts.paths([one])
    release()
    assert not parts.directory.exists()


def test_a_state_advances_and_never_goes_back() -> None:
    state = StateRecord({7: 5, 8: 0}, (Part("x", 1, 1),), 3)
    after = state.advanced(7, 9, (Part("x", 1, 1), Part("y", 2, 2, 4)))
    assert (after.offsets, after.taken, after.columns_made) == ({7: 9, 8: 0}, {7: 4}, 3)
    assert after.names() == {"x", "y"}
    assert StateRecord.loads(after.dumps()) == after
    with pytest.raises(AssertionError):
        after.advanced(7, 8, ())

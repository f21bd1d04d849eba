"""Parts on disk: each a directory of Parquet files, named once and never changed."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from millpond.files import Pins, fsync_path
from millpond.state.records import Part


class PartStore:
    """The parts of one state; those that are not `durable` need not survive a crash."""

    def __init__(self, directory: Path, *, durable: bool = True) -> None:
        self.directory, self._durable = directory, durable
        directory.mkdir(parents=True, exist_ok=True)
        self.pins = Pins()

    def new_directory(self) -> Path:
        """Where Spark writes a part; it counts once the catalog names it."""
        return self.directory / uuid.uuid4().hex

    def adopt(self, directory: Path, *, buckets: int = 0) -> Part:
        """The part that Spark wrote, safe on disk."""
        files = self._files(directory)
        for path in (*files, directory, self.directory) if self._durable else ():
            fsync_path(path)
        rows = sum(pq.read_metadata(path).num_rows for path in files)
        return Part(directory.name, rows, sum(path.stat().st_size for path in files), buckets)

    def write(self, rows: pa.Table) -> Part:
        """A part from few rows at hand."""
        directory = self.new_directory()
        directory.mkdir()
        pq.write_table(rows, directory / "part.parquet", compression="snappy", store_decimal_as_integer=True)
        return self.adopt(directory)

    def copy(self, part: Part, other: PartStore) -> Part:
        """A part of another store as one of this."""
        directory = self.new_directory()
        shutil.copytree(other.directory / part.name, directory)
        return self.adopt(directory, buckets=part.buckets)

    def paths(self, parts: Iterable[Part]) -> list[Path]:
        return [path for part in parts for path in self._files(self.directory / part.name)]

    def remove(self, names: Iterable[str]) -> None:
        """Remove parts that no state names any more, once no reader uses them."""
        for name in names:
            path = self.directory / name
            self.pins.when_unused(name, partial(shutil.rmtree, path, ignore_errors=True))

    def remove_all(self, names: Iterable[str]) -> None:
        """Remove the parts of a state that is gone, and its directory with the last of them."""
        self.remove(names)
        for name in names:
            self.pins.when_unused(name, self._remove_directory)
        self._remove_directory()

    def _remove_directory(self) -> None:
        if self.directory.exists() and not any(self.directory.iterdir()):
            self.directory.rmdir()

    def remove_orphans(self, names: set[str]) -> None:
        """Remove what a crash left: parts that no committed state names."""
        for path in self.directory.iterdir():
            if path.name not in names:
                shutil.rmtree(path)

    @staticmethod
    def _files(directory: Path) -> list[Path]:
        return sorted(directory.glob("*.parquet"))

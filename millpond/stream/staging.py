"""Files that are being written: they have no tids and no readers yet, and opening a stream removes them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from millpond.stream.disk import Disk
from millpond.stream.layout import Layout


@dataclass(frozen=True)
class StagedFile:
    """A whole segment file that is not published yet."""

    path: Path
    rows: int
    size_bytes: int


class Staging:
    """Writes staged files, each under a name of its own."""

    def __init__(self, disk: Disk, layout: Layout) -> None:
        self._disk = disk
        self._directory = layout.staged
        self._numbers = itertools.count()

    def write(self, table: pa.Table) -> StagedFile:
        """Write rows with their column of arrivals; a failure leaves no file."""
        path = self._directory / f"{next(self._numbers)}.parquet"
        return StagedFile(path, table.num_rows, self._disk.write_segment(path, table))

    def discard(self, file: StagedFile) -> None:
        self._disk.remove_or_warn(file.path)

"""New tuples as a query reads them: the files of a chunk, or links to them in a folder that stays the same.

A query that differs from the last one only in what its folders hold need not be analysed again.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from millpond.stream import Chunk


@dataclass(frozen=True)
class NewTuples:
    """Files with the tuples of a chunk; `tids` is what to keep of them, None for everything."""

    rows: int
    paths: tuple[str, ...]
    tids: tuple[int, int] | None

    @classmethod
    def of(cls, chunk: Chunk) -> NewTuples:
        paths = tuple(str(file.path) for file in chunk.files)
        return cls(chunk.rows, paths, (chunk.first, chunk.end) if chunk.is_cut else None)


class LinkedChunks:
    """Folders with links to the files of the chunks that somebody reads at the moment, one reader at a time."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def linked(self, name: str, chunk: Chunk) -> NewTuples:
        """A chunk in the folder of that name, in place of the one before. A cut one, which is rare, stays where it is:
        a query with other tids is another query."""
        if chunk.is_cut:
            return NewTuples.of(chunk)
        folder = self._directory / name
        folder.mkdir(parents=True, exist_ok=True)
        for link in folder.iterdir():
            link.unlink()
        for file in chunk.files:
            (folder / file.path.name).symlink_to(file.path)
        return NewTuples(chunk.rows, (str(folder),), None)

    def remove(self) -> None:
        shutil.rmtree(self._directory, ignore_errors=True)

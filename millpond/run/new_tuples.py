"""New tuples as a query reads them: the files of a chunk, or a folder with links to them."""

from __future__ import annotations

from dataclasses import dataclass

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

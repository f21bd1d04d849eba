"""Chunks that several readers go through at the same time: each is held once, whoever comes second finds it there."""

from __future__ import annotations

import threading
from collections.abc import Callable

from millpond.stream.chunk import Chunk

Hold = Callable[[int | None, int | None], Chunk]


class SharedChunk:
    """A chunk with its readers; the last one to release it lets its files go."""

    def __init__(self, chunks: SharedChunks, chunk: Chunk) -> None:
        self._chunks = chunks
        self.chunk = chunk
        self.readers = 1
        self.is_shared = False

    def release(self) -> None:
        self._chunks.release(self)


class SharedChunks:
    """The chunks of one stream that ad hoc queries read at the moment, by their first tuple."""

    def __init__(self, hold: Hold) -> None:
        self._hold = hold
        self._held: dict[int, SharedChunk] = {}
        self._lock = threading.Lock()

    def take(self, first: int, end: int) -> SharedChunk:
        """Tuples from `first` on and at most to `end`, in the cut that another reader has made if there is one."""
        with self._lock:
            held = self._held.get(first)
            if held is not None and held.chunk.end <= end:
                held.readers += 1
                held.is_shared = True
                return held
            # Up to where somebody else is, so that from there on both read the same chunks.
            ahead = [start for start in self._held if first < start < end]
            made = SharedChunk(self, self._hold(first, min(ahead, default=end)))
            self._held.setdefault(first, made)
            return made

    def take_all(self) -> SharedChunk:
        """All tuples that the ring holds now; of none there is nothing to share."""
        chunk = self._hold(None, None)
        made = SharedChunk(self, chunk)
        if not chunk.rows:
            return made
        with self._lock:
            held = self._held.setdefault(int(chunk.first), made)
            if held is made or held.chunk.end != chunk.end:
                return made
            held.readers += 1
            held.is_shared = True
        chunk.release()
        return held

    def release(self, shared: SharedChunk) -> None:
        with self._lock:
            shared.readers -= 1
            if shared.readers:
                return
            if self._held.get(shared.chunk.first) is shared:
                del self._held[shared.chunk.first]
        shared.chunk.release()

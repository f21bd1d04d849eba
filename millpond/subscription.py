"""A subscription in Python: an iterator and an async iterator of changes, also by version as Arrow tables."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, Self

import pyarrow as pa

from millpond.result import ResultColumn
from millpond.run.subscriber import Subscriber

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Change:
    """One change. `row` has the values of the row that was there first, came, changed or went; `old` those before an
    update. Marks of progress, and of versions that were skipped, have no row."""

    version: int
    change: Literal["snapshot", "insert", "update", "delete", "progress", "skipped"]
    row: Row | None = None
    old: Row | None = None


class Subscription:
    """Changes of a view or a query, without end. Use it from one thread; `close` may be called from any.

    What follows a `progress` or a row of another version is a new version: up to there, all of the last one came.
    """

    def __init__(self, subscriber: Subscriber, columns: tuple[ResultColumn, ...]) -> None:
        self._subscriber, self._described = subscriber, columns
        self._waiting: deque[Change] = deque()

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the values in a row."""
        return tuple(column.name for column in self._described[2:])

    @property
    def version(self) -> int:
        """The version that was given last, 0 before the first: what to go on after, once it was read to its end."""
        return self._subscriber.seen_number

    @property
    def skipped(self) -> int:
        """How many versions were folded into later ones, because they came faster than they were read."""
        return self._subscriber.skipped

    def fetch(self, timeout_s: float | None = None) -> list[Change]:
        """The changes of the next version, and what of the last one was not read; none if nothing comes in time."""
        if not self._waiting:
            piece = self._subscriber.next(timeout_s)
            return [] if piece is None else _changes(piece)
        changes = list(self._waiting)
        self._waiting.clear()
        return changes

    def tables(self) -> Iterator[pa.Table]:
        """The changes as Arrow tables, one version each, as SQL shows them: an update is two rows."""
        names = [column.name for column in self._described]
        while (piece := self._subscriber.next(None)) is not None:
            yield piece.rename_columns(names)

    def __iter__(self) -> Iterator[Change]:
        return self

    def __next__(self) -> Change:
        while not self._waiting:
            self._waiting.extend(self.fetch())
        return self._waiting.popleft()

    def __aiter__(self) -> AsyncIterator[Change]:
        return self

    async def __anext__(self) -> Change:
        while not self._waiting:
            piece = await self._next_piece()
            self._waiting.extend(_changes(piece))
        return self._waiting.popleft()

    async def _next_piece(self) -> pa.Table:
        """The next piece, without a thread that waits for it."""
        loop, told = asyncio.get_running_loop(), asyncio.Event()

        def tell() -> None:
            with suppress(RuntimeError):  # the loop has ended, and with it whoever waited
                loop.call_soon_threadsafe(told.set)

        stop = self._subscriber.feed.news.listen(tell)
        try:
            # Nothing is awaited between taking a piece and giving it: one who is canceled has not lost any.
            while (piece := self._subscriber.take()) is None:
                with suppress(TimeoutError):
                    await asyncio.wait_for(told.wait(), self._subscriber.patience_s())
                told.clear()
        finally:
            stop()
        return piece

    def close(self) -> None:
        """End it; whoever waits for a change gets an error."""
        self._subscriber.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _changes(piece: pa.Table) -> list[Change]:
    """The rows of a piece, the two of an update as one."""
    versions, kinds, *columns = (list[Any](column.to_pylist()) for column in piece.columns)
    rows: list[Row] = list(zip(*columns, strict=True)) if columns else [()] * len(kinds)
    found: list[Change] = []
    for place, (version, kind) in enumerate(zip(versions, kinds, strict=True)):
        if kind == "update_new":
            found.append(Change(version, "update", rows[place], rows[place - 1]))
        elif kind in ("progress", "skipped"):
            found.append(Change(version, kind))
        elif kind != "update_old":
            found.append(Change(version, kind, rows[place]))
    return found

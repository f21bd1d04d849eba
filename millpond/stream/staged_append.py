"""A bulk append: rows come in any number of writes, spill to staged files, and become visible in one step or never."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Literal

import pyarrow as pa

from millpond.errors import MillpondError, SqlState
from millpond.stream.core import StreamCore
from millpond.stream.disk import write_failure
from millpond.stream.options import TidRange
from millpond.stream.origins import Origin
from millpond.stream.segment_file import with_placeholder
from millpond.stream.staging import StagedFile


class StagedAppend:
    """Rows of one writer on their way into a stream; used by one thread at a time.

    As a context manager it discards what was not published.
    """

    def __init__(
        self,
        core: StreamCore,
        append_small: Callable[[pa.Table, int], TidRange],
        publish_files: Callable[[Sequence[StagedFile], Origin | None], TidRange],
    ) -> None:
        self._core = core
        self._limits = core.limits
        self._append_small = append_small
        self._publish_files = publish_files
        # A drop of the stream waits for this as for any reader: nothing may be written into a folder that is going.
        self._hold = core.pins.hold()
        self._hold.pin(core.layout.root)
        self._files: list[StagedFile] = []
        self._buffer: list[pa.Table] = []
        self._buffered_rows = 0
        self._buffered_bytes = 0
        self._state: Literal["open", "published", "discarded"] = "open"

    def write(self, rows: pa.Table | pa.RecordBatch) -> None:
        """Take rows, which have the stream's schema; a failure discards everything."""
        self._check_open()
        self._core.check_schema(rows.schema)
        try:
            for part in self._parts(pa.Table.from_arrays(rows.columns, schema=self._core.schema)):
                self._take(part)
        except OSError as error:
            self.discard()
            raise write_failure(self._core.name, error) from error

    def take_over(self, later: StagedAppend) -> None:
        """Add the rows of a later append to the same stream, which is over then."""
        self._check_open()
        try:
            if later._files and self._buffered_rows:
                self._spill()
            self._files += later._files
            later._files.clear()
            for part in later._buffer:
                self._take(part)
        except OSError as error:
            self.discard()
            raise write_failure(self._core.name, error) from error
        finally:
            later.discard()

    def wait_for_room(self) -> None:
        """Wait until readers that must not be overrun leave room, so that publishing need not."""
        self._core.followers.wait_for_room(self._core.is_full_from, self._core.check_open)

    def publish(self, origin: Origin | None = None) -> TidRange:
        """Make all rows visible at once, under consecutive tids; a failure discards everything.

        With an origin, `StreamRelation.origin` tells from then on, also after a crash, that they are there.
        """
        self._check_open()
        try:
            tids = self._publish(origin)
        except OSError as error:
            raise write_failure(self._core.name, error) from error
        finally:
            self.discard()
        self._state = "published"
        return tids

    def discard(self) -> None:
        """Forget the rows and remove their files, unless they are published."""
        for file in self._files:
            self._core.staging.discard(file)
        self._files.clear()
        self._clear_buffer()
        self._hold.release()
        if self._state == "open":
            self._state = "discarded"

    def _publish(self, origin: Origin | None) -> TidRange:
        """By way of the open segment if they are few; its log has no place for an origin."""
        few = not self._files and self._limits.is_small(self._buffered_rows, self._buffered_bytes)
        if few and origin is None:
            return self._append_small(self._buffered(), self._buffered_bytes)
        if self._buffered_rows:
            self._spill()
        return self._publish_files(self._files, origin)

    def _parts(self, rows: pa.Table) -> Iterator[pa.Table]:
        """The rows in slices that fit into a segment."""
        rows_by_bytes = rows.num_rows * self._limits.bytes_max // max(1, rows.nbytes)
        part_rows = max(1, min(self._limits.rows_max, rows_by_bytes))
        for start in range(0, rows.num_rows, part_rows):
            yield rows.slice(start, part_rows)

    def _take(self, part: pa.Table) -> None:
        size_bytes = part.nbytes
        if self._buffer and not self._limits.fits(
            self._buffered_rows + part.num_rows, self._buffered_bytes + size_bytes
        ):
            self._spill()
        self._buffer.append(part)
        self._buffered_rows += part.num_rows
        self._buffered_bytes += size_bytes

    def _spill(self) -> None:
        self._files.append(self._core.staging.write(with_placeholder(self._buffered())))
        self._clear_buffer()

    def _buffered(self) -> pa.Table:
        return pa.concat_tables(self._buffer) if self._buffer else self._core.schema.empty_table()

    def _clear_buffer(self) -> None:
        self._buffer.clear()
        self._buffered_rows = self._buffered_bytes = 0

    def _check_open(self) -> None:
        self._core.check_open()
        if self._state != "open":
            raise MillpondError(
                SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                f'the staged append to stream "{self._core.name}" is already {self._state}',
            )

    def __enter__(self) -> StagedAppend:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.discard()

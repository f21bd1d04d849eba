"""A statement being run for a client: its rows go out as they are computed, all at once or some at a time."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa

from millpond.errors import MillpondError, SqlState
from millpond.result import Result, ResultColumn, command_tag
from millpond.server.client import Client
from millpond.server.copy_files import CopyInput, CopyOutput
from millpond.server.rows import encode_rows
from millpond.server.types import BINARY_FORMAT, TEXT_FORMAT, field_of
from millpond.sql.session_records import Fetch
from millpond.sql.statements import Copy, Query, Statement
from millpond.statements.read_only import check_may_run
from millpond.statements.request import Request
from millpond.view_reads import AwaitedAnswer
from millpond.wire.backend import (
    CommandComplete,
    CopyInResponse,
    CopyOutResponse,
    NoData,
    PortalSuspended,
    RowDescription,
)
from millpond.wire.fields import violation
from millpond.wire.frontend import CopyDone


class Portal:
    """One statement with its values; `offset` is where it stands in the text that the client sent.

    A query starts when it is first described or executed, so that it is bound once; any other statement when it is
    executed.
    """

    def __init__(self, client: Client, statement: Statement, formats: Sequence[int] = (), offset: int = 0) -> None:
        self._client, self._statement, self._formats, self._offset = client, statement, formats, offset
        self._result: Result | None = None
        self._columns: tuple[ResultColumn, ...] = ()
        self._pieces: Iterator[pa.Table] = iter(())
        self._piece = pa.table({})
        self._rows_sent = 0
        self._spilled: Path | None = None
        self._finished = False
        self._is_ready = False
        self.awaited: AwaitedAnswer | None = None

    def take_ready(self) -> bool:
        """Take the result if it is there, its rows encoded, so that nothing that follows has to wait. If it is the
        answer of a view that is not there yet, it is `awaited` from now on."""
        if self._result is None:
            try:
                self._take_ready()
            except MillpondError:
                self.awaited = None  # whoever runs the portal meets the error again, and tells the client
        return self._is_ready

    def describe(self) -> None:
        """Send the columns."""
        self._client.check_transaction(self._statement)
        with self._client.session.statement(self._offset):
            if isinstance(self._statement, Query):
                self._start(alone=True)
                columns: tuple[ResultColumn, ...] | None = self._columns
            else:
                columns = self._client.session.describe(self._statement).columns
            self._send_columns(columns)

    def execute(self, rows_max: int = 0, *, alone: bool, described: bool = True) -> None:
        """Run the statement, or run it on, and send rows; `alone` as for `Session.run`."""
        self._client.check_transaction(self._statement)
        if self._finished and not self._columns:
            raise MillpondError(SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, "the portal cannot be run again")
        self._rows_sent = 0
        with self._client.session.statement(self._offset):
            if isinstance(self._statement, Copy) and self._statement.copy.file is None:
                self._copy(self._statement, alone=alone)
                return
            self._start(alone=alone)
            if not described and self._columns:
                self._formats = [self._own_format()] * len(self._columns)
                self._send_columns(self._columns)
            if self._columns:
                self._send_rows(rows_max)
            else:
                self._finished = True

    def complete(self) -> None:
        """Say how it ended; after the commit, which may fail, if one belongs to it."""
        assert self._result is not None
        if not self._finished:
            self._client.outbox.add(PortalSuspended())
            return
        self._client.notify(self._result.notices)
        self._result.notices.clear()
        self._client.outbox.add(CommandComplete(self._tag(self._result)))

    def close(self) -> None:
        """Let go of rows that nobody will fetch."""
        self._pieces, self._piece, self._finished = iter(()), pa.table({}), True
        if self._result is not None:
            self._result.close()
        if self._spilled is not None:
            shutil.rmtree(self._spilled, ignore_errors=True)

    # -- running -------------------------------------------------------------------------------------------------

    def _take_ready(self) -> None:
        found = self._client.session.ready(self._statement, self.awaited)
        self.awaited = found if isinstance(found, AwaitedAnswer) else None
        if isinstance(found, Result) and found.table is not None:
            formats = _formats(self._formats, len(found.columns))
            self._is_ready = self._client.answers.encode(found.table, found.columns, formats) is not None
            self._begin(found)

    def _start(self, *, alone: bool) -> None:
        if self._result is not None:
            return
        request = Request(lazy=True, remote=True, deallocate=self._client.deallocate, spill=self._client.spill)
        self._begin(self._client.session.run(self._statement, request, alone=alone))

    def _begin(self, result: Result) -> None:
        self._result, self._columns = result, result.columns
        self._formats = _formats(self._formats, len(self._columns))
        if result.table is not None:
            self._pieces = iter([result.table])
            return
        self._spilled = self._client.spill_directory()
        memory_bytes_max = self._client.settings.integer("result_memory_bytes")
        self._pieces = result.pieces(self._spilled, memory_bytes_max=memory_bytes_max)

    def _own_format(self) -> int:
        """The format of rows for which the client could not name one."""
        if isinstance(self._statement, Fetch) and self._client.session.state.cursors.is_binary(self._statement.cursor):
            return BINARY_FORMAT
        return TEXT_FORMAT

    def _send_columns(self, columns: tuple[ResultColumn, ...] | None) -> None:
        if columns is None:
            self._client.outbox.add(NoData())
            return
        formats = _formats(self._formats, len(columns))
        fields = tuple(field_of(column, format) for column, format in zip(columns, formats, strict=True))
        self._client.outbox.add(RowDescription(fields))

    def _send_rows(self, rows_max: int) -> None:
        """Send at most so many rows, all if 0. Rows that were fetched and not asked for wait."""
        left = rows_max
        while not self._finished:
            if not self._piece.num_rows:
                self._next_piece()
                continue
            count = min(left, self._piece.num_rows) if rows_max > 0 else self._piece.num_rows
            for data in self._encoded(count):
                self._client.session.check_canceled()
                self._client.outbox.add_encoded(data)
            self._piece = self._piece.slice(count)
            self._rows_sent += count
            left -= count
            if rows_max > 0 and not left:
                return

    def skip(self, count: int | None) -> int:
        """Go forward over so many rows, or all, without sending them."""
        self._start(alone=True)
        skipped = 0
        while not self._finished and (count is None or skipped < count):
            if not self._piece.num_rows:
                self._next_piece()
                continue
            step = self._piece.num_rows if count is None else min(count - skipped, self._piece.num_rows)
            self._piece = self._piece.slice(step)
            skipped += step
        return skipped

    def _encoded(self, count: int) -> Iterable[bytes]:
        """The next rows as messages; all rows of a view's answer may be encoded already."""
        assert self._result is not None
        if self._result.shared and self._piece is self._result.table and count == self._piece.num_rows:
            data = self._client.answers.encode(self._piece, self._columns, self._formats)
            if data is not None:
                return [data]
        return encode_rows(self._piece.slice(0, count), self._columns, self._formats)

    def _next_piece(self) -> None:
        assert self._result is not None
        if self._rows_sent and self._result.table is None:
            self._client.outbox.flush()  # the next may be long in coming
        piece = next(self._pieces, None)
        if piece is None:
            self.close()
        else:
            self._piece = piece

    def _tag(self, result: Result) -> str:
        if result.rows_changed is not None or not self._columns:
            return result.tag
        return command_tag(result.verb, self._rows_sent)

    # -- COPY ----------------------------------------------------------------------------------------------------

    def _copy(self, statement: Copy, *, alone: bool) -> None:
        check_may_run(self._client.settings, statement)  # before the client is asked for its rows
        columns = self._client.session.describe(statement).copied
        format = BINARY_FORMAT if statement.copy.options.format in ("binary", "parquet") else TEXT_FORMAT
        if statement.copy.direction == "to":
            self._client.outbox.add(CopyOutResponse(format, columns))
            output = cast(BinaryIO, CopyOutput(self._client))
            self._run_copy(statement, Request(stdout=output, remote=True), alone=alone)
            self._client.outbox.add(CopyDone())
            return
        self._client.outbox.add(CopyInResponse(format, columns))
        self._client.outbox.flush()
        source = CopyInput(self._client)
        if statement.copy.options.format == "parquet":
            self._copy_seekable(statement, source, alone=alone)
        else:
            self._run_copy(statement, Request(stdin=cast(BinaryIO, source), remote=True), alone=alone)
            source.skip_rest()

    def _copy_seekable(self, statement: Copy, source: CopyInput, *, alone: bool) -> None:
        """Parquet is read from its end: all of it comes first, into a file."""
        with tempfile.TemporaryFile(dir=self._client.spill) as file:
            shutil.copyfileobj(source, file)
            file.seek(0)
            self._run_copy(statement, Request(stdin=cast(BinaryIO, file), remote=True), alone=alone)

    def _run_copy(self, statement: Copy, request: Request, *, alone: bool) -> None:
        self._result = self._client.session.run(statement, request, alone=alone)
        self._finished = True


def _formats(given: Sequence[int], count: int) -> Sequence[int]:
    """A format for each column: none given means text, one is for all."""
    if any(format not in (TEXT_FORMAT, BINARY_FORMAT) for format in given):
        raise MillpondError(SqlState.INVALID_PARAMETER_VALUE, f"unsupported format code: {max(given, key=abs)}")
    if len(given) <= 1:
        return [given[0] if given else TEXT_FORMAT] * count
    if len(given) != count:
        raise violation(f"bind message has {len(given)} result formats but query has {count} columns")
    return given

"""DECLARE, FETCH, MOVE and CLOSE."""

from __future__ import annotations

import uuid

from millpond.cursors import Cursor
from millpond.errors import MillpondError, SqlState, not_supported
from millpond.live_cursor import LiveCursor
from millpond.result import Result
from millpond.row_buffer import RowBuffer
from millpond.sql.session_records import CloseCursor, DeclareCursor, Fetch
from millpond.sql.subscribe import Subscribe
from millpond.statements.execution import Execution
from millpond.statements.subscribe import open_subscription

FETCHED_AT_ONCE_MAX = 10_000
"""Rows that are taken from a cursor before the first is sent. More are sent as they are read, however many."""


def declare(execution: Execution, statement: DeclareCursor) -> Result:
    if execution.autocommit and not statement.hold:
        message = "DECLARE CURSOR can only be used in transaction blocks"
        raise MillpondError(SqlState.NO_ACTIVE_SQL_TRANSACTION, message)
    execution.state.cursors.check_free(statement.name)
    if isinstance(statement.query, Subscribe):
        execution.state.cursors.add(_live(execution, statement, statement.query))
        return Result("DECLARE CURSOR")
    result = execution.query(statement.query)
    directory = (execution.request.spill or execution.services.scratch) / f"cursor-{uuid.uuid4().hex}"
    memory_bytes_max = execution.settings.integer("result_memory_bytes")
    pieces = result.pieces(directory / "result", memory_bytes_max=memory_bytes_max)
    rows = RowBuffer(pieces, directory / "kept", memory_bytes_max)
    cursor = Cursor(statement, result, rows, directory, execution.transaction.now, is_held=execution.autocommit)
    execution.state.cursors.add(cursor)
    return Result("DECLARE CURSOR")


def fetch(execution: Execution, statement: Fetch) -> Result:
    """FETCH, and MOVE, which only counts the rows."""
    portal = execution.state.cursors.portals.get(statement.cursor)
    if portal is not None and statement.is_move and statement.direction == "forward":
        return Result("MOVE", rows_changed=portal.skip(statement.count))
    cursor = execution.state.cursors.get(statement.cursor)
    if isinstance(cursor, LiveCursor):
        pieces = cursor.fetch(statement, _patience(execution, statement))
    else:
        pieces = cursor.fetch(statement)
    if statement.is_move:
        return Result("MOVE", rows_changed=sum(piece.num_rows for piece in pieces))
    result = Result("FETCH", cursor.columns, _rest=pieces, _to_dataframe=execution.services.runner.from_arrow)
    if isinstance(cursor, LiveCursor) or (statement.count is not None and statement.count <= FETCHED_AT_ONCE_MAX):
        result.materialise()
    return result


def _live(execution: Execution, statement: DeclareCursor, query: Subscribe) -> LiveCursor:
    if statement.scroll:
        raise not_supported("a cursor with SCROLL over a subscription")
    subscriber, columns = open_subscription(execution, query)
    return LiveCursor(statement, columns, subscriber, execution.transaction.now, is_held=execution.autocommit)


def _patience(execution: Execution, statement: Fetch) -> float | None:
    """How long a FETCH from a subscription waits for a row, in seconds; None for ever."""
    if statement.timeout_ms is not None:
        return statement.timeout_ms / 1000
    return execution.settings.integer("fetch_timeout") / 1000 or None


def close(execution: Execution, statement: CloseCursor) -> Result:
    if statement.name is None:
        execution.state.cursors.close_all()
        return Result("CLOSE CURSOR ALL")
    execution.state.cursors.close(statement.name)
    return Result("CLOSE CURSOR")

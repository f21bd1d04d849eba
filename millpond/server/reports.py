"""Errors and notices as the fields that clients show: the one place that turns them into messages."""

from __future__ import annotations

import logging
import traceback
from pathlib import Path

from millpond.errors import InternalError, MillpondError
from millpond.result import Notice
from millpond.wire.backend import ErrorResponse, NoticeResponse

_log = logging.getLogger("millpond.server")

_NOTICE_SQLSTATES = {"WARNING": "01000", "NOTICE": "00000"}
_CONCERNS = {"s": "schema", "t": "table", "c": "column", "d": "datatype", "n": "constraint"}
"""The letters of the fields for the objects that an error is about."""

_LEVELS = ("debug", "log", "notice", "warning", "error")


def as_sql_error(error: Exception) -> MillpondError:
    """The error that a client is told. What we did not expect is ours: the log has all of it."""
    if isinstance(error, MillpondError):
        return error
    _log.error("a statement failed unexpectedly", exc_info=error)
    return InternalError(f"unexpected {type(error).__name__}: {error}")


def error_response(error: MillpondError, *, fatal: bool = False) -> ErrorResponse:
    """All fields of an error; a fatal one ends the connection."""
    severity = "FATAL" if fatal else "ERROR"
    fields = {"S": severity, "V": severity, "C": str(error.sqlstate), "M": error.message}
    if error.detail:
        fields["D"] = error.detail
    if error.hint:
        fields["H"] = error.hint
    if error.position is not None:
        fields["P"] = str(error.position)
    named = {letter: getattr(error.concerns, name) for letter, name in _CONCERNS.items()}
    fields |= {letter: name for letter, name in named.items() if name is not None}
    return ErrorResponse(fields | _origin(error))


def _origin(error: MillpondError) -> dict[str, str]:
    """Where in our source the error was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return {}
    last = frames[-1]
    return {"F": Path(last.filename).name, "L": str(last.lineno), "R": last.name}


def notice_response(notice: Notice) -> NoticeResponse:
    sqlstate = notice.sqlstate or _NOTICE_SQLSTATES[notice.severity]
    return NoticeResponse({"S": notice.severity, "V": notice.severity, "C": sqlstate, "M": notice.message})


def is_wanted(notice: Notice, client_min_messages: str) -> bool:
    """Whether a client wants to hear of it."""
    return _LEVELS.index(notice.severity.lower()) >= _LEVELS.index(client_min_messages.rstrip("12345"))

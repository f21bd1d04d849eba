"""The backend that is an embedded pond."""

from __future__ import annotations

from typing import BinaryIO

import millpond
from millpond.errors import InternalError, MillpondError
from millpond.shell.backend import Answer, AnswerColumn, Kind, Notice, Progress, StatementError
from millpond.types import SqlType


class PondBackend:
    """A pond of this process, in a directory or, without a path, a temporary one."""

    def __init__(self, path: str | None, master: str) -> None:
        self._path = path
        try:
            self._pond = millpond.connect(path, master=master)
        except MillpondError as error:
            raise _statement_error(error) from error

    @property
    def prompt(self) -> str:
        return "pond"

    @property
    def description(self) -> str:
        where = f'the pond "{self._path}"' if self._path else "a temporary pond, which ends with this shell"
        return f"You are connected to {where}."

    def execute(
        self,
        sql: str,
        *,
        stdin: BinaryIO | None = None,
        stdout: BinaryIO | None = None,
        progress: Progress | None = None,
    ) -> Answer:
        try:
            result = self._pond.execute(sql, progress=progress, stdin=stdin, stdout=stdout)
            rows = result.text_rows() if result.columns else []
        except MillpondError as error:
            raise _statement_error(error) from error
        except Exception as error:  # a defect of ours must not end the user's shell
            raise _statement_error(InternalError(f"{type(error).__name__}: {error}")) from error
        columns = tuple(AnswerColumn(column.name, _kind(column.type)) for column in result.columns)
        notices = tuple(Notice(notice.severity, notice.message) for notice in result.notices)
        return Answer(result.tag, columns, rows, notices)

    def interrupt(self) -> None:
        self._pond.interrupt()

    def close(self) -> None:
        self._pond.close()


def _kind(type_: SqlType) -> Kind:
    if type_.is_number:
        return "number"
    return "boolean" if type_.name == "boolean" else "other"


def _statement_error(error: MillpondError) -> StatementError:
    return StatementError(
        error.message, sqlstate=error.sqlstate, detail=error.detail, hint=error.hint, position=error.position
    )

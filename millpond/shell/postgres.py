"""The backend that is a server which speaks PostgreSQL's protocol: a pond's server, or PostgreSQL itself."""

from __future__ import annotations

import re
from typing import BinaryIO

import psycopg

from millpond.shell.backend import Answer, AnswerColumn, Kind, Notice, Progress, StatementError

_COPY_BYTES = 1 << 16
_NUMBERS = frozenset({"int2", "int4", "int8", "float4", "float8", "numeric", "oid", "money"})


class PostgresBackend:
    """A connection by URL; every statement commits by itself unless the user says BEGIN."""

    def __init__(self, url: str) -> None:
        self._notices: list[Notice] = []
        try:
            self._connection = psycopg.connect(url, autocommit=True)
        except psycopg.Error as error:
            raise _statement_error(error) from error
        self._connection.add_notice_handler(self._keep_notice)

    @property
    def prompt(self) -> str:
        return self._connection.info.dbname

    @property
    def description(self) -> str:
        info = self._connection.info
        return (
            f'You are connected to database "{info.dbname}" as user "{info.user}" on "{info.host}" at port {info.port}.'
        )

    def execute(
        self,
        sql: str,
        *,
        stdin: BinaryIO | None = None,
        stdout: BinaryIO | None = None,
        progress: Progress | None = None,
    ) -> Answer:
        self._notices.clear()
        try:
            with self._connection.cursor() as cursor:
                if stdin or stdout:
                    return self._copy(cursor, sql, stdin, stdout, progress)
                # Bytes, not text: psycopg takes a text it has not seen as a literal for a slip.
                cursor.execute(sql.encode())
                return self._answer(cursor)
        except psycopg.Error as error:
            raise _statement_error(error) from error

    def interrupt(self) -> None:
        self._connection.cancel_safe()

    def close(self) -> None:
        self._connection.close()

    def _copy(
        self,
        cursor: psycopg.Cursor[tuple[object, ...]],
        sql: str,
        stdin: BinaryIO | None,
        stdout: BinaryIO | None,
        progress: Progress | None,
    ) -> Answer:
        rows = bytes_copied = 0
        with cursor.copy(sql.encode()) as copy:
            blocks = iter(lambda: stdin.read(_COPY_BYTES), b"") if stdin else copy
            for block in blocks:
                if stdin:
                    copy.write(block)
                elif stdout:
                    stdout.write(block)
                rows += bytes(block).count(b"\n")
                bytes_copied += len(block)
                if progress:
                    progress(rows, bytes_copied)
        return Answer(f"COPY {cursor.rowcount}", notices=tuple(self._notices))

    def _answer(self, cursor: psycopg.Cursor[tuple[object, ...]]) -> Answer:
        result = cursor.pgresult
        if result is None or cursor.description is None:
            return Answer(cursor.statusmessage or "", notices=tuple(self._notices))
        columns = tuple(AnswerColumn(column.name, self._kind(column.type_code)) for column in cursor.description)
        rows = [[_text(result.get_value(row, i)) for i in range(result.nfields)] for row in range(result.ntuples)]
        return Answer(cursor.statusmessage or "", columns, rows, tuple(self._notices))

    def _kind(self, oid: int) -> Kind:
        known = self._connection.adapters.types.get(oid)
        name = known.name if known else ""
        if name in _NUMBERS:
            return "number"
        return "boolean" if name == "bool" else "other"

    def _keep_notice(self, diagnostic: psycopg.errors.Diagnostic) -> None:
        severity, message = diagnostic.severity or "NOTICE", diagnostic.message_primary or ""
        self._notices.append(Notice(severity, message, diagnostic.message_detail, diagnostic.message_hint))


def _text(value: bytes | None) -> str | None:
    return None if value is None else bytes(value).decode()


def _statement_error(error: psycopg.Error) -> StatementError:
    diagnostic = error.diag
    position = diagnostic.statement_position
    return StatementError(
        diagnostic.message_primary or _first_line(error),
        sqlstate=diagnostic.sqlstate or "08000",
        detail=diagnostic.message_detail,
        hint=diagnostic.message_hint,
        position=int(position) if position else None,
    )


def _first_line(error: psycopg.Error) -> str:
    """The client's own words, such as those on a refused connection, which come without fields."""
    return re.sub(r"\s+", " ", str(error)).strip()

"""What the shell needs of a database, whichever it is: run a statement, cancel it, name the relations.

Values cross as PostgreSQL's text form, so that printing is the same for every backend.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import BinaryIO, Literal, Protocol

Kind = Literal["number", "boolean", "other"]
Progress = Callable[[int, int], None]
"""Called now and then while rows are copied, with the rows and the bytes so far."""


@dataclass(frozen=True)
class AnswerColumn:
    """A column of an answer; its kind decides on alignment and on JSON's form."""

    name: str
    kind: Kind = "other"


@dataclass(frozen=True)
class Notice:
    """Something the database says beside the answer."""

    severity: str
    message: str
    detail: str | None = None
    hint: str | None = None


@dataclass(frozen=True)
class Answer:
    """What a statement gave: rows if it has columns, and a tag such as `INSERT 0 1`."""

    tag: str
    columns: tuple[AnswerColumn, ...] = ()
    rows: list[list[str | None]] = field(default_factory=list)
    notices: tuple[Notice, ...] = ()


class StatementError(Exception):
    """A statement failed; the fields are those of PostgreSQL's error reports."""

    def __init__(
        self,
        message: str,
        *,
        sqlstate: str = "XX000",
        detail: str | None = None,
        hint: str | None = None,
        position: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.sqlstate = sqlstate
        self.detail = detail
        self.hint = hint
        self.position = position


class Backend(Protocol):
    """A connection to a database."""

    @property
    def prompt(self) -> str:
        """The database's short name, for the prompt."""

    @property
    def description(self) -> str:
        """What one is connected to, as a sentence."""

    def execute(
        self,
        sql: str,
        *,
        stdin: BinaryIO | None = None,
        stdout: BinaryIO | None = None,
        progress: Progress | None = None,
    ) -> Answer:
        """Run one statement; `stdin` and `stdout` are what COPY's STDIN and STDOUT stand for."""

    def interrupt(self) -> None:
        """Cancel what `execute` does now, from another thread."""

    def close(self) -> None: ...

"""How a client wants a statement run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from millpond.errors import MillpondError, SqlState

Progress = Callable[[int, int], None]
"""Called now and then during long work with rows and bytes done so far."""


def no_prepared_statement(name: str | None) -> None:
    """Forget a prepared statement, or (None) all of them, where there are none."""
    if name is not None:
        raise MillpondError(SqlState.INVALID_SQL_STATEMENT_NAME, f'prepared statement "{name}" does not exist')


@dataclass(frozen=True)
class Request:
    """How a client wants a statement run: where COPY reads and writes, who is told how far long work is, whether the
    rows of a query may wait until they are read, and where those of a cursor wait that memory does not hold. A remote
    client's COPY may not name any file it likes."""

    stdin: BinaryIO | None = None
    stdout: BinaryIO | None = None
    progress: Progress | None = None
    lazy: bool = False
    remote: bool = False
    deallocate: Callable[[str | None], None] = no_prepared_statement
    spill: Path | None = None

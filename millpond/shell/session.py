"""The shell itself: takes the pieces of its input one by one, runs them, prints what comes back.

A statement runs in a thread of its own, so that Ctrl-C cancels the statement and not the shell.
"""

from __future__ import annotations

import io
import re
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, TextIO

from millpond.shell import commands
from millpond.shell.backend import Answer, Backend, StatementError
from millpond.shell.failure import render_error, render_notice
from millpond.shell.progress import progress_bar
from millpond.shell.split import Piece, Pieces, leading_code
from millpond.shell.table import Format, render

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_WAIT_S = 0.5
_COPY_FROM_STDIN = re.compile(r"copy\b.*\bfrom\s+stdin\b", re.IGNORECASE | re.DOTALL)
_COPY_TO_STDOUT = re.compile(r"copy\b.*\bto\s+stdout\b", re.IGNORECASE | re.DOTALL)


@dataclass
class Settings:
    r"""How answers are shown; `\x` and `\timing` change it."""

    format: Format = "aligned"
    expanded: bool = False
    timing: bool = False


class Shell:
    """One session with a backend; `interactive` goes on after a mistake, a script ends at its first."""

    def __init__(
        self,
        backend: Backend,
        out: TextIO,
        err: TextIO,
        *,
        out_bytes: BinaryIO | None = None,
        settings: Settings | None = None,
        interactive: bool = False,
    ) -> None:
        self.backend = backend
        self.settings = settings or Settings()
        self.last_statement = ""
        self.failed = False
        self.on_definition: Callable[[], None] | None = None
        self._out = out
        self._err = err
        self._out_bytes = out_bytes
        self._interactive = interactive
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="statement")

    def run(self, pieces: Pieces, *, source: str = "", copy_source: Callable[[], BinaryIO] | None = None) -> None:
        r"""Run all pieces; `failed` tells afterwards whether one did not go well.

        `source` is the name of the script, for messages. COPY's STDIN is `copy_source` or else the lines after the
        statement, up to `\.`.
        """
        copy_source = copy_source or (lambda: io.BufferedReader(_Lines(pieces.copy_data())))
        for piece in pieces:
            try:
                self._run_piece(piece, copy_source)
            except StatementError as error:
                self.failed = True
                self.say(_place(source, piece) + render_error(error, piece.sql))
            except KeyboardInterrupt:
                # Between statements, as while COPY's data is typed.
                if not self._interactive:
                    raise
                self.say("")
            if self.failed and not self._interactive:
                return

    def execute(self, sql: str, *, stdin: BinaryIO | None = None, stdout: BinaryIO | None = None) -> Answer:
        """Run one statement to its end; Ctrl-C meanwhile cancels it, which makes it end with an error."""
        with progress_bar(self._err) as progress, _on_ctrl_c(self._cancel):
            run = self.backend.execute
            answer = _result(self._worker.submit(run, sql, stdin=stdin, stdout=stdout, progress=progress))
        for notice in answer.notices:
            self.say(render_notice(notice))
        if self.on_definition and answer.tag.startswith(("CREATE", "DROP", "ALTER")):
            self.on_definition()
        return answer

    def show(self, answer: Answer, *, title: str | None = None) -> None:
        """Print rows, and the tag of what is not a query."""
        if answer.columns:
            self.print(render(answer, self.settings.format, expanded=self.settings.expanded, title=title))
        # Tags are for people: they would spoil CSV and JSON.
        is_query = answer.columns and answer.tag.startswith(("SELECT", "EXPLAIN", "SHOW"))
        if answer.tag and not is_query and self.settings.format == "aligned":
            self.print(answer.tag + "\n")

    def print(self, text: str) -> None:
        """Write to the output, as it is."""
        self._out.write(text)
        self._out.flush()

    def say(self, message: str) -> None:
        """Write a line beside the output."""
        print(message, file=self._err, flush=True)

    def run_statement(self, sql: str, copy_source: Callable[[], BinaryIO] | None = None) -> None:
        """Run a statement and print its answer, and how long it took if that is wanted."""
        self.last_statement = sql
        started = time.perf_counter()
        code = leading_code(sql)
        if copy_source and _COPY_FROM_STDIN.match(code):
            self.show(self._copy_in(sql, copy_source()))
        elif self._out_bytes and _COPY_TO_STDOUT.match(code):
            self.execute(sql, stdout=self._out_bytes)
            self._out_bytes.flush()
        else:
            self.show(self.execute(sql))
        if self.settings.timing:
            self.print(_duration(time.perf_counter() - started) + "\n")

    def close(self) -> None:
        self._worker.shutdown()

    def _run_piece(self, piece: Piece, copy_source: Callable[[], BinaryIO]) -> None:
        if piece.command:
            commands.run(self, piece)
        else:
            self.run_statement(piece.sql, copy_source)

    def _copy_in(self, sql: str, source: BinaryIO) -> Answer:
        try:
            return self.execute(sql, stdin=source)
        finally:
            # What a failed COPY has not read is data still, not statements.
            while source.read(1 << 16):
                pass

    def _cancel(self) -> None:
        self.say("Cancel request sent")
        self.backend.interrupt()


class _Lines(io.RawIOBase):
    """Lines as a file to read from."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self._lines = lines
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        self._rest = self._rest or next(self._lines, b"")
        target = memoryview(buffer).cast("B")
        count = min(len(target), len(self._rest))
        target[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


def _result(future: Future[Answer]) -> Answer:
    """What a future gives. A Ctrl-C that comes just before a wait begins does not end it, so none is long."""
    while not future.done():
        wait([future], timeout=_WAIT_S)
    return future.result()


@contextmanager
def _on_ctrl_c(action: Callable[[], None]) -> Iterator[None]:
    """Do something else than raise KeyboardInterrupt, which could hit any line and leave the statement running."""
    before = signal.signal(signal.SIGINT, lambda _signal, _frame: action())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _place(source: str, piece: Piece) -> str:
    return f"{source}:{piece.line_number}: " if source else ""


def _duration(seconds: float) -> str:
    """How long a statement took, as psql says it.

    >>> _duration(0.0123), _duration(83.5)
    ('Time: 12.300 ms', 'Time: 83500.000 ms (01:23.500)')
    """
    milliseconds = f"Time: {seconds * 1000:.3f} ms"
    return f"{milliseconds} ({int(seconds // 60):02d}:{seconds % 60:06.3f})" if seconds >= 1 else milliseconds

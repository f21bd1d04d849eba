"""A progress bar beside the output while COPY moves rows, where somebody is there to see it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.progress import Progress as Bar
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

from millpond.shell.backend import Progress

_DELAY_SECONDS = 0.5
"""What takes less time flickers instead of telling anything."""


@contextmanager
def progress_bar(err: TextIO) -> Iterator[Progress | None]:
    """A callback that shows rows and rate on `err`; None where that is not a terminal."""
    if not err.isatty():
        yield None
        return
    text = TextColumn("{task.fields[rows]:,} rows, {task.fields[rate]:,.0f} rows/s, {task.fields[megabytes]:,.1f} MB")
    bar = Bar(SpinnerColumn(), text, TimeElapsedColumn(), console=Console(file=err), transient=True)
    task = bar.add_task("copy", rows=0, rate=0.0, megabytes=0.0)
    started = time.monotonic()

    def advance(rows: int, bytes_copied: int) -> None:
        seconds = time.monotonic() - started
        if seconds > _DELAY_SECONDS:
            bar.start()
            bar.update(task, rows=rows, rate=rows / seconds, megabytes=bytes_copied / 1e6)

    try:
        yield advance
    finally:
        bar.stop()

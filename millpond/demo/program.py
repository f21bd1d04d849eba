"""`millpond demo`: opens a pond, lets the plant work for a while, shows it, and ends with a summary."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.live import Live

import millpond
from millpond.demo import screen
from millpond.demo.feed import Seen, Worker, ask, define, feed
from millpond.demo.plant import Plant
from millpond.errors import MillpondError
from millpond.shell.backend import StatementError
from millpond.shell.failure import render_error

FRAME_SECONDS = 0.25
LINE_SECONDS = 5.0
CAPACITY_ROWS_MIN = 1_000_000


def run(*, directory: str | None, master: str, seconds: float, rate: int, svg_path: str | None) -> int:
    """Run the demo and return the exit code; Ctrl-C ends it early and well."""
    console = Console()
    console.print(f"starting a pond in {directory or 'a temporary directory'} ...")
    try:
        with millpond.connect(directory, master=master) as pond:
            _run(pond, console, directory, seconds, rate, svg_path)
    except MillpondError as error:
        print(render_error(StatementError(error.message, detail=error.detail, hint=error.hint)), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        console.print("stopped before it began")
    return 0


def _run(
    pond: millpond.Pond, console: Console, directory: str | None, seconds: float, rate: int, svg_path: str | None
) -> None:
    plant, seen, stop = Plant(rate), Seen(), threading.Event()
    # The question about stock needs every row of the run, so the rings are made to hold them all.
    define(pond, plant, capacity_rows=max(CAPACITY_ROWS_MIN, int(rate * seconds)))
    workers = [
        Worker("feed", stop, partial(feed, pond, plant, seen, stop)),
        Worker("ask", stop, partial(ask, pond, seen, stop)),
    ]
    rates, started = screen.Rates(), time.monotonic()
    with suppress(KeyboardInterrupt):
        for worker in workers:
            worker.start()
        _show(console, seen, rates, stop, seconds)
    elapsed = time.monotonic() - started
    _end(pond, workers, stop)
    if svg_path:
        screen.write_svg(screen.last_picture(seen, rates, elapsed), Path(svg_path))
    print(screen.summary(seen, elapsed, directory))


def _show(console: Console, seen: Seen, rates: screen.Rates, stop: threading.Event, seconds: float) -> None:
    """Show what is seen, until the time is over or a worker failed."""
    started = time.monotonic()

    def watch(period_seconds: float, draw: Callable[[float], None]) -> None:
        drawn_at = -period_seconds
        while (elapsed := time.monotonic() - started) < seconds and not stop.wait(FRAME_SECONDS):
            rates.note(elapsed, sum(seen.rows_in.values()))
            if elapsed - drawn_at >= period_seconds:
                drawn_at = elapsed
                draw(elapsed)

    if console.is_terminal:
        with Live(console=console, auto_refresh=False) as live:
            watch(
                FRAME_SECONDS,
                lambda elapsed: live.update(screen.picture(seen, rates, elapsed, seconds), refresh=True),
            )
            live.update(screen.last_picture(seen, rates, seconds), refresh=True)
    else:
        watch(LINE_SECONDS, lambda elapsed: print(screen.line(seen, rates, elapsed), flush=True))


def _end(pond: millpond.Pond, workers: list[Worker], stop: threading.Event) -> None:
    stop.set()
    pond.interrupt()
    for worker in workers:
        if worker.ident is not None:  # Ctrl-C can come before it was started
            worker.join()
    for worker in workers:
        if worker.failure:
            raise worker.failure

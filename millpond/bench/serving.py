"""A server in a process of its own, as clients find it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_READY = "millpond ready: "


@dataclass(frozen=True)
class Server:
    """Where a server is, and its process."""

    url: str
    pid: int


@contextmanager
def served(directory: Path) -> Iterator[Server]:
    """A server for the pond in a directory, until the block ends."""
    command = [sys.executable, "-m", "millpond.cli", "serve", "--pond", str(directory), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline().strip()
            if not line.startswith(_READY):
                raise RuntimeError(f"the server did not start, it said {line!r}")
            yield Server(line.removeprefix(_READY).replace("//", "//bench@", 1), process.pid)
        finally:
            process.terminate()


@contextmanager
def serving(directory: Path) -> Iterator[str]:
    """The URL of a server for the pond in a directory, until the block ends."""
    with served(directory) as server:
        yield server.url

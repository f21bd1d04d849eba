"""`millpond serve` as a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

READY = re.compile(r"millpond ready: (postgresql://127\.0\.0\.1:[0-9]+/pond)\n")
ROOT = Path(__file__).parents[2]


class Program:
    """A running `millpond serve`; `log` is the file that gets what it says of errors, `settings` are its pond's."""

    def __init__(self, *arguments: str, log: Path | None = None, **settings: object) -> None:
        command = [sys.executable, "-m", "millpond.cli", "serve", "--port", "0", "--master", "local[2]", *arguments]
        given = {f"MILLPOND_{name.upper()}": str(value) for name, value in settings.items()}
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "MILLPOND_SPARK_DRIVER_MEMORY": "1g", **given}
        stderr = subprocess.PIPE if log is None else os.open(log, os.O_WRONLY | os.O_CREAT)
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True, env=environment)
        if log is not None:
            os.close(stderr)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = READY.fullmatch(line)
        assert found is not None, line
        self.url = found[1]

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or 0

    @property
    def memory_bytes(self) -> int:
        """What the server itself holds in memory, without Spark's JVM."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) << 10

    def stop(self) -> float:
        """Ask it to end; gives back how long that took."""
        started = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(timeout=30) == 0
        return time.monotonic() - started


@contextmanager
def running(*arguments: str, log: Path | None = None, **settings: object) -> Iterator[Program]:
    """A server as long as the block runs."""
    opened = Program(*arguments, log=log, **settings)
    try:
        yield opened
    finally:
        if opened.process.poll() is None:
            opened.process.kill()
        opened.process.communicate()

"""psql: a script from the first table to the last query as its user sees it, and a query canceled by Ctrl-C."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.clients.conftest import Served

pytestmark = pytest.mark.skipif(shutil.which("psql") is None, reason="psql is not installed")

TRANSCRIPT = Path(__file__).parent / "psql_transcript.txt"
PROMPT = "pond> "
"""Begins the lines of the transcript that go to psql; all others come from it."""

ENVIRONMENT = {**os.environ, "LC_ALL": "C.UTF-8", "PGTZ": "", "PSQL_PAGER": "cat"}


def start(server: Served, directory: Path) -> subprocess.Popen[str]:
    """psql with both outputs in one place, so that errors stand where they happened."""
    return subprocess.Popen(
        ["psql", "-X", "--no-password", server.url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=directory,
        env={name: value for name, value in ENVIRONMENT.items() if value},
    )


def test_transcript(server: Served, tmp_path: Path) -> None:
    """What psql prints for each command is what stands behind it in the transcript."""
    rows = [f"{number},{'Wheel' if number % 3 else 'Seat'},{number % 2 + 1}\n" for number in range(1, 31)]
    (tmp_path / "usage.csv").write_text("".join(rows))
    expected = TRANSCRIPT.read_text()
    commands = [line.removeprefix(PROMPT) for line in expected.splitlines() if line.startswith(PROMPT)]
    script = "".join(f"\\echo {PROMPT}:command{number}\n{command}\n" for number, command in enumerate(commands))
    with start(server, tmp_path) as psql:
        printed, _ = psql.communicate(script, timeout=120)
    for number, command in enumerate(commands):
        printed = printed.replace(f"{PROMPT}:command{number}\n", f"{PROMPT}{command}\n", 1)
    printed = re.sub(r"PID \d+", "PID n", printed)
    if os.environ.get("MILLPOND_TRANSCRIPT_COMPLETE"):
        TRANSCRIPT.write_text(printed)
    assert printed == expected
    assert psql.returncode == 0


def test_interrupt(shared_server: Served, tmp_path: Path) -> None:
    with start(shared_server, tmp_path) as psql:
        assert psql.stdin is not None
        assert psql.stdout is not None
        psql.stdin.write("\\echo ready\nSELECT pg_sleep(60);\n")
        psql.stdin.flush()
        assert psql.stdout.readline() == "ready\n"
        started = time.monotonic()
        time.sleep(0.5)
        psql.send_signal(signal.SIGINT)
        printed, _ = psql.communicate(timeout=30)
    assert time.monotonic() - started < 5
    assert "ERROR:  canceling statement due to user request" in printed

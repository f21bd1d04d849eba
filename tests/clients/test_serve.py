"""`millpond serve` as a program: its one line, psql's transcript, and how it ends."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.program import ROOT, Program, running

needs_psql = pytest.mark.skipif(shutil.which("psql") is None, reason="psql is not on this machine")


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    with running("--pond", str(tmp_path / "pond")) as opened:
        yield opened


def psql(url: str, script: str) -> str:
    """What psql prints, errors among the rest."""
    command = ["psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", url]
    done = subprocess.run(
        command, input=script, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False
    )
    return done.stdout


SCRIPT = r"""
CREATE TABLE station (id int, plant text);
CREATE STREAM usage (part text, station int);
CREATE VIEW running AS SELECT station, count(*) AS parts FROM usage GROUP BY station;
\copy station from stdin csv
1,Sparta
2,"Re,gensburg"
\.
INSERT INTO usage VALUES ('Wheel', 1), ('Wheel', 2), ('Seat', 1);
SELECT plant, parts FROM running JOIN station ON station.id = running.station ORDER BY 1;
\copy (SELECT * FROM station ORDER BY id) to stdout csv
BEGIN;
DELETE FROM station;
SELECT nothing;
SELECT 1;
ROLLBACK;
SELECT count(*) FROM station;
\set VERBOSITY verbose
SELECT * FROM statoin;
"""

TRANSCRIPT = """\
Re,gensburg|1
Sparta|2
1,Sparta
2,"Re,gensburg"
ERROR:  column "nothing" does not exist
LINE 1: SELECT nothing;
               ^
ERROR:  current transaction is aborted, commands ignored until end of transaction block
2
ERROR:  42P01: relation "statoin" does not exist
LINE 1: SELECT * FROM statoin;
                      ^
HINT:  Perhaps you meant "station".
LOCATION:  ...
"""


ENDLESS = "SELECT count(*) FROM generate_series(1, 3000000) a, generate_series(1, 3000000) b"


def cancel_with_psql(url: str) -> float:
    """Press Ctrl-C in psql; gives back how long it took to come back."""
    running = subprocess.Popen(["psql", url, "-c", ENDLESS], stderr=subprocess.PIPE, text=True)
    time.sleep(3)
    started = time.monotonic()
    running.send_signal(signal.SIGINT)
    printed = running.communicate(timeout=30)[1]
    assert printed == "Cancel request sent\nERROR:  canceling statement due to user request\n"
    return time.monotonic() - started


@needs_psql
def test_psql_and_a_good_end(program: Program, tmp_path: Path) -> None:
    assert re.sub(r"(?<=^LOCATION:  ).*", "...", psql(program.url, SCRIPT), flags=re.MULTILINE) == TRANSCRIPT
    second = subprocess.run(
        [sys.executable, "-m", "millpond.cli", "serve", "--port", "0", "--pond", str(tmp_path / "pond")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert (second.returncode, second.stdout) == (1, "")
    assert "is already open" in second.stderr
    assert cancel_with_psql(program.url) < 2
    waiting = subprocess.Popen(["psql", program.url, "-c", ENDLESS], stderr=subprocess.PIPE, text=True)
    time.sleep(2)
    assert program.stop() < 10
    assert "canceling statement because the server stops" in waiting.communicate(timeout=10)[1]

"""Runs a peer as a script in a process of its own, which has no Millpond, and watches what it takes.

The script reads its job as JSON from standard input. On standard output it writes a line `started` and a line
`finished`, between which the time counts, or such a pair with its name for each query that it runs by itself; and a
line `answers` with the rows of each query as JSON.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

from millpond.bench.peers.peer import PeerMissingError, PeerRun
from millpond.bench.stopwatch import Spent, Stopwatch

_Rows = dict[str, list[list[object]]]


def run_script(name: str, python: Path, script: Path, job: Mapping[str, object], log: Path) -> PeerRun:
    """Run a script to its end; what it says on standard error goes to the log."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with (
        log.open("w") as errors,
        subprocess.Popen(
            [python, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        assert process.stdin is not None
        process.stdin.write(json.dumps(job))
        process.stdin.close()
        spent, answers = _watched(process)
    if not spent or process.returncode:
        raise PeerMissingError(f"{name} failed: {log.read_text().strip()[-500:]}")
    rows = {query: [tuple(row) for row in given] for query, given in answers.items()}
    return PeerRun(Spent.total(spent.values()), rows, spent)


def _watched(process: subprocess.Popen[str]) -> tuple[dict[str, Spent], _Rows]:
    """What each query took, between the lines with which the script announces its beginning and its end; the only one
    of a script that runs all of them together has no name."""
    watch = Stopwatch(process.pid)
    spent: dict[str, Spent] = {}
    answers: _Rows = {}
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("answers "):
            answers = json.loads(line.removeprefix("answers "))
        elif line.startswith("started"):
            watch = Stopwatch(process.pid)
        elif line.startswith("finished"):
            spent[line.removeprefix("finished").strip()] = watch.spent()
    return spent, answers

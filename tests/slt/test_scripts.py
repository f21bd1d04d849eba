"""Runs every `*.slt` script beside this file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import millpond
from millpond import Pond
from tests.slt.script import Runner, completed, read

SCRIPTS = sorted(Path(__file__).parent.glob("*.slt"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_script(script: Path, shared_spark: None, tmp_path: Path) -> None:
    def reopen() -> Pond:
        return millpond.connect(tmp_path / "pond", master="local[2]")

    text = script.read_text()
    runner, outputs = Runner(reopen), {}
    try:
        for record in read(text):
            rows = runner.run(record)
            if rows is None:
                continue
            outputs[record.line] = rows
            if "MILLPOND_SLT_COMPLETE" not in os.environ:
                assert rows == record.expected, f"{script.name} line {record.line}: {record.sql}"
    finally:
        runner.close()
    if "MILLPOND_SLT_COMPLETE" in os.environ:
        script.write_text(completed(text, outputs))

"""The README's Python and SQL, run as a reader would."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import millpond
from millpond.shell.split import split

README = Path(__file__).parents[2] / "README.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_tour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    for python in blocks("python"):
        exec(compile(python, str(README), "exec"), {})
    assert re.search(r"Spartanburg *\| *Seat *\| *2", capsys.readouterr().out)

    with millpond.connect("plant") as pond:
        for piece in split("\n".join(blocks("sql"))):
            pond.execute(piece.sql)
        assert pond.execute("SELECT * FROM usage_by_worker ORDER BY worker").fetchall() == [
            (2, 1),
            (4, 1),
            (6, 1),
            (22, 1),
        ]

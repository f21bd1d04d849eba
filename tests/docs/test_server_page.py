"""docs/SERVER.md names the options and the limits that there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from millpond.cli import main
from millpond.config import SETTINGS

PAGE = (Path(__file__).parents[2] / "docs" / "SERVER.md").read_text(encoding="utf-8")


def test_every_option_is_documented(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["serve", "--help"])
    options = set(re.findall(r"--[a-z][a-z-]+", capsys.readouterr().out)) - {"--help"}
    assert options == set(re.findall(r"--[a-z][a-z-]+", PAGE))


def test_the_limits_are_settings() -> None:
    named = set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))
    assert len(named) > 5
    assert named <= set(SETTINGS)

"""Fixtures of the view tests: how views are kept up, and a pond that is opened again and again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import millpond
from millpond import Pond
from millpond.run import views
from tests.views.support import OpenPond


@pytest.fixture
def always_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that finds new tuples has a tick take them, however few they are."""
    monkeypatch.setattr(views, "READ_ALONG_ROWS_MAX", 0)


@pytest.fixture
def open_pond(shared_spark: None, tmp_path: Path) -> Iterator[OpenPond]:
    """Opens the pond of the test; the one that was open before is closed."""
    opened: list[Pond] = []

    def open_again(**settings: object) -> Pond:
        for pond in opened:
            pond.close()
        opened.append(millpond.Pond(tmp_path / "pond", master="local[2]", catalog=None, settings=settings))
        return opened[-1]

    yield open_again
    for pond in opened:
        pond.close()

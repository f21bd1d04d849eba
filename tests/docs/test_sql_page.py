"""Runs every example of docs/SQL.md, from top to bottom on one pond."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from millpond import MillpondError, Pond
from millpond.config import SETTINGS
from millpond.sql.split import split

PAGE = Path(__file__).parents[2] / "docs" / "SQL.md"


@dataclass(frozen=True)
class Example:
    sql: str
    sqlstate: str | None


def examples(text: str, directory: Path) -> list[Example]:
    """The statements of all SQL blocks, with the error each is said to give; files go to a directory of the test's."""
    found: list[Example] = []
    for block in re.findall(r"```sql\n(.*?)```", text, re.DOTALL):
        ends = 0
        for source in split(block):
            error = re.search(r"-- error: (\w{5})", block[ends : source.offset] + source.text)
            found.append(Example(source.text.replace("/tmp/", f"{directory}/"), error[1] if error else None))
            ends = source.offset + len(source.text)
    return found


def test_every_example_does_what_the_page_says(pond: Pond, tmp_path: Path) -> None:
    statements = examples(PAGE.read_text(), tmp_path)
    assert len(statements) > 60
    for example in statements:
        if example.sqlstate is None:
            result = pond.execute(example.sql)
            assert result.tag
        else:
            with pytest.raises(MillpondError) as caught:
                pond.execute(example.sql)
            assert caught.value.sqlstate == example.sqlstate, example.sql


def test_the_tolls_of_a_cycle_are_those_on_the_page(pond: Pond) -> None:
    blocks = re.findall(r"```sql\n(.*?)```", PAGE.read_text(), re.DOTALL)
    block = next(one for one in blocks if "CYCLE(entry" in one)
    for source in split(block.partition("DROP")[0]):
        pond.execute(source.text)
    minute = datetime(2026, 1, 31, 5, 40, tzinfo=UTC)
    expected = [(13, minute, Decimal("5.00")), (14, minute, Decimal("1.00"))]
    deadline = time.monotonic() + 60
    while (found := [tuple(row) for row in pond.execute("SELECT * FROM charged ORDER BY segment")]) != expected:
        assert time.monotonic() < deadline, found
        time.sleep(0.05)
    assert [tuple(row) for row in pond.execute("SELECT cycle, rows_in, rows_out FROM millpond_cycles")] == [(1, 3, 2)]


def test_the_page_names_the_settings_it_uses() -> None:
    words = r"^(?:SET(?: LOCAL)?|SHOW|RESET) (?!LOCAL|SESSION)(\w+)"
    used = {name.lower() for name in re.findall(words, PAGE.read_text(), re.MULTILINE)}
    assert used
    assert used <= set(SETTINGS)

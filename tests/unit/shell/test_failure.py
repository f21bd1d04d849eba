"""Errors look as psql prints them."""

from __future__ import annotations

from millpond.shell.backend import Notice, StatementError
from millpond.shell.failure import render_error, render_notice


def test_all_fields() -> None:
    error = StatementError("it failed", detail="Because.", hint="Do it.", position=16)
    assert render_error(error, "SELECT a,\n  x, b") == (
        "ERROR:  it failed\n"
        "LINE 2:   x, b\n"
        "             ^\n"
        "DETAIL:  Because.\n"
        "HINT:  Do it."
    )  # fmt: skip


def test_a_long_line_is_shortened_around_its_mistake() -> None:
    sql = "SELECT " + "a" * 100 + ", wrong, " + "b" * 100
    report = render_error(StatementError("no such column", position=sql.index("wrong") + 1), sql)
    _, line, caret = report.splitlines()
    assert line.startswith("LINE 1: ...aaa")
    assert line.endswith("bbb...")
    assert line[caret.index("^") :].startswith("wrong")
    assert len(line) < 80


def test_wide_characters_move_the_caret() -> None:
    _, line, caret = render_error(StatementError("no", position=9), "SELECT 車x").splitlines()
    assert (line, caret) == ("LINE 1: SELECT 車x", " " * 17 + "^")


def test_at_the_end_of_the_input() -> None:
    assert render_error(StatementError("end", position=7), "SELECT").splitlines()[2] == " " * 14 + "^"


def test_a_position_outside_the_text_points_nowhere() -> None:
    assert render_error(StatementError("no", position=99), "SELECT 1") == "ERROR:  no"


def test_notice() -> None:
    assert render_notice(Notice("WARNING", "mind", hint="this")) == "WARNING:  mind\nHINT:  this"

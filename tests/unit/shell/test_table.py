"""Answers as text: psql's two forms, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json

from hypothesis import given
from hypothesis import strategies as st

from millpond.shell.backend import Answer, AnswerColumn
from millpond.shell.table import render, render_aligned, render_csv, render_expanded, render_json

COLUMNS = (AnswerColumn("id", "number"), AnswerColumn("plant"), AnswerColumn("open", "boolean"))
ANSWER = Answer("SELECT 2", COLUMNS, [["1", "Spartanburg", "t"], ["12", None, "f"]])


def test_aligned() -> None:
    assert render_aligned(ANSWER) == (
        " id |    plant    | open \n"
        "----+-------------+------\n"
        "  1 | Spartanburg | t\n"
        " 12 |             | f\n"
        "(2 rows)\n"
        "\n"
    )


def test_aligned_with_title_and_no_rows() -> None:
    text = render(Answer("SELECT 0", (AnswerColumn("a_long_name"),)), title="Empty")
    assert text == "    Empty\n a_long_name \n-------------\n(0 rows)\n\n"


def test_a_value_of_several_lines_is_marked() -> None:
    answer = Answer("SELECT 1", (AnswerColumn("a"), AnswerColumn("b")), [["one\nmore", "x"]])
    assert render_aligned(answer).splitlines()[2:4] == [" one +| x", " more |"]
    assert render_expanded(answer).splitlines()[1:3] == ["a | one +", "  | more"]


def test_wide_characters_take_two_columns() -> None:
    lines = render_aligned(Answer("SELECT 1", (AnswerColumn("a"), AnswerColumn("b")), [["車", "x"]])).splitlines()
    assert lines[1:3] == ["----+---", " 車 | x"]


def test_expanded() -> None:
    assert render(ANSWER, expanded=True) == (
        "-[ RECORD 1 ]------\n"
        "id    | 1\n"
        "plant | Spartanburg\n"
        "open  | t\n"
        "-[ RECORD 2 ]------\n"
        "id    | 12\n"
        "plant |\n"
        "open  | f\n"
        "\n"
    )
    assert render_expanded(Answer("SELECT 0", COLUMNS)) == "(0 rows)\n\n"


def test_csv_tells_null_from_empty() -> None:
    answer = Answer("SELECT 1", (AnswerColumn("a"), AnswerColumn("b"), AnswerColumn("c")), [[None, "", 'say "hi"']])
    assert render_csv(answer) == 'a,b,c\n,"","say ""hi"""\n'


@given(st.lists(st.lists(st.text(), min_size=2, max_size=2)))
def test_csv_reads_back(rows: list[list[str]]) -> None:
    answer = Answer("SELECT", (AnswerColumn("a"), AnswerColumn("b")), [list(row) for row in rows])
    assert list(csv.reader(io.StringIO(render_csv(answer), newline="")))[1:] == rows


def test_json_has_numbers_as_they_are() -> None:
    columns = (
        AnswerColumn("n", "number"),
        AnswerColumn("n", "number"),
        AnswerColumn("b", "boolean"),
        AnswerColumn("t"),
    )
    answer = Answer("SELECT 2", columns, [["12345678901234567890.10", "NaN", "t", "ü"], [None, "-1", "f", None]])
    assert render_json(answer) == (
        '{"n": 12345678901234567890.10, "n_2": "NaN", "b": true, "t": "ü"}\n'
        '{"n": null, "n_2": -1, "b": false, "t": null}\n'
    )


@given(st.lists(st.one_of(st.none(), st.text()), min_size=1))
def test_json_reads_back(values: list[str | None]) -> None:
    answer = Answer("SELECT", (AnswerColumn("a"),), [[value] for value in values])
    assert [json.loads(line)["a"] for line in render_json(answer).split("\n")[:-1]] == values

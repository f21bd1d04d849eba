"""Statements end at `;`, but not at one within a quote or a comment."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millpond.shell.split import Piece, Pieces, is_complete, leading_code, piece_end, split

TOKENS = [
    "SELECT 1",
    "a;b".replace(";", " "),
    "'it''s; one'",
    "E'it\\'s; one'",
    "e'\\\\'",
    '"odd;""name"',
    "$$ ; $$",
    "$body$ ; $$ ; $body$",
    "-- note; here\n",
    "/* note; /* nested; */ ; */",
    "$1",
    "x$y$z",
    "typE",
    "\n",
]


def statements(text: str) -> list[str]:
    return [piece.sql for piece in split(text)]


@pytest.mark.parametrize("token", TOKENS)
def test_a_semicolon_within_a_token_ends_nothing(token: str) -> None:
    text = f"SELECT {token} AS x"
    assert statements(f"{text}; SELECT 2;") == [text, "SELECT 2"]


@given(st.lists(st.lists(st.sampled_from(TOKENS), min_size=1), min_size=1))
def test_statements_are_found_again(parts: list[list[str]]) -> None:
    texts = [f"SELECT {' '.join(tokens)} AS x" for tokens in parts]
    assert statements(";\n".join(texts) + ";") == texts


@given(st.lists(st.sampled_from([*TOKENS, ";", "'", "$$", "/*", "\\d", "\\watch 1\n"])))
def test_nothing_is_lost_and_input_line_by_line_reads_the_same(parts: list[str]) -> None:
    text = " ".join(parts)
    pieces = list(Pieces(text.splitlines(keepends=True)))
    assert pieces == list(Pieces(iter(text.splitlines(keepends=True))))
    position = 0
    for piece in pieces:
        position = text.index(piece.sql, position) + len(piece.sql)


@given(st.text(alphabet="'\"$;\\-/*eE \na1"))
def test_any_text_ends(text: str) -> None:
    end = piece_end(text)
    assert end is None or text[end] in ";\\"
    assert is_complete(text) in (True, False)


def test_empty_statements_and_comments_are_no_statements() -> None:
    assert split(";; -- nothing\n ; /* nor here */ ;\n") == []


def test_the_last_statement_needs_no_end() -> None:
    assert statements("SELECT 1; SELECT 2\n") == ["SELECT 1", "SELECT 2"]


def test_line_numbers() -> None:
    text = "\n\nSELECT\n 1; SELECT 2;\n\nSELECT 3"
    assert [piece.line_number for piece in split(text)] == [3, 4, 6]


def test_a_command_goes_to_the_end_of_its_line() -> None:
    assert split("\\d part's\nSELECT 1 \\watch 2\n") == [
        Piece("", "\\d part's", 1),
        Piece("SELECT 1", "\\watch 2", 2),
    ]


def test_copy_data_follow_their_statement() -> None:
    lines = iter("COPY t FROM STDIN;\n1,a;b\n\\\\x\n\\.\nSELECT 1;\n".splitlines(keepends=True))
    pieces = Pieces(lines)
    found = []
    for piece in pieces:
        found.append(piece.sql)
        if piece.sql.startswith("COPY"):
            assert list(pieces.copy_data()) == [b"1,a;b\n", b"\\\\x\n"]
    assert found == ["COPY t FROM STDIN", "SELECT 1"]


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("", True),
        ("SELECT 1", False),
        ("SELECT 1;", True),
        ("SELECT 1; -- done", True),
        ("SELECT 1; SELECT", False),
        ("SELECT 1; /* open", False),
        ("SELECT 'a;", False),
        ("\\d", True),
        ("SELECT 1\n\\g", True),
        ("CREATE FUNCTION f() AS $$ SELECT 1;", False),
    ],
)
def test_enter_ends_what_is_complete(text: str, complete: bool) -> None:
    assert is_complete(text) is complete


def test_leading_code() -> None:
    assert leading_code("/* a */ -- b\n COPY t") == "COPY t"
    assert leading_code("/* open") == "/* open"

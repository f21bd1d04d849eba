"""The line editor, typed into through a pipe."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from millpond.shell.complete import ShellCompleter
from millpond.shell.prompt import Prompt
from tests.unit.shell.fake import FakeBackend

CTRL_C, CTRL_D = "\x03", "\x04"


@pytest.fixture
def keyboard() -> Iterator[PipeInput]:
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        yield pipe


def prompt() -> Prompt:
    return Prompt("fake", ShellCompleter(FakeBackend()), history_path=None)


def test_enter_ends_a_whole_statement_only(keyboard: PipeInput) -> None:
    keyboard.send_text("SELECT ';\r', 1\r;\r" + CTRL_D)
    assert list(prompt()) == ["SELECT ';\n", "', 1\n", ";\n"]


def test_ctrl_c_drops_what_was_typed(keyboard: PipeInput) -> None:
    keyboard.send_text("SELECT wrong" + CTRL_C + "SELECT 1;\r" + CTRL_D)
    assert list(prompt()) == ["SELECT 1;\n"]


def test_words_for_newcomers(keyboard: PipeInput) -> None:
    keyboard.send_text("help\rquit;\r" + CTRL_D)
    assert list(prompt()) == ["\\?\n", "\\q\n"]


def test_copy_data(keyboard: PipeInput) -> None:
    keyboard.send_text("1,a;\r2,b\r\\.\r")
    assert prompt().copy_source().read() == b"1,a;\n2,b\n"

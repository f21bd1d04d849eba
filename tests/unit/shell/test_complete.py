"""What the Tab key offers."""

from __future__ import annotations

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from millpond.shell.complete import ShellCompleter, candidates
from tests.unit.shell.fake import FakeBackend

COLUMNS = {"part_usage": ["part", "station"], "station": ["id", "plant"]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT * FROM st|", ["station"]),
        ("SELECT * FROM |", ["part_usage", "station"]),
        ("\\d par|", ["part_usage"]),
        ("SELECT pl| FROM station", ["plant"]),
        ("SELECT s.| FROM station s", ["id", "plant"]),
        ("SELECT u.st| FROM station AS s, part_usage AS u", ["station"]),
        ("SELECT x.| FROM station s", []),
        ("sele|", ["select"]),
        ("SELE|", ["SELECT"]),
        ("\\ti|", ["\\timing"]),
        ("SELECT * FROM station WHERE |", []),
    ],
)
def test_candidates(text: str, expected: list[str]) -> None:
    before = text.partition("|")[0]
    assert candidates(before, text.replace("|", ""), COLUMNS)[1] == expected


def test_names_are_asked_for_once_and_again_after_a_definition() -> None:
    backend = FakeBackend()
    completer = ShellCompleter(backend)

    def offered() -> list[str]:
        return [found.text for found in completer.get_completions(Document("SELECT * FROM "), CompleteEvent())]

    assert offered() == ["part_usage", "station"]
    assert offered() == ["part_usage", "station"]
    assert len(backend.statements) == 1
    completer.forget()
    offered()
    assert len(backend.statements) == 2

r"""The interactive input: a line editor with history, completion and colours, which takes Enter as the end of a
statement only when the statement is whole."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import AnyFormattedText
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer
from pygments.lexers.sql import PostgresLexer

from millpond.shell.complete import ShellCompleter
from millpond.shell.split import is_complete

_WORDS = {"quit": "\\q", "exit": "\\q", "help": "\\?"}
"""What people type before they know the commands."""

_COPY_HELP = """Enter data to be copied followed by a newline.
End with a backslash and a period on a line by itself, or an EOF signal."""


class Prompt:
    """Asks the user for lines: iterate for statements and commands, call `copy_source` for COPY's data."""

    def __init__(self, name: str, completer: ShellCompleter, history_path: Path | None) -> None:
        self._name = name
        history: History = FileHistory(str(history_path)) if history_path else InMemoryHistory()
        self._session: PromptSession[str] = PromptSession(
            history=history,
            completer=completer,
            complete_while_typing=False,
            # Names come from the database, which may take its time: the editor stays responsive.
            complete_in_thread=True,
            lexer=PygmentsLexer(PostgresLexer),
            multiline=True,
            prompt_continuation=self._continuation,
            key_bindings=_enter_ends_whole_statements(),
        )
        self._data_session: PromptSession[str] = PromptSession(history=InMemoryHistory())

    def __iter__(self) -> Iterator[str]:
        """Lines of statements until Ctrl-D; Ctrl-C drops what was typed so far."""
        while True:
            try:
                text = self._session.prompt(f"{self._name}=> ")
            except KeyboardInterrupt:
                continue
            except EOFError:
                return
            text = _WORDS.get(text.strip().rstrip(";").lower(), text)
            yield from (text + "\n").splitlines(keepends=True)

    def copy_source(self) -> BinaryIO:
        r"""The data that the user types up to `\.` or Ctrl-D."""
        print(_COPY_HELP)
        lines = []
        while (line := self._data_line()) is not None:
            lines.append(line + "\n")
        return io.BytesIO("".join(lines).encode())

    def _data_line(self) -> str | None:
        try:
            line = self._data_session.prompt(">> ")
        except EOFError:
            return None
        return None if line == "\\." else line

    def _continuation(self, width: int, _line_number: int, _is_soft_wrap: int) -> AnyFormattedText:
        return f"{self._name}-> ".rjust(width)


def _enter_ends_whole_statements() -> KeyBindings:
    bindings = KeyBindings()

    @Condition
    def whole() -> bool:
        text = get_app().current_buffer.text
        return text.strip().lower() in _WORDS or is_complete(text)

    @bindings.add("enter", filter=whole)
    def accept(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    return bindings

r"""The backslash commands, as rows of one table: names, argument, description, what they do.

`\g`, `\gx` and `\watch` run the statement before them, or the last one; every other command stands alone.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from millpond.errors import closest
from millpond.shell import describe
from millpond.shell.backend import StatementError
from millpond.shell.split import Piece, Pieces

if TYPE_CHECKING:
    from millpond.shell.session import Shell

_COPY = re.compile(
    r"(?P<what>\(.+\)|[^\s(]+(?:\s*\([^)]*\))?)\s+(?P<way>from|to)\s+(?P<file>'(?:[^']|'')+'|\S+)(?P<options>.*)",
    re.IGNORECASE | re.DOTALL,
)
_WATCH = re.compile(r"(?:i=)?(?P<seconds>\d+(?:\.\d+)?)?\s*(?:c=(?P<count>\d+))?")


class Quit(Exception):  # noqa: N818 (it is no error)
    r"""`\q`: the shell ends."""


@dataclass(frozen=True)
class Command:
    """One command; `run` gets the argument and the statement before the command, which is empty without one."""

    names: tuple[str, ...]
    argument: str
    description: str
    run: Callable[[Shell, str, str], None]
    takes_statement: bool = False


def run(shell: Shell, piece: Piece) -> None:
    """Run the command of a piece."""
    name, _, argument = (piece.command or "").partition(" ")
    command = _BY_NAME.get(name)
    if command is None:
        hint = closest(name, _BY_NAME) or "Try \\? for help."
        raise StatementError(f'invalid command "{name}"', sqlstate="42601", hint=hint)
    if piece.sql and not command.takes_statement:
        raise StatementError(
            f"{name} cannot follow a statement", sqlstate="42601", hint="End the statement with a semicolon."
        )
    command.run(shell, argument.strip().removesuffix(";").strip(), piece.sql)


def _describe(shell: Shell, argument: str, _sql: str) -> None:
    if not argument:
        shell.show(describe.list_relations(shell.execute), title="List of relations")
        return
    title, answer = describe.describe(shell.execute, argument)
    shell.show(answer, title=title)
    lines = describe.footer(shell.execute, argument)
    if lines and shell.settings.format == "aligned":
        shell.print("\n".join([*lines, "", ""]))


def _list(kind: str) -> Callable[[Shell, str, str], None]:
    def run_list(shell: Shell, _argument: str, _sql: str) -> None:
        shell.show(describe.list_relations(shell.execute, kind), title=f"List of {kind}s")

    return run_list


def _go(shell: Shell, _argument: str, sql: str) -> None:
    shell.run_statement(_statement(shell, sql))


def _go_expanded(shell: Shell, argument: str, sql: str) -> None:
    before, shell.settings.expanded = shell.settings.expanded, True
    try:
        _go(shell, argument, sql)
    finally:
        shell.settings.expanded = before


def _watch(shell: Shell, argument: str, sql: str) -> None:
    matched = _WATCH.fullmatch(argument)
    if matched is None:
        raise StatementError(f'invalid interval "{argument}"', sqlstate="22023", hint="Example: \\watch 2 c=10")
    sql, seconds, count = _statement(shell, sql), float(matched["seconds"] or 2), int(matched["count"] or 0)
    shell.last_statement = sql
    runs = 0
    # Ctrl-C while it waits is how one stops it.
    with suppress(KeyboardInterrupt):
        while True:
            shell.show(shell.execute(sql), title=f"{datetime.now():%c} (every {seconds:g}s)")
            runs += 1
            if runs == count:
                return
            time.sleep(seconds)


def _copy(shell: Shell, argument: str, _sql: str) -> None:
    matched = _COPY.fullmatch(argument)
    if matched is None:
        raise StatementError(
            "parse error at end of \\copy", sqlstate="42601", hint="Example: \\copy t from 'f.csv' csv"
        )
    name = matched["file"]
    path = Path(name[1:-1].replace("''", "'") if name.startswith("'") else name)
    try:
        if matched["way"].lower() == "from":
            with path.open("rb") as source:
                shell.show(shell.execute(f"COPY {matched['what']} FROM STDIN{matched['options']}", stdin=source))
        else:
            with path.open("wb") as target:
                shell.show(shell.execute(f"COPY {matched['what']} TO STDOUT{matched['options']}", stdout=target))
    except OSError as error:
        raise _file_error(path, error) from error


def _include(shell: Shell, argument: str, _sql: str) -> None:
    path = Path(argument)
    try:
        with path.open(encoding="utf-8") as lines:
            shell.run(Pieces(lines), source=argument)
    except OSError as error:
        raise _file_error(path, error) from error


def _expanded(shell: Shell, argument: str, _sql: str) -> None:
    shell.settings.expanded = _switch(argument, shell.settings.expanded)
    shell.say(f"Expanded display is {_on_off(shell.settings.expanded)}.")


def _timing(shell: Shell, argument: str, _sql: str) -> None:
    shell.settings.timing = _switch(argument, shell.settings.timing)
    shell.say(f"Timing is {_on_off(shell.settings.timing)}.")


def _connection(shell: Shell, _argument: str, _sql: str) -> None:
    shell.print(shell.backend.description + "\n")


def _help(shell: Shell, _argument: str, _sql: str) -> None:
    usages = [(" ".join([", ".join(command.names), command.argument]), command.description) for command in COMMANDS]
    width = max(len(usage) for usage, _ in usages)
    shell.print("".join(f"  {usage.ljust(width)}  {description}\n" for usage, description in usages))


def _quit(_shell: Shell, _argument: str, _sql: str) -> None:
    raise Quit


def _statement(shell: Shell, sql: str) -> str:
    if not (sql or shell.last_statement):
        raise StatementError("there is no statement to run again", sqlstate="42601")
    return sql or shell.last_statement


def _switch(argument: str, current: bool) -> bool:
    """On, off, or the other way without an argument."""
    if argument not in ("", "on", "off"):
        raise StatementError(f'unrecognized value "{argument}"', sqlstate="22023", hint="Available values: on, off.")
    return not current if argument == "" else argument == "on"


def _on_off(state: bool) -> str:
    return "on" if state else "off"


def _file_error(path: Path, error: OSError) -> StatementError:
    return StatementError(f"{path}: {error.strerror}", sqlstate="58P01")


COMMANDS = (
    Command(("\\d",), "[NAME]", "list all relations, or the columns of one", _describe),
    Command(("\\dt",), "", "list tables", _list("table")),
    Command(("\\dE", "\\ds"), "", "list streams (foreign tables)", _list("stream")),
    Command(("\\dv",), "", "list views", _list("view")),
    Command(("\\g",), "", "run the statement before it, or the last one", _go, takes_statement=True),
    Command(("\\gx",), "", "the same, with expanded display", _go_expanded, takes_statement=True),
    Command(("\\watch",), "[SECONDS] [c=COUNT]", "run it every so often, until Ctrl-C", _watch, takes_statement=True),
    Command(("\\copy",), "T FROM|TO FILE ...", "COPY from or to a file of the shell's machine", _copy),
    Command(("\\i",), "FILE", "run the statements of a file", _include),
    Command(("\\x",), "[on|off]", "expanded display: one line for each value", _expanded),
    Command(("\\timing",), "[on|off]", "show how long statements take", _timing),
    Command(("\\conninfo",), "", "say what this shell is connected to", _connection),
    Command(("\\?",), "", "list these commands", _help),
    Command(("\\q",), "", "leave (so does Ctrl-D)", _quit),
)
_BY_NAME = {name: command for command in COMMANDS for name in command.names}

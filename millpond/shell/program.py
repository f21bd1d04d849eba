"""`millpond sql`: connects, chooses where the statements come from, and gives the exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import millpond
from millpond.shell.backend import Backend, StatementError
from millpond.shell.commands import Quit
from millpond.shell.failure import render_error
from millpond.shell.session import Settings, Shell
from millpond.shell.split import Pieces
from millpond.shell.table import Format

URL_SCHEMES = ("postgresql://", "postgres://")


def run(
    *,
    database: str | None,
    master: str,
    inputs: Sequence[tuple[str, str]] | None,
    format_: Format,
    history_path: Path | None,
) -> int:
    """Run the inputs, pairs of ("text", SQL) or ("file", path), or else what standard input holds or its user types."""
    try:
        backend = connect(database, master)
    except StatementError as error:
        print(render_error(error), file=sys.stderr)
        return 1
    interactive = not inputs and sys.stdin.isatty()
    settings = Settings(format=format_)
    shell = Shell(
        backend, sys.stdout, sys.stderr, out_bytes=sys.stdout.buffer, settings=settings, interactive=interactive
    )
    try:
        if interactive:
            _converse(shell, history_path)
        else:
            _run_inputs(shell, inputs or [("file", "-")])
    except Quit:
        pass
    finally:
        shell.close()
        backend.close()
    return 1 if shell.failed and not interactive else 0


def connect(database: str | None, master: str) -> Backend:
    """The backend that a path, a URL or nothing stands for."""
    # Each brings libraries that the other has no use for.
    if database and database.startswith(URL_SCHEMES):
        from millpond.shell.postgres import PostgresBackend

        return PostgresBackend(database)
    from millpond.shell.pond import PondBackend

    return PondBackend(database, master)


def _converse(shell: Shell, history_path: Path | None) -> None:
    from millpond.shell.complete import ShellCompleter
    from millpond.shell.prompt import Prompt

    shell.say(f"millpond {millpond.__version__}. Statements end with ;  Type \\? for help, \\q to leave.")
    completer = ShellCompleter(shell.backend)
    shell.on_definition = completer.forget
    prompt = Prompt(shell.backend.prompt, completer, history_path)
    shell.run(Pieces(prompt), copy_source=prompt.copy_source)


def _run_inputs(shell: Shell, inputs: Sequence[tuple[str, str]]) -> None:
    for kind, value in inputs:
        if shell.failed:
            return
        if kind == "text":
            shell.run(Pieces(value.splitlines(keepends=True)), copy_source=lambda: sys.stdin.buffer)
        elif value == "-":
            shell.run(Pieces(sys.stdin))
        else:
            _run_file(shell, Path(value))


def _run_file(shell: Shell, path: Path) -> None:
    try:
        with path.open(encoding="utf-8") as lines:
            shell.run(Pieces(lines), source=str(path))
    except OSError as error:
        shell.failed = True
        shell.say(f"ERROR:  {path}: {error.strerror}")

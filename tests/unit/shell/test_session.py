"""The shell with a fake backend: statements, commands, COPY, mistakes, cancelling."""

from __future__ import annotations

import io
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from millpond.shell.commands import COMMANDS, Quit
from millpond.shell.session import Settings, Shell
from millpond.shell.split import Pieces
from tests.unit.shell.fake import FakeBackend


class Screen:
    """A shell and what it wrote."""

    def __init__(self, *, interactive: bool = False, settings: Settings | None = None) -> None:
        self.backend = FakeBackend()
        self._out, self._err, self._bytes = io.StringIO(), io.StringIO(), io.BytesIO()
        self.shell = Shell(
            self.backend, self._out, self._err, out_bytes=self._bytes, settings=settings, interactive=interactive
        )

    def run(self, text: str, source: str = "") -> tuple[str, str]:
        self.shell.run(Pieces(text.splitlines(keepends=True)), source=source)
        return self._out.getvalue() + self._bytes.getvalue().decode(), self._err.getvalue()


@pytest.fixture
def screen() -> Iterator[Screen]:
    made = Screen()
    yield made
    made.shell.close()


@pytest.fixture
def interactive() -> Iterator[Screen]:
    made = Screen(interactive=True)
    yield made
    made.shell.close()


def test_rows_and_tags(screen: Screen) -> None:
    assert screen.run("SELECT 1; insert x;") == (" n \n---\n 1\n(1 row)\n\nINSERT\n", "")


def test_a_script_ends_at_its_first_error_and_names_the_place(screen: Screen) -> None:
    out, err = screen.run("insert x;\n\nfail here;\ninsert y;", source="s.sql")
    assert out == "INSERT\n"
    assert err == "s.sql:3: ERROR:  it failed\nLINE 1: fail here\n        ^\nDETAIL:  why\nHINT:  what to do\n"
    assert screen.shell.failed


def test_interactive_goes_on(interactive: Screen) -> None:
    assert interactive.run("fail; insert y;")[0] == "INSERT\n"


def test_tags_do_not_spoil_machine_readable_output() -> None:
    screen = Screen(settings=Settings(format="csv"))
    assert screen.run("insert x; SELECT 1;") == ("n\n1\n", "")
    screen.shell.close()


def test_notices_go_beside_the_output(screen: Screen) -> None:
    assert screen.run("notice;") == ("NOTICE\n", "NOTICE:  by the way\n")


def test_copy_data_within_a_script(screen: Screen) -> None:
    out, _ = screen.run("COPY t FROM STDIN CSV;\n1,a\n2,b;\n\\.\nSELECT 1;\n")
    assert screen.backend.copied == b"1,a\n2,b;\n"
    assert out.startswith("COPY 2\n n \n")


def test_copy_to_stdout_has_no_tag(screen: Screen) -> None:
    assert screen.run("COPY t TO STDOUT;") == ("1,Wheel\n", "")


def test_copy_command(screen: Screen, tmp_path: Path) -> None:
    source, target = tmp_path / "it's.csv", tmp_path / "out.csv"
    source.write_bytes(b"1\n2\n3\n")
    quoted = str(source).replace("'", "''")
    out, _ = screen.run(f"\\copy t (a, b) FROM '{quoted}' CSV\n\\copy (select x from t) to {target} csv header\n")
    assert out == "COPY 3\nCOPY 1\n"
    assert screen.backend.statements == ["COPY t (a, b) FROM STDIN CSV", "COPY (select x from t) TO STDOUT csv header"]
    assert target.read_bytes() == b"1,Wheel\n"


def test_copy_of_a_missing_file(screen: Screen, tmp_path: Path) -> None:
    assert screen.run(f"\\copy t from {tmp_path}/no\n")[1] == f"ERROR:  {tmp_path}/no: No such file or directory\n"


def test_describe(screen: Screen) -> None:
    out, _ = screen.run("\\d\n\\ds\n\\d station\n")
    assert " public | part_usage | stream\n public | station    | table\n(2 rows)" in out
    assert "List of streams" in out
    assert 'Table "public.station"' in out
    assert " id     | integer               | not null |\n" in out
    assert " plant  | character varying(20) |          |\n" in out
    assert " weight | numeric(6,2)          |          | 0\n" in out
    assert 'Keys:\n    "station_pkey" PRIMARY KEY (id, plant)\n' in out
    assert 'Check constraints:\n    "station_check" CHECK (id > 0)\n' in out


def test_describe_suggests_the_name(screen: Screen) -> None:
    _, err = screen.run("\\d statoin\n")
    assert err == 'ERROR:  did not find any relation named "statoin"\nHINT:  Perhaps you meant "station".\n'


def test_watch_runs_so_often(screen: Screen) -> None:
    out, _ = screen.run("SELECT 1 \\watch 0.01 c=3\n")
    assert out.count("(every 0.01s)") == 3
    assert screen.backend.statements == ["SELECT 1"] * 3


def test_go_runs_the_last_statement_again(screen: Screen) -> None:
    out, _ = screen.run("SELECT 1;\n\\gx\n")
    assert out.endswith("-[ RECORD 1 ]\nn | 1\n\n")


def test_switches(screen: Screen) -> None:
    out, err = screen.run("\\x\n\\timing on\nSELECT 1;\n\\x off\n\\timing\n\\x maybe\n")
    assert out.startswith("-[ RECORD 1 ]\nn | 1\n\nTime: ")
    assert "Expanded display is off.\nTiming is off.\n" in err
    assert err.endswith('ERROR:  unrecognized value "maybe"\nHINT:  Available values: on, off.\n')


def test_include(screen: Screen, tmp_path: Path) -> None:
    script = tmp_path / "s.sql"
    script.write_text("insert x;\nfail;\n")
    out, err = screen.run(f"\\i {script}\ninsert y;\n")
    assert out == "INSERT\n"
    assert err.startswith(f"{script}:2: ERROR:  it failed\n")


def test_help_lists_every_command(screen: Screen) -> None:
    out, _ = screen.run("\\?\n")
    assert all(name in out for command in COMMANDS for name in command.names)


def test_conninfo(screen: Screen) -> None:
    assert screen.run("\\conninfo\n")[0] == "You are connected to a fake.\n"


def test_quit(screen: Screen) -> None:
    with pytest.raises(Quit):
        screen.run("\\q\nSELECT 1;\n")
    assert screen.backend.statements == []


def test_unknown_command(screen: Screen) -> None:
    assert screen.run("\\wacth\n")[1] == 'ERROR:  invalid command "\\wacth"\nHINT:  Perhaps you meant "\\watch".\n'


def test_a_command_after_an_unfinished_statement(screen: Screen) -> None:
    assert "\\d cannot follow a statement" in screen.run("SELECT 1 \\d\n")[1]


def test_ctrl_c_cancels_the_statement_not_the_shell(interactive: Screen) -> None:
    def press() -> None:
        assert interactive.backend.running.wait(10)
        # To the thread that waits: a process with several threads may wake any of them.
        signal.pthread_kill(waiting, signal.SIGINT)

    waiting = threading.get_ident()
    threading.Thread(target=press).start()
    out, err = interactive.run("wait;\ninsert x;")
    assert err == "Cancel request sent\nERROR:  canceling statement due to user request\n"
    assert out == "INSERT\n"


def test_definitions_are_told(screen: Screen) -> None:
    told: list[bool] = []
    screen.shell.on_definition = lambda: told.append(True)
    screen.run("create t; insert x; drop t;")
    assert told == [True, True]

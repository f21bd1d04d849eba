"""`millpond sql` from its arguments to its exit code, here on a fake backend."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest

from millpond import cli
from millpond.shell import program
from millpond.shell.backend import StatementError
from tests.unit.shell.fake import FakeBackend


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> FakeBackend:
    fake = FakeBackend()
    monkeypatch.setattr(program, "connect", lambda _database, _master: fake)
    return fake


def standard_input(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


def test_texts_and_files_run_in_their_order(
    backend: FakeBackend, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "s.sql"
    script.write_text("insert b; insert c")
    assert cli.main(["sql", "-c", "insert a", "-f", str(script), "-c", "insert d"]) == 0
    assert backend.statements == ["insert a", "insert b", "insert c", "insert d"]
    assert capsys.readouterr().out == "INSERT\n" * 4


def test_statements_from_standard_input(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    standard_input(monkeypatch, "SELECT 1;\nfail;\nSELECT 2;\n")
    assert cli.main(["sql", "--json"]) == 1
    assert backend.statements == ["SELECT 1", "fail"]
    captured = capsys.readouterr()
    assert captured.out == '{"n": 1}\n'
    assert captured.err.startswith("ERROR:  it failed\n")


def test_copy_of_an_argument_reads_standard_input(backend: FakeBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    standard_input(monkeypatch, "1,a\n2,b\n")
    assert cli.main(["sql", "-c", "COPY t FROM STDIN CSV", "-c", "\\q"]) == 0
    assert backend.copied == b"1,a\n2,b\n"


def test_a_missing_file(backend: FakeBackend, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["sql", "-f", "/nowhere.sql", "-c", "insert a"]) == 1
    assert capsys.readouterr().err == "ERROR:  /nowhere.sql: No such file or directory\n"
    assert backend.statements == []


def test_a_failed_connection(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(_database: str | None, _master: str) -> FakeBackend:
        raise StatementError("the pond is in use", hint="Close it.")

    monkeypatch.setattr(program, "connect", fail)
    assert cli.main(["sql", "plant"]) == 1
    assert capsys.readouterr().err == "ERROR:  the pond is in use\nHINT:  Close it.\n"


def test_a_refused_url() -> None:
    with pytest.raises(StatementError, match="connection"):
        program.connect("postgresql://localhost:1/nothing?connect_timeout=2", "local[1]")


def test_wrong_usage_is_exit_code_2() -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["sql", "--no-such-option"])
    assert ended.value.code == 2


def test_an_unknown_benchmark(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "nothing"]) == 1
    assert capsys.readouterr().err.startswith('ERROR:  benchmark "nothing" does not exist\nHINT:  There are: ')


def test_help_waits_for_no_library() -> None:
    code = (
        "import sys; from millpond import cli\n"
        "try: cli.main(['sql', '--help'])\n"
        "except SystemExit: pass\n"
        "print(sorted({'pyspark', 'pyarrow', 'sqlglot', 'rich', 'prompt_toolkit'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"

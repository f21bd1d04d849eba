"""The house rules as tests: who imports what, how long files are, that documents speak of things that exist."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import millpond
from millpond.cli import main

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "millpond").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FILE_LINES_MAX = 450

OWNERS = {"pyspark": ("millpond/spark/",), "py4j": ("millpond/spark/",), "sqlglot": ("millpond/sql/", "millpond/plan/")}
"""Libraries that only some folders know, so that the rest can be read and tested without them."""


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imported_packages(path: Path) -> Iterator[str]:
    """The top-level packages that a file imports at run time, within functions too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_imports_stay_with_their_owners(path: Path) -> None:
    for package in imported_packages(path):
        assert name_of(path).startswith(OWNERS.get(package, "")), f"{name_of(path)} imports {package}"


@pytest.mark.parametrize("path", SOURCES + TESTS, ids=name_of)
def test_files_have_a_docstring_and_an_end(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not text or ast.get_docstring(ast.parse(text)), "a module says what it does and where it sits"
    assert text.count("\n") <= FILE_LINES_MAX, "split it by noun"


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_relative_links_lead_somewhere(path: Path) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8"))
    local = [link.partition("#")[0] for link in links if not re.match(r"[a-z]+:|#", link)]
    assert [link for link in local if not (path.parent / link).exists()] == []


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def make_commands(path: Path) -> set[str]:
    """The targets that a file tells its reader, or the machine, to make."""
    return set(re.findall(r"(?:^\s*|`)make ([a-z]+)", path.read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_documented_commands_exist(path: Path) -> None:
    assert make_commands(path) <= make_targets()


def test_readme_names_the_commands_that_ci_runs() -> None:
    assert {"demo", "test"} <= make_commands(ROOT / "README.md")
    assert make_commands(ROOT / ".ci/run") == {"check", "test"}
    assert {"check", "test"} <= make_commands(ROOT / "docs/HACKING.md")


def test_every_target_is_explained() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert set(re.findall(r"^([a-z]+):.*## \S", makefile, re.MULTILINE)) == make_targets()


def test_lock_pins_every_dependency_and_names_no_place() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    names = {re.split(r"[\[<>=]", requirement)[0] for requirement in wanted}
    assert names <= set(re.findall(r"^([a-z0-9-]+)==", lock, re.MULTILINE))
    assert not re.search(r"https?:|file:|^-|^#", lock, re.MULTILINE)
    assert all("--hash=sha256:" in pin for pin in re.split(r"\n(?=\S)", lock))


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"millpond {millpond.__version__}\n"

"""Golden plans: each query of `*.sql` with its description or the error that refuses it.

A query ends with a line `----`; what follows it, up to an empty line, is expected. `MILLPOND_PLANS_COMPLETE=1` writes
down what is: read the difference before it is kept.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from millpond.errors import InternalError, MillpondError
from millpond.plan.explain import describe
from millpond.plan.split import split
from millpond.sql.bind import bind
from millpond.sql.dialect import parse_query
from tests.plans.catalog import Names

FOLDER = Path(__file__).parent
MARK = "----"


@dataclass(frozen=True)
class Golden:
    """A query, the lines that are expected of it, and the comment lines before it."""

    comments: tuple[str, ...]
    query: str
    expected: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join([*self.comments, self.query, MARK, *self.expected])


def read(text: str) -> list[Golden]:
    """The goldens of a file; they are separated by empty lines."""
    return [_golden(block.splitlines()) for block in text.strip().split("\n\n")]


def read_tpch() -> list[Golden]:
    return read((FOLDER / "tpch.sql").read_text())


def _golden(lines: list[str]) -> Golden:
    comments = tuple(line for line in lines if line.startswith("-- "))
    rest = [line for line in lines if not line.startswith("-- ")]
    end = rest.index(MARK) if MARK in rest else len(rest)
    return Golden(comments, "\n".join(rest[:end]), tuple(rest[end + 1 :]))


def described(query: str) -> list[str]:
    """The plan of a query as EXPLAIN (SPLIT) shows it, or its error."""
    try:
        return describe(split(bind(parse_query(query.rstrip(";")), Names())))
    except InternalError:
        raise
    except MillpondError as refusal:
        near = query[refusal.position - 1 :].split("\n")[0][:30] if refusal.position else "nowhere"
        fields = {"detail": refusal.detail, "hint": refusal.hint}
        more = [f"{name}: {value}" for name, value in fields.items() if value]
        return [f"error {refusal.sqlstate}: {refusal.message}", *more, f"at: {near}"]


def _files() -> list[Path]:
    return sorted(FOLDER.glob("*.sql"))


def _cases() -> Iterator[object]:
    for path in _files():
        for place, golden in enumerate(read(path.read_text())):
            yield pytest.param(golden, id=f"{path.stem}-{place}")


@pytest.mark.parametrize("golden", list(_cases()))
def test_the_plan_is_the_golden_one(golden: Golden) -> None:
    assert described(golden.query) == list(golden.expected), golden.query


@pytest.mark.skipif(not os.environ.get("MILLPOND_PLANS_COMPLETE"), reason="writes the goldens")
def test_complete() -> None:
    for path in _files():
        made = [Golden(one.comments, one.query, tuple(described(one.query))) for one in read(path.read_text())]
        path.write_text("\n\n".join(map(str, made)) + "\n")

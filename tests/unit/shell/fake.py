"""A backend for the shell's tests: answers by the statement's text, and remembers what it was asked."""

from __future__ import annotations

import threading
from typing import BinaryIO

from millpond.shell.backend import Answer, AnswerColumn, Notice, Progress, StatementError

TABLES = Answer(
    "SELECT 2",
    (AnswerColumn("table_schema"), AnswerColumn("table_name"), AnswerColumn("table_type")),
    [["public", "part_usage", "FOREIGN"], ["public", "station", "BASE TABLE"]],
)
STATION_COLUMNS: list[list[str | None]] = [
    ["id", "integer", None, "32", "0", "NO", None],
    ["plant", "character varying", "20", None, None, "YES", None],
    ["weight", "numeric", None, "6", "2", "YES", "0"],
]
COMPLETION: list[list[str | None]] = [["part_usage", "part"], ["station", "id"], ["station", "plant"]]


class FakeBackend:
    """Knows two relations; `fail` fails, `notice` says something, `wait` waits until it is interrupted."""

    prompt = "fake"
    description = "You are connected to a fake."

    def __init__(self) -> None:
        self.statements: list[str] = []
        self.copied = b""
        self.running = threading.Event()
        self._interrupted = threading.Event()

    def execute(
        self,
        sql: str,
        *,
        stdin: BinaryIO | None = None,
        stdout: BinaryIO | None = None,
        progress: Progress | None = None,
    ) -> Answer:
        self.statements.append(sql)
        if stdin:
            self.copied = stdin.read()
            return Answer(f"COPY {len(self.copied.splitlines())}")
        if stdout:
            stdout.write(b"1,Wheel\n")
            return Answer("COPY 1")
        return self._answer(sql)

    def _answer(self, sql: str) -> Answer:
        if "information_schema.tables" in sql:
            return TABLES
        if "check_constraints" in sql:
            return Answer("SELECT", (AnswerColumn("a"), AnswerColumn("b")), [["station_check", "id > 0"]])
        if "key_column_usage" in sql:
            keys: list[list[str | None]] = [
                ["station_pkey", "PRIMARY KEY", "id"],
                ["station_pkey", "PRIMARY KEY", "plant"],
            ]
            return Answer("SELECT", tuple(map(AnswerColumn, "abc")), keys)
        if "column_default" in sql:
            return Answer("SELECT", tuple(map(AnswerColumn, "abcdefg")), STATION_COLUMNS)
        if "information_schema.columns" in sql:
            return Answer("SELECT", tuple(map(AnswerColumn, "ab")), COMPLETION)
        return self._simple_answer(sql)

    def _simple_answer(self, sql: str) -> Answer:
        if sql.startswith("fail"):
            raise StatementError("it failed", sqlstate="42601", detail="why", hint="what to do", position=1)
        if sql == "wait":
            self.running.set()
            assert self._interrupted.wait(10)
            raise StatementError("canceling statement due to user request", sqlstate="57014")
        if sql.lower().startswith("select"):
            return Answer("SELECT 1", (AnswerColumn("n", "number"),), [["1"]])
        notices = (Notice("NOTICE", "by the way"),) if sql == "notice" else ()
        return Answer(sql.split()[0].upper(), notices=notices)

    def interrupt(self) -> None:
        self._interrupted.set()

    def close(self) -> None:
        pass

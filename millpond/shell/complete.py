r"""What the Tab key offers: keywords, relations where one belongs, the columns of the relations in sight.

`candidates` is a plain function of the text, so that it can be tested without a terminal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from millpond.shell.backend import Backend, StatementError
from millpond.shell.commands import COMMANDS

Columns = Mapping[str, Sequence[str]]
"""The columns of each relation, by the relation's name."""

_NAMES = """
SELECT table_name, column_name FROM information_schema.columns
WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY table_name, ordinal_position"""

_WORD = re.compile(r"[\w.\\?]*$")
_BEFORE_RELATION = re.compile(r"(?:\b(?:from|join|into|update|table|copy|view|stream)|\\d)\s+$", re.IGNORECASE)
_MENTIONED = re.compile(r"\b(?:from|join|into|update)\s+(\w+)(?:\s+(?:as\s+)?(\w+))?", re.IGNORECASE)
_LISTED = re.compile(r",\s*(\w+)(?:\s+(?:as\s+)?(\w+))?", re.IGNORECASE)

KEYWORDS = tuple(
    """
    ALL ALTER ANALYZE AND AS ASC BEGIN BETWEEN BIGINT BOOLEAN BY CASE CAST CHECK COALESCE COMMIT CONTINUOUS COPY COUNT
    CREATE CROSS CSV CURRENT_DATE CURRENT_TIMESTAMP CYCLE DATE DEFAULT DELETE DESC DISTINCT DOUBLE PRECISION DROP ELSE
    EMIT END EXCEPT EXISTS EXPLAIN EXTRACT FALSE FILTER FIRST FOREIGN FROM FULL FUNCTION GROUP HAVING HEADER IF IN INNER
    INSERT INTEGER INTERSECT INTERVAL INTO IS JOIN KEY LANGUAGE LAST LATERAL LEFT LIKE LIMIT MAX MIN NATURAL NOT NULL
    NULLS NUMERIC OFFSET ON OPTIONS OR ORDER OUTER OVER PARTITION PAUSE PRIMARY QUERY RESUME RETURNING RETURNS RIGHT
    ROLLBACK ROWS SELECT SERVER SET SHOW STATEFUL STDIN STDOUT STREAM SUBSCRIBE SUM TABLE TEXT THEN TIMESTAMP
    TIMESTAMPTZ TO TRUE TRUNCATE UNION UNIQUE UPDATE USING VALUES VARCHAR VIEW WHEN WHERE WINDOW WITH
    """.split()
)


class ShellCompleter(Completer):
    """Offers `candidates` to the prompt; the names are asked for when first needed and after each definition."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._columns: Columns | None = None

    def forget(self) -> None:
        """Ask for the names again when they are next needed."""
        self._columns = None

    def get_completions(self, document: Document, _event: CompleteEvent) -> Iterator[Completion]:
        if self._columns is None:
            self._columns = read_columns(self._backend)
        word, offered = candidates(document.text_before_cursor, document.text, self._columns)
        for candidate in offered:
            yield Completion(candidate, start_position=-len(word))


def read_columns(backend: Backend) -> Columns:
    """The columns of all relations; none where the catalog cannot be asked, as in a failed transaction."""
    try:
        rows = backend.execute(_NAMES.strip()).rows
    except StatementError:
        return {}
    columns: dict[str, list[str]] = {}
    for relation, column in rows:
        columns.setdefault(relation or "", []).append(column or "")
    return columns


def candidates(before: str, text: str, columns: Columns) -> tuple[str, list[str]]:
    """The word before the cursor and what it may become; `text` is the whole input, on both sides of the cursor.

    >>> candidates("SELECT * FROM st", "SELECT * FROM st", {"station": ["id"]})
    ('st', ['station'])
    >>> candidates("SELECT s.", "SELECT s. FROM station s", {"station": ["id", "plant"]})
    ('', ['id', 'plant'])
    """
    found = _WORD.search(before)
    word = found.group() if found else ""
    if word.startswith("\\"):
        return word, _starting(word, (name for command in COMMANDS for name in command.names))
    if _BEFORE_RELATION.search(before[: len(before) - len(word)]):
        return word, _starting(word, sorted(columns))
    sources = dict(_sources(text, columns))
    qualifier, dot, last = word.rpartition(".")
    if dot:
        return last, _starting(last, columns.get(sources.get(qualifier, qualifier), ()))
    if not word:
        return word, []
    names = [column for relation in sources.values() for column in columns[relation]]
    return word, _starting(word, dict.fromkeys([*sorted(names), *sorted(columns), *_in_case_of(word, KEYWORDS)]))


def _sources(text: str, columns: Columns) -> Iterator[tuple[str, str]]:
    """The relations a text mentions, each by its own name and by its alias."""
    for pattern in (_MENTIONED, _LISTED):
        for relation, alias in pattern.findall(text):
            if relation in columns:
                yield relation, relation
                if alias:
                    yield alias, relation


def _in_case_of(word: str, keywords: Iterable[str]) -> list[str]:
    """Keywords in the case that the user writes."""
    change: Callable[[str], str] = str.lower if word.islower() else str.upper
    return [change(keyword) for keyword in keywords]


def _starting(word: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.lower().startswith(word.lower()) and name != word]

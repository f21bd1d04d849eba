"""What clients were seen to send, asked again without them: each query has an answer of the recorded shape.

`MILLPOND_RECORD=1` writes the shapes into the files of queries, for review in the diff.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from millpond.sql.parameters import Parameters
from millpond.sql.parse import parse
from millpond.sql.sqlite.translate import catalog_query
from millpond.sql.statements import Query
from tests.clients.recorder import RECORDED, Recorded, read_recorded, write_recorded
from tests.unit.pgcatalog.support import Asked

FILES = sorted(RECORDED.glob("*.sql"))


def shape(asked: Asked, query: Recorded) -> tuple[str, ...]:
    """The columns of the answer with their types, and the number of rows."""
    answered, table = asked.table(query.text, query.values)
    columns = ", ".join(f"{name} {kind}" for name, kind in answered.columns)
    return f"columns: {columns}", f"rows: {table.num_rows}"


def is_about_catalog(query: Recorded) -> bool:
    statement = parse(query.text, Parameters(query.values) if query.values else None)
    return isinstance(statement, Query) and catalog_query(statement.tree) is not None


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_answers_have_the_recorded_shape(path: Path) -> None:
    asked = Asked()
    queries = read_recorded(path)
    if os.environ.get("MILLPOND_RECORD"):
        about_catalog = [one for one in queries if is_about_catalog(one)]
        queries = [Recorded(one.title, one.text, one.values, shape(asked, one)) for one in about_catalog]
        write_recorded(path, queries)
    assert len(queries) > 5
    for query in queries:
        assert shape(asked, query) == query.answer, query.text

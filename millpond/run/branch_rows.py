"""The rows of several queries by one Spark job: each of them fills columns of its own.

SELECT 0 AS branch, c0 AS c0_0, c1 AS c0_1, NULL AS c1_0 FROM (...)
UNION ALL SELECT 1, NULL, NULL, c0 FROM (...)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.compute as pc


def together(texts: Sequence[str], columns: Sequence[Sequence[str]]) -> str:
    """Queries with these outputs as one query; one alone stays as it is.

    >>> print(together(["SELECT 1 AS c0", "SELECT 2 AS k"], [["c0"], ["k"]]).replace(" UNION", "\\nUNION"))
    SELECT 0 AS branch, c0 AS c0_0, NULL AS c1_0 FROM (SELECT 1 AS c0)
    UNION ALL SELECT 1 AS branch, NULL AS c0_0, k AS c1_0 FROM (SELECT 2 AS k)
    """
    if len(texts) == 1:
        return texts[0]
    selects: list[str] = []
    for branch, text in enumerate(texts):
        outputs = [
            f"{column if other == branch else 'NULL'} AS {name}"
            for other, own in enumerate(columns)
            for column, name in zip(own, _names(other, len(own)), strict=True)
        ]
        selects.append(f"SELECT {branch} AS branch, {', '.join(outputs)} FROM ({text})")
    return " UNION ALL ".join(selects)


def apart(rows: pa.Table, columns: Sequence[Sequence[str]]) -> list[pa.Table]:
    """The rows of each query, of those that their common query gave, by the names of its own columns."""
    if len(columns) == 1:
        return [rows.rename_columns(list(columns[0]))]
    found: list[pa.Table] = []
    for branch, own in enumerate(columns):
        mine = rows.filter(pc.field("branch") == branch).select(_names(branch, len(own)))
        found.append(mine.rename_columns(list(own)))
    return found


def numbered(widths: Iterable[int]) -> list[list[str]]:
    """The outputs c0, c1, ... of queries that have so many.

    >>> numbered([1, 2])
    [['c0'], ['c0', 'c1']]
    """
    return [[f"c{place}" for place in range(width)] for width in widths]


def apart_by_schema(rows: pa.Table, schemas: Sequence[pa.Schema]) -> list[pa.Table]:
    """The rows of each query by its own names and types."""
    found = apart(rows, [one.names for one in schemas])
    return [table.cast(schema) for table, schema in zip(found, schemas, strict=True)]


def _names(branch: int, width: int) -> list[str]:
    return [f"c{branch}_{place}" for place in range(width)]

"""The rows of several queries by one Spark job: each of them fills columns of its own.

SELECT 0 AS branch, c0 AS c0_0, c1 AS c0_1, NULL AS c1_0 FROM (...)
UNION ALL SELECT 1, NULL, NULL, c0 FROM (...)
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc


def together(texts: Sequence[str], widths: Sequence[int]) -> str:
    """Queries with outputs c0, c1, ..., as many as the widths say, as one query; one alone stays as it is.

    >>> print(together(["SELECT 1 AS c0", "SELECT 2 AS c0"], [1, 1]).replace(" UNION", "\\nUNION"))
    SELECT 0 AS branch, c0 AS c0_0, NULL AS c1_0 FROM (SELECT 1 AS c0)
    UNION ALL SELECT 1 AS branch, NULL AS c0_0, c0 AS c1_0 FROM (SELECT 2 AS c0)
    """
    if len(texts) == 1:
        return texts[0]
    selects: list[str] = []
    for branch, text in enumerate(texts):
        outputs = [
            f"{f'c{place}' if other == branch else 'NULL'} AS {name}"
            for other, width in enumerate(widths)
            for place, name in enumerate(_names(other, width))
        ]
        selects.append(f"SELECT {branch} AS branch, {', '.join(outputs)} FROM ({text})")
    return " UNION ALL ".join(selects)


def apart(rows: pa.Table, schemas: Sequence[pa.Schema]) -> list[pa.Table]:
    """The rows of each query, of those that their common query gave, by their own names and types."""
    if len(schemas) == 1:
        return [rows.rename_columns(schemas[0].names).cast(schemas[0])]
    found: list[pa.Table] = []
    for branch, schema in enumerate(schemas):
        own = rows.filter(pc.field("branch") == branch).select(_names(branch, len(schema)))
        found.append(own.rename_columns(schema.names).cast(schema))
    return found


def _names(branch: int, width: int) -> list[str]:
    return [f"c{branch}_{place}" for place in range(width)]

"""The rows that continuous queries make, for whoever listens: those of each chunk, as soon as it is committed.

A query holds what a chunk made before it commits, and tells of it afterwards. If it does not know whether it has
committed, it finds out, and tells then: listeners get each committed chunk once, in order.
"""

from __future__ import annotations

import pyarrow as pa

from millpond.bell import Listeners


class QueryRows:
    """The rows of one query, which may be replaced by another of the same oid; `given` tells of them, in the thread of
    the query."""

    def __init__(self) -> None:
        self.given = Listeners[[pa.Table]]()
        self._held: tuple[int, pa.Table] | None = None

    def hold(self, chunk: int, rows: pa.Table) -> None:
        """The chunk of a number will have made these rows, if it is committed."""
        self._held = (chunk, rows)

    def tell(self, chunk: int) -> None:
        """The chunk of a number is committed; it is told of once."""
        held, self._held = self._held, None
        if held is not None and held[0] == chunk and held[1].num_rows:
            self.given.ring(held[1])

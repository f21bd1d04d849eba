"""How the rows of system relations are written, and the numbers that several of them share.

A row names the columns that matter; the others are what the database says of their types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from millpond.pgcatalog.objects import Objects, SessionFacts
from millpond.privileges.acl import Acl, acl_texts

Row = Mapping[str, Any]

RowsOf = Callable[[Objects, SessionFacts], Iterator[Row]]
"""Makes the rows of one relation."""

BTREE, HEAP = 403, 2
"""The access methods of indexes and tables."""

SERVER_OID, WRAPPER_OID = 16000, 16001
"""The foreign server and its wrapper that streams belong to."""

INTEGER_OPERATORS = 1978
"""The operator class that stands for that of every index."""


def shown_acl(acl: Acl | None) -> list[str] | None:
    """An access list as a column of type aclitem[]; NULL while nobody granted anything."""
    return None if acl is None else acl_texts(acl)

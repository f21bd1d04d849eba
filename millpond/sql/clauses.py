"""Clauses that several statements share, read token by token: names of relations, and WITH (...)."""

from __future__ import annotations

from millpond.sql.statements import Name
from millpond.sql.tokens import TokenCursor


def relation_name(cursor: TokenCursor) -> Name:
    """`name` or `schema.name`."""
    position = cursor.position
    first = cursor.identifier()
    return Name(cursor.identifier(), first, position) if cursor.accept(".") else Name(first, None, position)


def relation_names(cursor: TokenCursor) -> tuple[Name, ...]:
    names = [relation_name(cursor)]
    while cursor.accept(","):
        names.append(relation_name(cursor))
    return tuple(names)


def view_options(cursor: TokenCursor) -> dict[str, str]:
    """`(name [= value], ...)` after WITH."""
    options: dict[str, str] = {}
    cursor.expect("(")
    while not cursor.accept(")"):
        name = cursor.identifier()
        options[name] = cursor.next().text if cursor.accept("=") else "true"
        if not cursor.accept(","):
            cursor.expect(")")
            break
    return options

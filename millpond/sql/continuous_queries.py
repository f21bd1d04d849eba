"""Statements about continuous queries, read token by token; the INSERT of one is for the general parser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from millpond.sql.clauses import relation_name, relation_names, view_options
from millpond.sql.statements import (
    AlterContinuousQuery,
    DropContinuousQuery,
    ExplainContinuousQuery,
    Name,
    Statement,
)
from millpond.sql.tokens import TokenCursor


@dataclass(frozen=True)
class Header:
    """What stands before the INSERT of a CREATE CONTINUOUS QUERY."""

    name: Name
    if_not_exists: bool
    options: dict[str, str]


def read_header(cursor: TokenCursor) -> Header:
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    name = relation_name(cursor)
    options = view_options(cursor) if cursor.accept("WITH") else {}
    cursor.expect("AS")
    return Header(name, if_not_exists, options)


def _alter(cursor: TokenCursor) -> Statement:
    if_exists = cursor.accept("IF", "EXISTS")
    name = relation_name(cursor)
    if cursor.accept("RENAME", "TO"):
        made = AlterContinuousQuery(name, "rename", cursor.identifier(), if_exists)
    elif cursor.accept("PAUSE"):
        made = AlterContinuousQuery(name, "pause", if_exists=if_exists)
    else:
        cursor.expect("RESUME")
        made = AlterContinuousQuery(name, "resume", if_exists=if_exists)
    cursor.end()
    return made


def _drop(cursor: TokenCursor) -> Statement:
    if_exists = cursor.accept("IF", "EXISTS")
    names = relation_names(cursor)
    # Nothing depends on a continuous query, so both mean the same.
    cursor.accept("CASCADE") or cursor.accept("RESTRICT")
    cursor.end()
    return DropContinuousQuery(names, if_exists)


def _explain(cursor: TokenCursor) -> Statement:
    name = relation_name(cursor)
    cursor.end()
    return ExplainContinuousQuery(name)


HANDLERS: tuple[tuple[tuple[str, ...], Callable[[TokenCursor], Statement]], ...] = (
    (("ALTER", "CONTINUOUS", "QUERY"), _alter),
    (("DROP", "CONTINUOUS", "QUERY"), _drop),
    (("EXPLAIN", "CONTINUOUS", "QUERY"), _explain),
)

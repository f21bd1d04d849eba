"""Bound expressions as short text for descriptions: SQL without the quotes that names do not need."""

from __future__ import annotations

import re

from sqlglot import exp

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")


def shown(node: exp.Expr) -> str:
    """The expression as a person might write it.

    >>> shown(exp.column("a", table="s", quoted=True))
    's.a'
    """
    made = node.copy()
    for name in made.find_all(exp.Identifier):
        if _PLAIN.fullmatch(name.this):
            name.set("quoted", False)
    return made.sql(normalize_functions=False)

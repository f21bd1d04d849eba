"""Arrays as quoted literals: `'{1, 2, NULL}'`, read into the texts of their elements and written again."""

from __future__ import annotations

import re
from collections.abc import Sequence

from millpond.errors import MillpondError, SqlState, not_supported
from millpond.values.text_output import element_text

_ELEMENT = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|((?:[^",{}\\]|\\.)*))\s*(,|$)', re.DOTALL)
"""An element in quotes or without, and what is behind it."""


def split_array(text: str, position: int | None = None) -> list[str | None]:
    """The elements of an array literal; None is NULL.

    >>> split_array('{1, "a,b", NULL, "NULL"}')
    ['1', 'a,b', None, 'NULL']
    >>> split_array("{}")
    []
    """
    body = text.strip()
    if not body.startswith("{"):
        raise _malformed(text, position, 'Array value must start with "{" or dimension information.')
    if not body.endswith("}"):
        raise _malformed(text, position, "Unexpected end of input.")
    inside = body[1:-1]
    if inside.lstrip().startswith("{"):
        raise not_supported("an array of arrays", position=position)
    return _elements(inside, text, position) if inside.strip() else []


def join_array(elements: Sequence[str | None]) -> str:
    """An array literal with these elements.

    >>> join_array(["1", None, "a b", ""])
    '{1,NULL,"a b",""}'
    """
    return "{" + ",".join(map(element_text, elements)) + "}"


def _elements(inside: str, text: str, position: int | None) -> list[str | None]:
    elements: list[str | None] = []
    at, more = 0, True
    while more:
        match = _ELEMENT.match(inside, at)
        if match is None or (match[1] is None and not match[2].strip()):
            raise _malformed(text, position, "Junk after an element, or an element that is missing.")
        bare = None if match[2] is None else match[2].rstrip()
        is_null = bare is not None and bare.upper() == "NULL"
        elements.append(
            None if is_null else re.sub(r"\\(.)", r"\1", match[1] if bare is None else bare, flags=re.DOTALL)
        )
        at, more = match.end(), match[3] == ","
    return elements


def _malformed(text: str, position: int | None, detail: str) -> MillpondError:
    message = f'malformed array literal: "{text}"'
    return MillpondError(SqlState.INVALID_TEXT_REPRESENTATION, message, detail=detail, position=position)

"""Arrays between PostgreSQL's text form, `{a,"b c",NULL}`, and lists."""

from __future__ import annotations

import re
from collections.abc import Sequence

from millpond.errors import MillpondError, SqlState
from millpond.types import SqlType

_ELEMENT = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|([^",{}\\\s](?:[^",{}\\]|\\.)*?))\s*(,|$)', re.DOTALL)
_QUOTED = re.compile(r'|null|.*[{},"\\\s].*', re.IGNORECASE | re.DOTALL)
_INTEGERS = ("smallint", "integer", "bigint", "oid")

Element = str | int | float | None


def read_array(text: str, element: SqlType) -> list[Element]:
    """The elements of an array of one dimension.

    >>> read_array('{1,NULL}', SqlType("integer")), read_array('{r,"a, b"}', SqlType("text"))
    ([1, None], ['r', 'a, b'])
    """
    stripped = text.strip()
    if not (stripped.startswith("{") and stripped.endswith("}")):
        if element.name in _INTEGERS and re.fullmatch(r"[\d\s]*", stripped):
            return [int(word) for word in stripped.split()]  # a vector
        raise _malformed(text)
    body, at, elements = stripped[1:-1], 0, list[Element]()
    while at < len(body):
        match = _ELEMENT.match(body, at)
        if match is None:
            raise _malformed(text)
        elements.append(_value(match, element, text))
        at = match.end()
    return elements


def _value(match: re.Match[str], element: SqlType, text: str) -> Element:
    if match[1] is None and match[2].upper() == "NULL":
        return None
    raw = re.sub(r"\\(.)", r"\1", match[1] if match[1] is not None else match[2], flags=re.DOTALL)
    if element.name in _INTEGERS:
        try:
            return int(raw)
        except ValueError:
            raise _malformed(text) from None
    return int(raw in ("t", "true")) if element.name == "boolean" else raw


def write_array(elements: Sequence[object], sql_type: SqlType) -> str:
    """A list as PostgreSQL prints it; vectors have no braces.

    >>> write_array(["a", None, "b c"], SqlType("text[]")), write_array([1, 2], SqlType("int2vector"))
    ('{a,NULL,"b c"}', '1 2')
    """
    if not sql_type.is_array:
        return " ".join(str(element) for element in elements)
    return "{" + ",".join(_written(element, sql_type.element) for element in elements) + "}"


def _written(element: object, kind: SqlType) -> str:
    if element is None:
        return "NULL"
    if kind.name == "boolean":
        return "t" if element else "f"
    text = str(element)
    if not _QUOTED.fullmatch(text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _malformed(text: str) -> MillpondError:
    return MillpondError(SqlState.INVALID_TEXT_REPRESENTATION, f'malformed array literal: "{text}"')

"""Reading the statements of cursors and of notifications."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from millpond.setting import Setting
from millpond.sql.session_records import CloseCursor, DeclareCursor, Direction, Fetch, Listen, Notify, Unlisten
from millpond.sql.statements import QueryTree, Statement
from millpond.sql.subscribe import Subscribe
from millpond.sql.tokens import TokenCursor

_TIMEOUT = Setting("timeout", 0, "ms", "How long FETCH waits for the first row of a subscription.")

_ONE_ROW: dict[str, tuple[Direction, int]] = {
    "NEXT": ("forward", 1),
    "PRIOR": ("backward", 1),
    "FIRST": ("absolute", 1),
    "LAST": ("absolute", -1),
}


def read_declare(
    cursor: TokenCursor, parse_query: Callable[[int], QueryTree], subscribe: Callable[[], Subscribe]
) -> DeclareCursor:
    """`name [options] CURSOR [WITH HOLD] FOR query`; `parse_query` reads the text from a place on, `subscribe` what
    follows that word."""
    name, scroll, binary = cursor.identifier(), False, False
    while not cursor.accept("CURSOR"):
        if cursor.accept("BINARY"):
            binary = True
        elif cursor.accept("SCROLL"):
            scroll = True
        elif not (cursor.accept("NO", "SCROLL") or cursor.accept("INSENSITIVE") or cursor.accept("ASENSITIVE")):
            raise cursor.error()
    hold = cursor.accept("WITH", "HOLD")
    if not hold:
        cursor.accept("WITHOUT", "HOLD")
    cursor.expect("FOR")
    query = subscribe() if cursor.accept("SUBSCRIBE") else parse_query(cursor.position - 1)
    return DeclareCursor(name, query, scroll, hold, binary, cursor.text)


def _fetch(cursor: TokenCursor) -> Statement:
    direction, count = _reach(cursor)
    cursor.accept("FROM") or cursor.accept("IN")
    name = cursor.identifier()
    timeout_ms = _timeout(cursor) if cursor.accept("WITH") else None
    cursor.end()
    return Fetch(name, direction, count, timeout_ms=timeout_ms)


def _timeout(cursor: TokenCursor) -> int:
    """`(timeout = '1s')`"""
    cursor.expect("(", "TIMEOUT", "=")
    value = _TIMEOUT.parse(cursor.next().text)
    cursor.expect(")")
    assert isinstance(value, int)
    return value


def _move(cursor: TokenCursor) -> Statement:
    fetch = _fetch(cursor)
    assert isinstance(fetch, Fetch)
    return replace(fetch, is_move=True)


def _reach(cursor: TokenCursor) -> tuple[Direction, int | None]:
    """Where to go and how far; nothing is a step forward."""
    for word, one_row in _ONE_ROW.items():
        if cursor.accept(word):
            return one_row
    if cursor.accept("ABSOLUTE"):
        return "absolute", _number(cursor)
    if cursor.accept("RELATIVE"):
        return "relative", _number(cursor)
    backward = cursor.accept("BACKWARD")
    if not backward:
        cursor.accept("FORWARD")
    direction: Direction = "backward" if backward else "forward"
    if cursor.accept("ALL"):
        return direction, None
    count = _number(cursor) if _is_number(cursor) else 1
    return ("forward" if backward else "backward", -count) if count < 0 else (direction, count)


def _is_number(cursor: TokenCursor) -> bool:
    return cursor.token is not None and (cursor.token.text in "+-" or cursor.token.text.isdigit())


def _number(cursor: TokenCursor) -> int:
    sign = -1 if cursor.accept("-") else 1
    if sign > 0:
        cursor.accept("+")
    if not _is_number(cursor):
        raise cursor.error()
    return sign * int(cursor.next().text)


def _close(cursor: TokenCursor) -> Statement:
    name = None if cursor.accept("ALL") else cursor.identifier()
    cursor.end()
    return CloseCursor(name)


def _listen(cursor: TokenCursor) -> Statement:
    channel = cursor.identifier()
    cursor.end()
    return Listen(channel)


def _unlisten(cursor: TokenCursor) -> Statement:
    channel = None if cursor.accept("*") else cursor.identifier()
    cursor.end()
    return Unlisten(channel)


def _notify(cursor: TokenCursor) -> Statement:
    channel = cursor.identifier()
    payload = cursor.string() if cursor.accept(",") else ""
    cursor.end()
    return Notify(channel, payload)


HANDLERS: tuple[tuple[tuple[str, ...], Callable[[TokenCursor], Statement]], ...] = (
    (("FETCH",), _fetch),
    (("MOVE",), _move),
    (("CLOSE",), _close),
    (("LISTEN",), _listen),
    (("UNLISTEN",), _unlisten),
    (("NOTIFY",), _notify),
)

"""Reading SET, SHOW, RESET, DEALLOCATE and DISCARD."""

from __future__ import annotations

from collections.abc import Callable

from millpond.errors import not_supported
from millpond.sql.session_records import Deallocate, Discard, ResetSetting, SetSetting, ShowSetting
from millpond.sql.statements import Statement
from millpond.sql.tokens import TokenCursor
from millpond.sql.transactions import set_transaction


def _set(cursor: TokenCursor) -> Statement:
    if cursor.accept("TRANSACTION"):
        return set_transaction(cursor, for_session=False)
    if cursor.accept("SESSION", "CHARACTERISTICS", "AS", "TRANSACTION"):
        return set_transaction(cursor, for_session=True)
    if cursor.accept("CONSTRAINTS"):
        raise not_supported("SET CONSTRAINTS", hint="Constraints are checked by each statement.")
    local = cursor.accept("LOCAL")
    if not local:
        cursor.accept("SESSION")
    if cursor.accept("TIME", "ZONE"):
        return SetSetting("timezone", _zone(cursor), local)
    if cursor.accept("NAMES"):
        return SetSetting("client_encoding", "UTF8" if cursor.at_end else _value(cursor), local)
    name = _setting_name(cursor)
    if not cursor.accept("="):
        cursor.expect("TO")
    return SetSetting(name, _value(cursor), local)


def _value(cursor: TokenCursor) -> str | None:
    """A value, or several between commas: strings, words and numbers; None for DEFAULT."""
    if cursor.accept("DEFAULT"):
        cursor.end()
        return None
    values = [_one_value(cursor)]
    while cursor.accept(","):
        values.append(_one_value(cursor))
    cursor.end()
    return ", ".join(values)


def _one_value(cursor: TokenCursor) -> str:
    sign = "-" if cursor.accept("-") else ""
    if not sign:
        cursor.accept("+")
    return sign + cursor.next().text


def _zone(cursor: TokenCursor) -> str | None:
    """A zone as SET TIME ZONE has it: LOCAL is the default, and an interval is as good as its text."""
    if cursor.accept("LOCAL"):
        cursor.end()
        return None
    cursor.accept("INTERVAL")
    return _value(cursor)


def _setting_name(cursor: TokenCursor) -> str:
    name = cursor.identifier()
    while cursor.accept("."):
        name = f"{name}.{cursor.identifier()}"
    return name


def _named_setting(cursor: TokenCursor) -> str:
    """A setting, perhaps by the words that the standard has for it."""
    if cursor.accept("TRANSACTION", "ISOLATION", "LEVEL"):
        name = "transaction_isolation"
    else:
        name = "timezone" if cursor.accept("TIME", "ZONE") else _setting_name(cursor)
    cursor.end()
    return name


def _show(cursor: TokenCursor) -> Statement:
    return ShowSetting(_named_setting(cursor))


def _reset(cursor: TokenCursor) -> Statement:
    return ResetSetting(_named_setting(cursor))


def _deallocate(cursor: TokenCursor) -> Statement:
    cursor.accept("PREPARE")
    name = None if cursor.accept("ALL") else cursor.identifier()
    cursor.end()
    return Deallocate(name)


def _discard(cursor: TokenCursor) -> Statement:
    if cursor.accept("TEMPORARY") or cursor.accept("TEMP"):
        cursor.end()
        return Discard("TEMP")
    for what in ("ALL", "PLANS", "SEQUENCES"):
        if cursor.accept(what):
            cursor.end()
            return Discard(what)
    raise cursor.error()


HANDLERS: tuple[tuple[tuple[str, ...], Callable[[TokenCursor], Statement]], ...] = (
    (("SET",), _set),
    (("SHOW",), _show),
    (("RESET",), _reset),
    (("DEALLOCATE",), _deallocate),
    (("DISCARD",), _discard),
)

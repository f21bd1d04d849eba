"""The start of a connection: which protocol, which database, which settings. Pure: what to answer, not how."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from millpond.errors import MillpondError, SqlState, not_supported
from millpond.pgcatalog.objects import DATABASE
from millpond.wire.backend import NegotiateProtocolVersion
from millpond.wire.startup import PROTOCOL_NEWEST, Startup

_PROTOCOL_OPTION = "_pq_."
_OPTION = re.compile(r"(?:-c\s*|--)([A-Za-z_][\w.]*)=((?:\\.|\S)*)")


@dataclass(frozen=True)
class Opening:
    """What a client asked for when it connected."""

    user: str
    version: int
    settings: Mapping[str, str]
    negotiation: NegotiateProtocolVersion | None


def read_startup(startup: Startup) -> Opening:
    """What the client asks for, checked as far as that goes without knowing who it is."""
    parameters = dict(startup.parameters)
    unknown = tuple(name for name in parameters if name.startswith(_PROTOCOL_OPTION))
    user = parameters.pop("user", "")
    if not user:
        message = "no PostgreSQL user name specified in startup packet"
        raise MillpondError(SqlState.INVALID_AUTHORIZATION_SPECIFICATION, message)
    if parameters.pop("replication", "false").lower() not in ("false", "off", "no", "0"):
        raise not_supported("replication")
    _check_database(parameters.pop("database", user))
    settings = dict(_options(parameters.pop("options", "")))
    settings |= {name: value for name, value in parameters.items() if name not in unknown}
    # Drivers name the time zone of their machine unasked; the session stays in UTC, as the client is told.
    settings = {name: value for name, value in settings.items() if name.lower() != "timezone"}
    version = min(startup.version, PROTOCOL_NEWEST)
    differs = version != startup.version or unknown
    return Opening(user, version, settings, NegotiateProtocolVersion(version, unknown) if differs else None)


def _check_database(name: str) -> None:
    if name != DATABASE:
        message = f'database "{name}" does not exist'
        hint = f'The database of a pond is called "{DATABASE}".'
        raise MillpondError(SqlState.INVALID_CATALOG_NAME, message, hint=hint)


def _options(text: str) -> Iterator[tuple[str, str]]:
    """`-c name=value --name=value`, blanks in values behind a backslash.

    >>> list(_options(r"-c statement_timeout=5s --application_name=a\\ b"))
    [('statement_timeout', '5s'), ('application_name', 'a b')]
    """
    at = 0
    stripped = text.strip()
    while at < len(stripped):
        match = _OPTION.match(stripped, at)
        if match is None:
            message = f'invalid command-line argument for server process: "{stripped[at:]}"'
            raise MillpondError(SqlState.SYNTAX_ERROR, message)
        yield match[1], re.sub(r"\\(.)", r"\1", match[2])
        at = match.end()
        while at < len(stripped) and stripped[at].isspace():
            at += 1

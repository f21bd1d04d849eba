"""Who a client is: SCRAM-SHA-256 against the roles, or anyone on this machine while nobody has a password."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable

from millpond.catalog import Catalog
from millpond.errors import MillpondError, SqlState
from millpond.namespace import DATABASE
from millpond.privileges.acl import CONNECT
from millpond.privileges.authority import Authority
from millpond.privileges.identity import Login
from millpond.roles import Role
from millpond.scram import MECHANISM, ScramExchange, Verifier
from millpond.wire import fields
from millpond.wire.backend import Authentication
from millpond.wire.fields import Reader, violation
from millpond.wire.frontend import Password
from millpond.wire.message import Message

SASL, SASL_CONTINUE, SASL_FINAL = 10, 11, 12

DELAY_FIRST_S = 0.1
DELAY_MAX_S = 5.0
"""A wrong password is answered late: after 0.1 s, then twice as late each time."""

FAILURES_KEPT = 10_000
"""Users whose failures are remembered; guessing names must not fill the memory."""

Send = Callable[[Message], Awaitable[None]]
Receive = Callable[[], Awaitable[Message]]


class Authenticator:
    """The gate of one server."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._failures: OrderedDict[str, int] = OrderedDict()

    @property
    def wants_passwords(self) -> bool:
        """Whether a password is needed: as soon as a superuser has one, who could then give them to others."""
        return any(role.superuser and role.verifier for role in self._catalog.snapshot.roles.values())

    async def identify(self, user: str, send: Send, receive: Receive) -> Login:
        """Find out who the client is; raises if it is not who it says, or may not connect."""
        role = self._catalog.snapshot.roles.get(user)
        if not self.wants_passwords:
            if role is None:
                return Login(user, trusted=True)
        else:
            await self._prove(user, role, send, receive)
        assert role is not None
        self._check_allowed(role)
        return Login(user)

    def _check_allowed(self, role: Role) -> None:
        """Whether a role may log in, and connect to the database."""
        if not role.login:
            message = f'role "{role.name}" is not permitted to log in'
            raise MillpondError(SqlState.INVALID_AUTHORIZATION_SPECIFICATION, message)
        snapshot = self._catalog.snapshot
        if not Authority.of(role.name, snapshot.roles).may(CONNECT, snapshot.namespaces[DATABASE]):
            message = f'permission denied for database "{DATABASE[1]}"'
            detail = "User does not have CONNECT privilege."
            raise MillpondError(SqlState.INSUFFICIENT_PRIVILEGE, message, detail=detail)

    async def _prove(self, user: str, role: Role | None, send: Send, receive: Receive) -> None:
        """The exchange; for a user that does not exist, or has no password, it goes the same way to its end."""
        stored = Verifier.loads(role.verifier) if role is not None and role.verifier else None
        exchange = ScramExchange(stored or Verifier.mock(user, self._catalog.secret))
        await send(Authentication(SASL, fields.string(MECHANISM) + b"\0"))
        first = exchange.first(_initial_response(await _password(receive)))
        await send(Authentication(SASL_CONTINUE, first))
        final = exchange.final(await _password(receive))
        if final is None or stored is None:
            await self._delay(user)
            message = f'password authentication failed for user "{user}"'
            raise MillpondError(SqlState.INVALID_PASSWORD, message)
        self._failures.pop(user, None)
        await send(Authentication(SASL_FINAL, final))

    async def _delay(self, user: str) -> None:
        failures = self._failures.pop(user, 0) + 1
        self._failures[user] = failures
        if len(self._failures) > FAILURES_KEPT:
            self._failures.popitem(last=False)
        await asyncio.sleep(min(DELAY_FIRST_S * 2 ** min(failures - 1, 16), DELAY_MAX_S))


async def _password(receive: Receive) -> bytes:
    message = await receive()
    if not isinstance(message, Password):
        raise violation(f"expected SASL response, got message type {message.code[0]}")
    return message.data


def _initial_response(data: bytes) -> bytes:
    reader = Reader(data)
    if reader.string() != MECHANISM:
        raise violation("client selected an invalid SASL authentication mechanism")
    first = reader.value()
    reader.end()
    return first or b""

"""SCRAM-SHA-256 (RFC 5802 and 7677), the server's side: verifiers instead of passwords, and the exchange.

1. client: n,,n=,r=<its nonce>                            `ScramExchange.first`
2. server: r=<both nonces>,s=<salt>,i=<iterations>
3. client: c=biws,r=<both nonces>,p=<proof>               `ScramExchange.final`
4. server: v=<signature>

The proof shows that the client knows the password; the signature shows that the server knows its verifier.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import secrets
import stringprep
import unicodedata
from dataclasses import dataclass
from typing import Self

from millpond.errors import MillpondError, SqlState

MECHANISM = "SCRAM-SHA-256"
ITERATIONS = 4096
"""PostgreSQL's default: the client pays for each of them at every connection."""

_SALT_BYTES = 16
_NONCE_BYTES = 18
_KEY_BYTES = 32
_STORED = re.compile(r"SCRAM-SHA-256\$([0-9]{1,9}):([A-Za-z0-9+/=]+)\$([A-Za-z0-9+/=]+):([A-Za-z0-9+/=]+)")
_FIRST = re.compile(r"([ny]|p=[^,]*),(?:a=[^,]*)?,(n=[^,]*,r=([\x21-\x2b\x2d-\x7e]+))(?:,.*)?")
_FINAL = re.compile(r"(c=([A-Za-z0-9+/=]+),r=([\x21-\x2b\x2d-\x7e]+))(?:,.*?)?,p=([A-Za-z0-9+/=]+)")


@dataclass(frozen=True)
class Verifier:
    """What a password leaves behind: enough to check one, not enough to be one."""

    iterations: int
    salt: bytes
    stored_key: bytes
    server_key: bytes

    @classmethod
    def of(cls, password: str, *, salt: bytes | None = None, iterations: int = ITERATIONS) -> Self:
        salt = secrets.token_bytes(_SALT_BYTES) if salt is None else salt
        salted = hashlib.pbkdf2_hmac("sha256", prepared(password).encode(), salt, iterations)
        client_key = _hmac(salted, b"Client Key")
        return cls(iterations, salt, hashlib.sha256(client_key).digest(), _hmac(salted, b"Server Key"))

    @classmethod
    def mock(cls, user: str, secret: bytes) -> Self:
        """A verifier for a user that does not exist: always the same salt, and no password that fits."""
        salt = _hmac(secret, user.encode())[:_SALT_BYTES]
        return cls(ITERATIONS, salt, secrets.token_bytes(_KEY_BYTES), secrets.token_bytes(_KEY_BYTES))

    @classmethod
    def loads(cls, text: str) -> Self | None:
        """The verifier that a text holds, if it is one.

        >>> Verifier.loads("secret") is None
        True
        """
        match = _STORED.fullmatch(text)
        if match is None:
            return None
        salt, stored_key, server_key = (_from_base64(part) for part in match.groups()[1:])
        if not salt or len(stored_key) != _KEY_BYTES or len(server_key) != _KEY_BYTES or not int(match[1]):
            return None
        return cls(int(match[1]), salt, stored_key, server_key)

    def dumps(self) -> str:
        """As PostgreSQL stores it."""
        keys = f"{_base64(self.stored_key)}:{_base64(self.server_key)}"
        return f"{MECHANISM}${self.iterations}:{_base64(self.salt)}${keys}"


class ScramExchange:
    """One attempt of one client. Everything about it but its outcome is the same for users that do not exist."""

    def __init__(self, verifier: Verifier, *, nonce: str | None = None) -> None:
        self._verifier = verifier
        self._nonce = nonce or secrets.token_urlsafe(_NONCE_BYTES)
        self._header = b""
        self._messages: list[str] = []

    def first(self, data: bytes) -> bytes:
        """Step 2, in answer to step 1."""
        match = _FIRST.fullmatch(_text(data))
        if match is None:
            raise _malformed()
        if match[1].startswith("p"):
            raise _malformed("The client selected channel binding, which was not offered.")
        self._header = data[: data.index(b",", data.index(b",") + 1) + 1]
        self._nonce = match[3] + self._nonce
        answer = f"r={self._nonce},s={_base64(self._verifier.salt)},i={self._verifier.iterations}"
        self._messages = [match[2], answer]
        return answer.encode()

    def final(self, data: bytes) -> bytes | None:
        """Step 4, in answer to step 3; None if the password is wrong."""
        match = _FINAL.fullmatch(_text(data))
        if match is None or match[3] != self._nonce or _from_base64(match[2]) != self._header:
            raise _malformed()
        signed = ",".join([*self._messages, match[1]]).encode()
        signature = _hmac(self._verifier.stored_key, signed)
        client_key = bytes(a ^ b for a, b in zip(_from_base64(match[4]), signature, strict=False))
        if not hmac.compare_digest(hashlib.sha256(client_key).digest(), self._verifier.stored_key):
            return None
        return f"v={_base64(_hmac(self._verifier.server_key, signed))}".encode()


def prepared(password: str) -> str:
    """The password as SASLprep (RFC 4013) compares it; one that it forbids stays as it is, as in PostgreSQL.

    >>> prepared("I\\u00adX"), prepared("\\u2168")
    ('IX', 'IX')
    """
    mapped = "".join(
        " " if stringprep.in_table_c12(character) else character
        for character in password
        if not stringprep.in_table_b1(character)
    )
    normal = unicodedata.normalize("NFKC", mapped)
    forbidden = any(table(character) for character in normal for table in _FORBIDDEN)
    return password if forbidden or not normal or _mixes_directions(normal) else normal


_FORBIDDEN = (
    stringprep.in_table_c12,
    stringprep.in_table_c21_c22,
    stringprep.in_table_c3,
    stringprep.in_table_c4,
    stringprep.in_table_c5,
    stringprep.in_table_c6,
    stringprep.in_table_c7,
    stringprep.in_table_c8,
    stringprep.in_table_c9,
    stringprep.in_table_a1,
)


def _mixes_directions(text: str) -> bool:
    """Text that runs from right to left has nothing in it that does not, and begins and ends with it."""
    if not any(map(stringprep.in_table_d1, text)):
        return False
    ends = stringprep.in_table_d1(text[0]) and stringprep.in_table_d1(text[-1])
    return any(map(stringprep.in_table_d2, text)) or not ends


def _malformed(detail: str | None = None) -> MillpondError:
    return MillpondError(SqlState.PROTOCOL_VIOLATION, "malformed SCRAM message", detail=detail)


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise _malformed() from None


def _hmac(key: bytes, data: bytes) -> bytes:
    return hmac.digest(key, data, "sha256")


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _from_base64(text: str) -> bytes:
    """The bytes; none if the text is no base64, which then compares unequal to everything."""
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        return b""

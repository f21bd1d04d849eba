"""The messages that open a connection. They have no type byte: a number in their place tells them apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from millpond.errors import MillpondError, SqlState
from millpond.wire import fields
from millpond.wire.fields import Reader, violation

PROTOCOL_3_0 = 3 << 16
PROTOCOL_3_2 = 3 << 16 | 2
PROTOCOL_NEWEST = PROTOCOL_3_2

CANCEL_CODE = 1234 << 16 | 5678
SSL_CODE = 1234 << 16 | 5679
GSSENC_CODE = 1234 << 16 | 5680

SECRET_BYTES_MAX = 256
"""A longer key to cancel with is no key of ours, nor of any server's by the protocol."""


@dataclass(frozen=True)
class SslRequest:
    """May we go on under TLS?"""

    def encode(self) -> bytes:
        return fields.int32(8) + fields.int32(SSL_CODE)


@dataclass(frozen=True)
class GssEncRequest:
    """May we go on under GSSAPI's encryption?"""

    def encode(self) -> bytes:
        return fields.int32(8) + fields.int32(GSSENC_CODE)


@dataclass(frozen=True)
class CancelRequest:
    """Cancel what another connection runs, named by the key that it was given."""

    process: int
    secret: bytes

    def encode(self) -> bytes:
        return (
            fields.int32(12 + len(self.secret)) + fields.int32(CANCEL_CODE) + fields.int32(self.process) + self.secret
        )


@dataclass(frozen=True)
class Startup:
    """The protocol's version and the parameters of the session: user, database, settings."""

    version: int = PROTOCOL_3_0
    parameters: Mapping[str, str] = field(default_factory=dict)

    def encode(self) -> bytes:
        pairs = b"".join(fields.string(name) + fields.string(text) for name, text in self.parameters.items())
        body = fields.int32(self.version) + pairs + b"\0"
        return fields.int32(len(body) + 4) + body


Opening = SslRequest | GssEncRequest | CancelRequest | Startup


def decode_opening(body: bytes) -> Opening:
    """The opening message whose body, without the length, this is."""
    reader = Reader(body)
    code = reader.int32()
    if code == SSL_CODE:
        opening: Opening = SslRequest()
    elif code == GSSENC_CODE:
        opening = GssEncRequest()
    elif code == CANCEL_CODE:
        opening = CancelRequest(reader.int32(), _secret(reader))
    elif code >> 16 == 3:
        opening = Startup(code, _parameters(reader))
    else:
        raise _unsupported(code)
    reader.end()
    return opening


def _unsupported(code: int) -> MillpondError:
    shown = f"{code >> 16 & 0xFFFF}.{code & 0xFFFF}"
    message = f"unsupported frontend protocol {shown}: server supports 3.0 to 3.2"
    return MillpondError(SqlState.FEATURE_NOT_SUPPORTED, message)


def _secret(reader: Reader) -> bytes:
    if not 1 <= reader.left <= SECRET_BYTES_MAX:
        raise violation("invalid length of query cancel packet")
    return reader.rest()


def _parameters(reader: Reader) -> dict[str, str]:
    parameters: dict[str, str] = {}
    while name := reader.string():
        parameters[name] = reader.string()
    return parameters

"""Who may reach a server, decided before it listens: the first superuser, TLS, and what is refused without them."""

from __future__ import annotations

import ipaddress
import secrets
import ssl
from dataclasses import dataclass
from pathlib import Path

from millpond.errors import MillpondError, SqlState
from millpond.pond import Pond
from millpond.roles import FIRST_ROLE, Role
from millpond.scram import Verifier

_PASSWORD_BYTES = 18


@dataclass(frozen=True)
class Security:
    """What the command line says."""

    tls_cert: str | None = None
    tls_key: str | None = None
    insecure: bool = False
    password_file: str | None = None
    generate_password: bool = False


def tls_context(security: Security) -> ssl.SSLContext | None:
    if security.tls_cert is None and security.tls_key is None:
        return None
    if security.tls_cert is None or security.tls_key is None:
        raise _refused("TLS needs both --tls-cert and --tls-key")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(security.tls_cert, security.tls_key)
    except (OSError, ssl.SSLError) as error:
        raise _refused(f"could not load the certificate or its key: {error}") from error
    return context


def check_host(host: str, security: Security, tls: ssl.SSLContext | None, *, wants_passwords: bool) -> None:
    """Refuse to listen where strangers are, unless they need a password and cannot overhear one."""
    if is_loopback(host):
        return
    if not wants_passwords:
        hint = "Give the first superuser a password with --password-file or --generate-password."
        raise _refused(f'without a password the server listens on loopback only, not on "{host}"', hint=hint)
    if tls is None and not security.insecure:
        hint = "Use --tls-cert and --tls-key, or --insecure if the network is trusted."
        raise _refused(f'listening on "{host}" needs TLS', hint=hint)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches the address.

    >>> is_loopback("localhost"), is_loopback("::1"), is_loopback("0.0.0.0"), is_loopback("db.example.org")
    (True, True, False, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def create_first_role(pond: Pond, security: Security) -> str | None:
    """Create the first superuser, or give it its first password; gives back a password that was made up."""
    catalog = pond.services.catalog
    known = catalog.snapshot.roles.get(FIRST_ROLE)
    if known is not None and (known.verifier or not _wants_password(security)):
        return None
    password = _first_password(security)
    verifier = None if password is None else Verifier.of(password).dumps()
    with catalog.commit_lock:
        catalog.commit({}, {FIRST_ROLE: Role(FIRST_ROLE, superuser=True, verifier=verifier)})
    return password if security.generate_password else None


def _wants_password(security: Security) -> bool:
    return security.generate_password or security.password_file is not None


def _first_password(security: Security) -> str | None:
    if security.generate_password:
        return secrets.token_urlsafe(_PASSWORD_BYTES)
    if security.password_file is None:
        return None
    try:
        password = Path(security.password_file).read_text(encoding="utf-8").rstrip("\r\n")
    except OSError as error:
        raise _refused(f'could not read "{security.password_file}": {error.strerror}') from error
    if not password:
        raise _refused(f'the password in "{security.password_file}" is empty')
    return password


def _refused(message: str, *, hint: str | None = None) -> MillpondError:
    return MillpondError(SqlState.INVALID_PARAMETER_VALUE, message, hint=hint)

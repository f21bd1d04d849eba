"""Roles: who may connect, and as what. Records of the catalog, like relations."""

from __future__ import annotations

from dataclasses import dataclass

FIRST_ROLE = "millpond"
"""The superuser that a server creates when a pond has no roles yet."""


@dataclass(frozen=True)
class Role:
    """A role; `verifier` is what SCRAM keeps instead of a password, None for a role that has none."""

    name: str
    superuser: bool = False
    login: bool = True
    verifier: str | None = None

"""What relations live in, the schema and the database: records of the catalog for who owns and may use them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from millpond.privileges.acl import Acl
from millpond.roles import FIRST_ROLE

NamespaceKind = Literal["schema", "database"]
NamespaceKey = tuple[NamespaceKind, str]

DATABASE: NamespaceKey = ("database", "pond")
PUBLIC_SCHEMA: NamespaceKey = ("schema", "public")


@dataclass(frozen=True)
class Namespace:
    """A schema or the database; `acl` is None as long as nobody granted anything on it."""

    kind: NamespaceKind
    name: str
    owner: str = FIRST_ROLE
    acl: Acl | None = None

    @property
    def key(self) -> NamespaceKey:
        return self.kind, self.name


NAMESPACES: Mapping[NamespaceKey, Namespace] = {key: Namespace(*key) for key in (DATABASE, PUBLIC_SCHEMA)}
"""Those that every pond has, as they are until somebody changes them."""

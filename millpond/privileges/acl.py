"""Access lists, as PostgreSQL keeps them: who was granted which privileges by whom. Pure values.

An object that nobody granted anything on has no list (None) and is as `default_acl` says. Everything starts from the
owner, who may always grant; a grant option makes others do so, and what they granted hangs on it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Literal

from millpond.errors import MillpondError, SqlState

PUBLIC = ""
"""The grantee that stands for everyone."""

LETTERS = {
    "INSERT": "a",
    "SELECT": "r",
    "UPDATE": "w",
    "DELETE": "d",
    "TRUNCATE": "D",
    "USAGE": "U",
    "CREATE": "C",
    "CONNECT": "c",
}
"""The privileges by name, and their letters in the order in which they are shown."""

INSERT, SELECT, UPDATE, DELETE, TRUNCATE, USAGE, CREATE, CONNECT = LETTERS.values()

Securable = Literal["relation", "column", "schema", "database"]

ALL: dict[Securable, str] = {
    "relation": INSERT + SELECT + UPDATE + DELETE + TRUNCATE,
    "column": INSERT + SELECT + UPDATE,
    "schema": USAGE + CREATE,
    "database": CREATE + CONNECT,
}
"""What can be granted on each kind of object."""

_TO_PUBLIC: dict[Securable, str] = {"relation": "", "column": "", "schema": USAGE, "database": CONNECT}


@dataclass(frozen=True)
class AclItem:
    """What one role was granted by another: letters, and those among them that it may grant on."""

    grantee: str
    grantor: str
    privileges: str
    grantable: str = ""

    def __str__(self) -> str:
        """As PostgreSQL shows it.

        >>> str(AclItem("alice", "bob", "arw", "r")), str(AclItem(PUBLIC, "Bob B", "U"))
        ('alice=ar*w/bob', '=U/"Bob B"')
        """
        letters = "".join(letter + "*" * (letter in self.grantable) for letter in self.privileges)
        return f"{_quoted(self.grantee)}={letters}/{_quoted(self.grantor)}"


Acl = tuple[AclItem, ...]


def parse_item(text: str) -> AclItem:
    """An item from the text that shows it.

    >>> parse_item('alice=ar*w/"Bob B"')
    AclItem(grantee='alice', grantor='Bob B', privileges='arw', grantable='r')
    """
    grants, _, grantor = text.rpartition("/")
    grantee, _, letters = grants.rpartition("=")
    grantable = re.findall(r"(.)\*", letters)
    return AclItem(_unquoted(grantee), _unquoted(grantor), letters.replace("*", ""), "".join(grantable))


def default_acl(kind: Securable, owner: str) -> Acl:
    """The list of an object that nobody granted anything on.

    >>> acl_texts(default_acl("schema", "bob"))
    ['=U/bob', 'bob=UC/bob']
    """
    if kind == "column":
        return ()
    public = (AclItem(PUBLIC, owner, _TO_PUBLIC[kind]),) if _TO_PUBLIC[kind] else ()
    return (*public, AclItem(owner, owner, ALL[kind]))


def acl_texts(acl: Acl) -> list[str]:
    return [str(item) for item in acl]


def held(acl: Acl, roles: Collection[str]) -> set[str]:
    """The letters that any of the roles holds, or everyone."""
    return {letter for item in acl if item.grantee == PUBLIC or item.grantee in roles for letter in item.privileges}


def grantable(acl: Acl, role: str) -> set[str]:
    """The letters that a role may grant on by what it was granted; everyone's grants have no option."""
    return {letter for item in acl if item.grantee == role for letter in item.grantable}


def granted(acl: Acl, grantor: str, grantee: str, letters: Iterable[str], *, option: bool = False) -> Acl:
    """The list after a GRANT.

    >>> acl_texts(granted(default_acl("relation", "bob"), "bob", "alice", "ra", option=True))
    ['bob=arwdD/bob', 'alice=a*r*/bob']
    """
    old = _item(acl, grantor, grantee)
    more = set(letters)
    new = replace(
        old,
        privileges=_ordered(more.union(old.privileges)),
        grantable=_ordered(set(old.grantable) | (more if option else set())),
    )
    return _put(acl, new)


def revoked(
    acl: Acl,
    owner: str,
    grantor: str,
    grantee: str,
    letters: Collection[str],
    *,
    option_only: bool = False,
    cascade: bool = False,
) -> Acl:
    """The list after a REVOKE of what this grantor granted; what hangs on it goes too, or is an error.

    >>> acl = granted((), "bob", "alice", "r", option=True)
    >>> acl = granted(acl, "alice", "carol", "r")
    >>> revoked(acl, "bob", "bob", "alice", "r", cascade=True)
    ()
    """
    old = _item(acl, grantor, grantee)
    kept = old.privileges if option_only else _without(old.privileges, letters)
    acl = _put(acl, replace(old, privileges=kept, grantable=_without(old.grantable, letters)))
    lost = set(letters) & set(old.grantable) - grantable(acl, grantee)
    if grantee == owner:
        return acl
    for hanging in [item for item in acl if item.grantor == grantee and lost & set(item.privileges)]:
        if not cascade:
            raise MillpondError(
                SqlState.DEPENDENT_OBJECTS_STILL_EXIST,
                "dependent privileges exist",
                hint="Use CASCADE to revoke them too.",
            )
        acl = revoked(acl, owner, grantee, hanging.grantee, lost, cascade=True)
    return acl


def would_circle(acl: Acl, owner: str, grantor: str, grantee: str, letters: Collection[str]) -> bool:
    """Whether a grant option would, through others, hang on itself: then no REVOKE could end it."""
    if grantor == owner:
        return False
    givers = {item.grantor for item in acl if item.grantee == grantor and set(letters) & set(item.grantable)}
    return grantee in givers or any(would_circle(acl, owner, giver, grantee, letters) for giver in givers)


def with_owner(acl: Acl, old: str, new: str) -> Acl:
    """The list when its object changes hands: what the old owner has and granted is now the new one's."""
    changed: Acl = ()
    for item in acl:
        grantor, grantee = (new if role == old else role for role in (item.grantor, item.grantee))
        before = _item(changed, grantor, grantee)
        both = AclItem(
            grantee,
            grantor,
            _ordered({*before.privileges, *item.privileges}),
            _ordered({*before.grantable, *item.grantable}),
        )
        changed = _put(changed, both)
    return changed


def without_role(acl: Acl, role: str, owner: str) -> Acl:
    """The list without what a role was granted, and what others have only from it."""
    for item in [item for item in acl if item.grantee == role]:
        acl = revoked(acl, owner, item.grantor, role, item.privileges, cascade=True)
    return acl


def roles_in(acl: Acl) -> set[str]:
    """The roles that a list names."""
    return {role for item in acl for role in (item.grantor, item.grantee) if role != PUBLIC}


def _item(acl: Acl, grantor: str, grantee: str) -> AclItem:
    found = (item for item in acl if (item.grantor, item.grantee) == (grantor, grantee))
    return next(found, AclItem(grantee, grantor, ""))


def _put(acl: Acl, new: AclItem) -> Acl:
    """The list with an item in the place of that of the same roles; one without privileges is left out."""
    same = [place for place, item in enumerate(acl) if (item.grantor, item.grantee) == (new.grantor, new.grantee)]
    place = same[0] if same else len(acl)
    return (*acl[:place], *([new] if new.privileges else []), *acl[place + 1 :])


def _ordered(letters: Collection[str]) -> str:
    return "".join(letter for letter in LETTERS.values() if letter in letters)


def _without(letters: str, gone: Collection[str]) -> str:
    return "".join(letter for letter in letters if letter not in gone)


def _quoted(role: str) -> str:
    return role if re.fullmatch(r"\w*", role) else '"' + role.replace('"', '""') + '"'


def _unquoted(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name

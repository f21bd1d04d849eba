"""Access lists: grants add up, revokes take back exactly what was granted, and nothing hangs in the air."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millpond.errors import MillpondError
from millpond.privileges.acl import (
    ALL,
    PUBLIC,
    Acl,
    acl_texts,
    default_acl,
    grantable,
    granted,
    held,
    revoked,
    roles_in,
    with_owner,
    without_role,
    would_circle,
)

OWNER = "owner"
ROLES = ("owner", "alice", "bob", "carol")
LETTERS = ALL["relation"]

letters = st.sets(st.sampled_from(LETTERS), min_size=1)
grants = st.lists(st.tuples(st.sampled_from(ROLES), st.sampled_from((*ROLES[1:], PUBLIC)), letters, st.booleans()))


def after(steps: list[tuple[str, str, set[str], bool]]) -> Acl:
    """A list after grants, each of what its grantor may grant."""
    acl = default_acl("relation", OWNER)
    for grantor, grantee, wanted, option in steps:
        allowed = wanted if grantor == OWNER else wanted & grantable(acl, {grantor})
        with_option = option and grantee != PUBLIC
        if with_option and would_circle(acl, OWNER, grantor, grantee, allowed):
            continue
        if allowed:
            acl = granted(acl, grantor, grantee, allowed, option=with_option)
    return acl


def is_supported(acl: Acl) -> bool:
    """Whether everybody who granted something may grant it."""
    return all(
        item.grantor == OWNER or set(item.privileges) <= grantable(acl, {item.grantor})
        for item in acl
        if item.privileges
    )


@given(grants)
def test_what_was_granted_is_held(steps: list[tuple[str, str, set[str], bool]]) -> None:
    acl = after(steps)
    assert is_supported(acl)
    for item in acl:
        reader = "anyone" if item.grantee == PUBLIC else item.grantee
        assert set(item.privileges) <= held(acl, {reader})
        assert set(item.grantable) <= set(item.privileges)


@given(grants, st.sampled_from(ROLES[1:]), letters, st.booleans())
def test_revoking_leaves_nothing_unsupported(
    steps: list[tuple[str, str, set[str], bool]], grantee: str, taken: set[str], option_only: bool
) -> None:
    acl = after(steps)
    cascaded = revoked(acl, OWNER, OWNER, grantee, taken, option_only=option_only, cascade=True)
    assert is_supported(cascaded)
    by_others = {item for item in acl if item.grantor != OWNER and item.grantee == grantee}
    if not option_only and not by_others:
        assert not taken & held(tuple(item for item in cascaded if item.grantee != PUBLIC), {grantee})
    others = [item for item in acl if item.grantor == grantee and item not in cascaded]
    if others:
        with pytest.raises(MillpondError, match="dependent privileges exist"):
            revoked(acl, OWNER, OWNER, grantee, taken, option_only=option_only)
    else:
        assert revoked(acl, OWNER, OWNER, grantee, taken, option_only=option_only) == cascaded


@given(grants, st.sampled_from(ROLES[1:]))
def test_a_role_without_privileges_is_not_named(steps: list[tuple[str, str, set[str], bool]], role: str) -> None:
    assert role not in roles_in(without_role(after(steps), role, OWNER))


@given(grants)
def test_a_new_owner_has_what_the_old_one_had(steps: list[tuple[str, str, set[str], bool]]) -> None:
    acl = after(steps)
    changed = with_owner(acl, OWNER, "alice")
    assert OWNER not in roles_in(changed)
    assert held(acl, {OWNER}) | held(acl, {"alice"}) == held(changed, {"alice"})
    assert held(acl, {"bob"}) == held(changed, {"bob"})


def test_lists_as_text() -> None:
    acl = granted(default_acl("relation", "bob"), "bob", "alice", "rw", option=True)
    acl = granted(acl, "alice", PUBLIC, "r")
    assert acl_texts(acl) == ["bob=arwdD/bob", "alice=r*w*/bob", "=r/alice"]


def test_a_grant_option_does_not_come_back_to_its_grantor() -> None:
    acl = granted((), OWNER, "alice", "r", option=True)
    acl = granted(acl, "alice", "bob", "r", option=True)
    assert would_circle(acl, OWNER, "bob", "alice", "r")
    assert not would_circle(acl, OWNER, "bob", "carol", "r")


def test_the_option_alone_can_be_revoked() -> None:
    acl = granted((), OWNER, "alice", "r", option=True)
    assert acl_texts(revoked(acl, OWNER, OWNER, "alice", "r", option_only=True)) == ["alice=r/owner"]
    with pytest.raises(MillpondError, match="dependent privileges exist"):
        revoked(granted(acl, "alice", "bob", "r"), OWNER, OWNER, "alice", "r", option_only=True)

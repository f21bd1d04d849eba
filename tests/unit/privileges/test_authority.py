"""What roles may do, who a session is, and that every statement says what it needs."""

from __future__ import annotations

import pytest

from millpond import statements
from millpond.catalog import Snapshot
from millpond.config import Settings
from millpond.errors import MillpondError
from millpond.namespace import PUBLIC_SCHEMA
from millpond.privileges.acl import CREATE, INSERT, PUBLIC, SELECT, USAGE, AclItem
from millpond.privileges.authority import Authority, acl_of
from millpond.privileges.identity import Identity, Login, identify
from millpond.privileges.inquiry import Argument, answer
from millpond.privileges.needs import NEEDS
from millpond.privileges.reading import check_reads
from millpond.relation import Column, Kind, Read, Relation
from millpond.roles import Membership, Role, memberships
from millpond.types import INTEGER


def role(name: str, *groups: str, superuser: bool = False, inherit: bool = True) -> Role:
    return Role(name, superuser, inherit=inherit, member_of=tuple(Membership(one, "root") for one in groups))


ROLES = {
    one.name: one
    for one in (
        role("root", superuser=True),
        role("reader"),
        role("group", "reader"),
        role("alice", "group"),
        role("bob", "group", inherit=False),
        role("carol"),
    )
}


def relation(name: str, kind: Kind = "table", owner: str = "root", **more: object) -> Relation:
    columns = (Column("a", INTEGER), Column("b", INTEGER))
    return Relation(1, name, kind, columns, owner=owner, **more)  # type: ignore[arg-type]


TABLE = relation("t", acl=(AclItem("root", "root", "arwdD"), AclItem("reader", "root", "r")))
PARTLY = relation("p", column_acls={"a": (AclItem("carol", "root", "r"),)})
OPEN = relation("o", acl=(AclItem(PUBLIC, "root", "a"),))


def test_roles_are_in_roles() -> None:
    assert memberships(ROLES, "alice") == {"alice", "group", "reader"}
    assert memberships(ROLES, "bob", inherited=True) == {"bob"}
    assert memberships(ROLES, "bob") == {"bob", "group", "reader"}


@pytest.mark.parametrize(
    ("name", "may"), [("root", True), ("reader", True), ("alice", True), ("bob", False), ("carol", False)]
)
def test_who_may_read(name: str, may: bool) -> None:
    assert Authority.of(name, ROLES).may(SELECT, TABLE) == may
    if not may:
        with pytest.raises(MillpondError, match="permission denied for table t"):
            Authority.of(name, ROLES).require(SELECT, TABLE)


def test_columns() -> None:
    carol = Authority.of("carol", ROLES)
    assert carol.may(SELECT, PARTLY, ["a"])
    assert carol.may(SELECT, PARTLY)
    assert not carol.may(SELECT, PARTLY, ["a", "b"])
    assert not carol.may(INSERT, PARTLY, ["a"])


def test_what_a_role_sees() -> None:
    seen = {
        name: [one.name for one in (OPEN, PARTLY, TABLE) if Authority.of(name, ROLES).may_see(one)]
        for name in ("root", "alice", "carol", "bob")
    }
    assert seen == {"root": ["o", "p", "t"], "alice": ["o", "t"], "carol": ["o", "p"], "bob": ["o"]}


def test_everyone_uses_the_schema_and_its_owner_creates() -> None:
    schema = Snapshot(1, {}, ROLES).namespaces[PUBLIC_SCHEMA]
    assert [str(item) for item in acl_of(schema)] == ["=U/millpond", "millpond=UC/millpond"]
    assert Authority.of("carol", ROLES).may(USAGE, schema)
    assert not Authority.of("carol", ROLES).may(CREATE, schema)


def test_a_view_reads_with_the_rights_of_its_owner() -> None:
    view = relation("v", "view", "alice", acl=(AclItem("carol", "alice", "r"),))
    state = Snapshot(1, {one.name: one for one in (TABLE, view)}, ROLES)
    reads = (Read("v", ("a",)), Read("t", ("a",), through="v"))
    check_reads(state, Authority.of("carol", ROLES), reads)
    with pytest.raises(MillpondError, match="permission denied for view v"):
        check_reads(state, Authority.of("bob", ROLES), reads)
    with pytest.raises(MillpondError, match="permission denied for table t"):
        check_reads(state, Authority.of("carol", ROLES), (Read("t", ("a",)),))


def test_what_a_continuous_view_is_made_of_is_asked_of_its_owner() -> None:
    kept = relation("k", "continuous", "carol", acl=(AclItem("bob", "carol", "r"),), reads=(Read("t", ("a",)),))
    state = Snapshot(1, {one.name: one for one in (TABLE, kept)}, ROLES)
    with pytest.raises(MillpondError, match="permission denied for table t"):
        check_reads(state, Authority.of("bob", ROLES), (Read("k", ("a",)),))
    with pytest.raises(MillpondError, match="permission denied for table t"):
        check_reads(state, Authority.of("root", ROLES), (Read("k", ("a",)),))


def test_rows_may_be_changed_unseen() -> None:
    state = Snapshot(1, {"t": TABLE}, ROLES)
    carol = Authority.of("carol", ROLES)
    check_reads(state, carol, (Read("t", ()),), written=["t"])
    with pytest.raises(MillpondError, match="permission denied for table t"):
        check_reads(state, carol, (Read("t", ("a",)),), written=["t"])


# -- who a session is ---------------------------------------------------------------------------------------------


def identity(login: Login, session_authorization: str, name: str = "none", *, strict: bool = True) -> Identity:
    settings = Settings()
    settings.set("session_authorization", session_authorization)
    settings.set("role", name)
    return identify(login, ROLES, settings, strict=strict)


def test_who_one_may_be() -> None:
    assert identity(Login("bob"), "bob") == Identity("bob", "bob", superuser=False)
    assert identity(Login("bob"), "bob", "reader") == Identity("bob", "reader", superuser=False)
    assert identity(Login("root"), "bob", "group") == Identity("bob", "group", superuser=False)
    assert identity(Login("stranger", trusted=True), "stranger") == Identity("stranger", "stranger", superuser=True)
    assert identity(Login("stranger", trusted=True), "alice") == Identity("alice", "alice", superuser=False)


@pytest.mark.parametrize(
    ("login", "session_authorization", "name", "message"),
    [
        (Login("bob"), "bob", "root", 'permission denied to set role "root"'),
        (Login("bob"), "bob", "nobody", 'role "nobody" does not exist'),
        (Login("bob"), "root", "none", 'permission denied to set session authorization "root"'),
        (Login("root"), "bob", "root", 'permission denied to set role "root"'),
        (Login("stranger"), "root", "none", 'permission denied to set session authorization "root"'),
    ],
)
def test_a_setting_gives_nobody_rights(login: Login, session_authorization: str, name: str, message: str) -> None:
    with pytest.raises(MillpondError, match=message):
        identity(login, session_authorization, name)
    taken = identity(login, session_authorization, name, strict=False)
    assert not taken.superuser
    assert taken.user in (login.user, "bob")


def test_every_statement_says_what_it_needs() -> None:
    assert set(statements.HANDLERS) == set(NEEDS)


# -- has_table_privilege and its like -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "arguments", "expected"),
    [
        ("has_table_privilege", ("alice", "t", "SELECT"), True),
        ("has_table_privilege", ("alice", "t", "select , insert"), True),
        ("has_table_privilege", ("alice", 'public."t"', "INSERT"), False),
        ("has_table_privilege", ("alice", "t", "SELECT WITH GRANT OPTION"), False),
        ("has_table_privilege", ("root", "t", "SELECT WITH GRANT OPTION"), True),
        ("has_table_privilege", ("carol", "p", "SELECT"), False),
        ("has_table_privilege", ("public", "o", "INSERT"), True),
        ("has_table_privilege", ("p", "SELECT"), False),
        ("has_table_privilege", ("alice", None, "SELECT"), None),
        ("has_table_privilege", ("alice", 99, "SELECT"), None),
        ("has_column_privilege", ("carol", "p", "a", "SELECT"), True),
        ("has_column_privilege", ("carol", "p", 2, "SELECT"), False),
        ("has_any_column_privilege", ("carol", "p", "SELECT"), True),
        ("has_any_column_privilege", ("alice", "p", "SELECT"), False),
        ("has_schema_privilege", ("carol", "public", "USAGE"), True),
        ("has_schema_privilege", ("carol", "public", "CREATE"), False),
        ("has_database_privilege", ("carol", "pond", "CONNECT"), True),
        ("has_database_privilege", ("carol", "pond", "CREATE, TEMP"), False),
        ("pg_has_role", ("alice", "reader", "USAGE"), True),
        ("pg_has_role", ("bob", "reader", "USAGE"), False),
        ("pg_has_role", ("bob", "reader", "MEMBER"), True),
        ("pg_has_role", ("carol", "reader", "MEMBER"), False),
    ],
)
def test_inquiries(function: str, arguments: tuple[Argument, ...], expected: bool | None) -> None:
    state = Snapshot(1, {one.name: one for one in (TABLE, PARTLY, OPEN)}, ROLES)
    assert answer(state, Authority.of("bob", ROLES), function, arguments) == expected


@pytest.mark.parametrize(
    ("function", "arguments", "sqlstate"),
    [
        ("has_table_privilege", ("alice", "nothing", "SELECT"), "42P01"),
        ("has_table_privilege", ("nobody", "t", "SELECT"), "42704"),
        ("has_table_privilege", ("alice", "t", "READ"), "22023"),
        ("has_column_privilege", ("alice", "t", "z", "SELECT"), "42703"),
        ("has_schema_privilege", ("alice", "other", "USAGE"), "3F000"),
        ("pg_has_role", ("alice", "reader", "READ"), "22023"),
    ],
)
def test_wrong_inquiries(function: str, arguments: tuple[Argument, ...], sqlstate: str) -> None:
    state = Snapshot(1, {"t": TABLE}, ROLES)
    with pytest.raises(MillpondError) as caught:
        answer(state, Authority.of("bob", ROLES), function, arguments)
    assert caught.value.sqlstate == sqlstate

"""GRANT and REVOKE, owners and identities, from text to records."""

from __future__ import annotations

import pytest

from millpond.errors import MillpondError
from millpond.sql.parse import parse
from millpond.sql.session_records import ResetSetting, SetSetting, ShowSetting
from millpond.sql.statements import (
    ChangeMembership,
    ChangeOwner,
    ChangePrivileges,
    DropOwned,
    Name,
    NamedPrivilege,
    ReassignOwned,
    RoleName,
    Statement,
)

X, Y = RoleName("x"), RoleName("y")


def test_grant_on_tables() -> None:
    assert parse('GRANT SELECT, UPDATE (a, "B") ON TABLE t, public.u TO x, CURRENT_USER WITH GRANT OPTION') == (
        ChangePrivileges(
            revoke=False,
            privileges=(NamedPrivilege("select", (), 7), NamedPrivilege("update", ("a", "B"), 15)),
            kind="relation",
            names=(Name("t", None, 40), Name("u", "public", 43)),
            roles=(X, RoleName("current_user", keyword=True)),
            option=True,
        )
    )


def test_revoke_from_all_tables() -> None:
    parsed = parse(
        "REVOKE GRANT OPTION FOR ALL PRIVILEGES ON ALL TABLES IN SCHEMA public FROM PUBLIC, GROUP_x CASCADE;"
    )
    assert isinstance(parsed, ChangePrivileges)
    assert (parsed.revoke, parsed.option, parsed.within, parsed.cascade) == (True, True, True, True)
    assert parsed.names == (Name("public", None, 64),)
    assert parsed.roles == (RoleName("public"), RoleName("group_x"))


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("GRANT x TO y", ChangeMembership(False, (X,), (Y,))),
        ("GRANT x, y TO x WITH ADMIN OPTION GRANTED BY y", ChangeMembership(False, (X, Y), (X,), True, granted_by=Y)),
        ("REVOKE ADMIN OPTION FOR x FROM y CASCADE", ChangeMembership(True, (X,), (Y,), True, True)),
        ("REVOKE x FROM y RESTRICT", ChangeMembership(True, (X,), (Y,))),
        ("ALTER TABLE t OWNER TO x", ChangeOwner("table", Name("t", None, 13), X)),
        ("ALTER TABLE IF EXISTS ONLY t OWNER TO x", ChangeOwner("table", Name("t", None, 28), X, if_exists=True)),
        ("ALTER FOREIGN TABLE s OWNER TO x", ChangeOwner("stream", Name("s", None, 21), X)),
        ('alter view v owner to "x"', ChangeOwner("view", Name("v", None, 12), X)),
        ("ALTER SCHEMA public OWNER TO x", ChangeOwner("schema", Name("public", None, 14), X)),
        ("DROP OWNED BY x, y CASCADE", DropOwned((X, Y), cascade=True)),
        ("REASSIGN OWNED BY x TO y", ReassignOwned((X,), Y)),
        ("SET ROLE x", SetSetting("role", "x")),
        ("SET SESSION ROLE 'X'", SetSetting("role", "X")),
        ("SET ROLE NONE", SetSetting("role", "none")),
        ("SET ROLE = x", SetSetting("role", "x")),
        ("RESET ROLE", ResetSetting("role")),
        ("SET SESSION AUTHORIZATION x", SetSetting("session_authorization", "x")),
        ("SET SESSION AUTHORIZATION DEFAULT", ResetSetting("session_authorization")),
        ("RESET SESSION AUTHORIZATION", ResetSetting("session_authorization")),
        ("SHOW SESSION AUTHORIZATION", ShowSetting("session_authorization")),
    ],
)
def test_statements(text: str, statement: Statement) -> None:
    assert parse(text) == statement


@pytest.mark.parametrize(
    ("text", "sqlstate", "message"),
    [
        ("GRANT SELECT ON t", "42601", "syntax error at end of input"),
        ("GRANT SELECT t TO x", "42601", 'syntax error at or near "t"'),
        ("GRANT ON t TO x", "42601", 'syntax error at or near "t"'),
        ("GRANT x (a) TO y", "42601", "column names cannot be included in GRANT/REVOKE ROLE"),
        ("GRANT SELECT ON SEQUENCE q TO x", "0A000", "GRANT or REVOKE on a sequence is not supported"),
        (
            "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA s TO x",
            "0A000",
            "GRANT or REVOKE on all functions is not supported",
        ),
        ("GRANT x TO y WITH INHERIT TRUE", "0A000", "this option of a membership is not supported"),
        ("REVOKE SELECT ON t TO x", "42601", 'syntax error at or near "TO"'),
        ("REVOKE SELECT ON t FROM x CASCADE CASCADE", "42601", 'syntax error at or near "CASCADE"'),
        ("ALTER TABLE t OWNER TO", "42601", "syntax error at end of input"),
        ("SET ROLE", "42601", "syntax error at end of input"),
        ("ALTER ROLE x IN ROLE y", "0A000", "ALTER ROLE ... IN ROLE is not supported"),
    ],
)
def test_mistakes(text: str, sqlstate: str, message: str) -> None:
    with pytest.raises(MillpondError) as caught:
        parse(text)
    assert (caught.value.sqlstate, caught.value.message) == (sqlstate, message)

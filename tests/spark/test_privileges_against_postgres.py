"""GRANT and REVOKE at random, here and in PostgreSQL: the same steps fail with the same codes, and leave the same."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import psycopg
import pytest

from millpond import MillpondError, Pond
from millpond.privileges.authority import acl_of

SEQUENCES = 12
STEPS = 14
ROLES = ("alice", "bob", "carol", "dave")
PRIVILEGES = ("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE")
SETUP = (
    *(f"CREATE ROLE {name}" for name in ROLES),
    "GRANT bob TO carol",
    "ALTER ROLE dave NOINHERIT",
    "GRANT bob TO dave",
)


def steps(seed: int) -> Iterator[tuple[str | None, str]]:
    """Who does what; None is the superuser."""
    choose = random.Random(seed)
    for _ in range(STEPS):
        actor = choose.choice((None, *ROLES))
        privileges = ", ".join(choose.sample(PRIVILEGES, choose.randint(1, 3)))
        grantee = choose.choice((*ROLES, *ROLES, "PUBLIC"))
        if choose.random() < 0.6:
            option = " WITH GRANT OPTION" if choose.random() < 0.6 else ""
            yield actor, f"GRANT {privileges} ON t TO {grantee}{option}"
        else:
            option = "GRANT OPTION FOR " if choose.random() < 0.3 else ""
            cascade = " CASCADE" if choose.random() < 0.5 else ""
            yield actor, f"REVOKE {option}{privileges} ON t FROM {grantee}{cascade}"


@pytest.fixture
def judge(postgres: str) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    with psycopg.connect(postgres, autocommit=True) as connection:
        for statement in SETUP:
            connection.execute(statement)
        yield connection
        for name in ROLES:
            connection.execute(f"DROP OWNED BY {name} CASCADE")
            connection.execute(f"DROP ROLE {name}")
        connection.execute("DROP TABLE IF EXISTS t")


def test_the_same_steps_leave_the_same_lists(pond: Pond, judge: psycopg.Connection[tuple[object, ...]]) -> None:
    for statement in SETUP:
        pond.execute(statement)
    superuser = judge.execute("SELECT current_user").fetchall()[0][0]
    for seed in range(SEQUENCES):
        pond.execute("CREATE TABLE t (a int)")
        judge.execute("CREATE TABLE t (a int)")
        for number, (actor, statement) in enumerate(steps(seed)):
            where = f"seed {seed}, step {number}: {actor}: {statement}"
            assert ours(pond, actor, statement) == theirs(judge, actor, statement), where
            relation = pond.services.catalog.snapshot.relations["t"]
            found = judge.execute("SELECT unnest(relacl)::text FROM pg_class WHERE relname = 't'").fetchall()
            expected = {without_foreign(str(item)).replace(str(superuser), "millpond") for (item,) in found}
            assert {str(item) for item in acl_of(relation)} == (expected or {"millpond=arwdD/millpond"}), where
        pond.execute("DROP TABLE t")
        judge.execute("DROP TABLE t")


def without_foreign(item: str) -> str:
    """An item without the privileges that do not exist here."""
    grantee, letters, grantor = re.split("[=/]", item)
    return f"{grantee}={re.sub(r'[xtm][*]?', '', letters)}/{grantor}"


def ours(pond: Pond, actor: str | None, statement: str) -> str:
    try:
        pond.execute(f"SET ROLE {actor or 'NONE'}")
        pond.execute(statement)
    except MillpondError as error:
        return error.sqlstate.value
    finally:
        pond.execute("RESET ROLE")
    return "done"


def theirs(judge: psycopg.Connection[tuple[object, ...]], actor: str | None, statement: str) -> str:
    try:
        judge.execute(f"SET ROLE {actor or 'NONE'}")
        judge.execute(statement)
    except psycopg.Error as error:
        return str(error.sqlstate)
    finally:
        judge.execute("RESET ROLE")
    return "done"

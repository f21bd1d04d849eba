"""The catalog: what is committed comes back, in one piece."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from millpond.catalog import Catalog
from millpond.errors import MillpondError
from millpond.namespace import PUBLIC_SCHEMA, Namespace
from millpond.privileges.acl import PUBLIC, AclItem
from millpond.relation import Check, Column, Key, Read, Relation
from millpond.roles import Membership, Role
from millpond.state.records import QueryRecord
from millpond.types import INTEGER, TEXT, numeric, varchar


def relation(catalog: Catalog, name: str) -> Relation:
    columns = (Column("a", INTEGER, not_null=True), Column("b", numeric(10, 2), default="1.5"), Column("c", varchar(3)))
    keys, checks = (Key(f"{name}_pkey", ("a",), primary=True),), (Check("positive", "b > 0"),)
    return Relation(catalog.new_oid(), name, "table", columns, keys, checks, options={"x": "y"}, version=3)


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'catalog.db'}"


def test_relations_survive_reopening(url: str) -> None:
    catalog = Catalog(url)
    made = {name: relation(catalog, name) for name in ("t", 'Ä"x')}
    catalog.commit(made)
    catalog.close()
    assert dict(Catalog(url).snapshot.relations) == made


def test_a_commit_changes_creates_and_drops_together(url: str) -> None:
    catalog = Catalog(url)
    first, second = relation(catalog, "first"), relation(catalog, "second")
    before = catalog.commit({"first": first, "second": second})
    third = Relation(catalog.new_oid(), "third", "view", (Column("n", TEXT),), definition="SELECT 'x' AS n")
    after = catalog.commit({"first": replace(first, version=9), "second": None, "third": third})
    assert set(before.relations) == {"first", "second"}
    assert {name: found.version for name, found in after.relations.items()} == {"first": 9, "third": 0}
    assert Catalog(url).snapshot == after


def test_a_failed_commit_leaves_the_snapshot(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = Catalog(url)
    catalog.commit({"t": relation(catalog, "t")})
    before = catalog.snapshot
    broken = replace(relation(catalog, "u"), oid=before.relations["t"].oid)
    with pytest.raises(sa.exc.IntegrityError):
        catalog.commit({"t2": replace(broken, name="t2"), "u": broken})
    assert catalog.snapshot is before
    assert Catalog(url).snapshot == before


def test_oids_are_never_used_twice(url: str) -> None:
    catalog = Catalog(url)
    made = relation(catalog, "t")
    catalog.commit({"t": made})
    catalog.commit({"t": None})
    catalog.close()
    assert Catalog(url).new_oid() > made.oid


def test_rights_survive_reopening(url: str) -> None:
    catalog = Catalog(url)
    table = replace(
        relation(catalog, "t"),
        owner="bob",
        acl=(AclItem("alice", "bob", "r", "r"),),
        column_acls={"a": (AclItem(PUBLIC, "bob", "w"),)},
        reads=(Read("u", ("x", "y")), Read("w", (), through="v")),
    )
    alice = Role("alice", inherit=False, member_of=(Membership("bob", "millpond", admin=True),))
    schema = Namespace("schema", "public", owner="bob", acl=(AclItem("alice", "bob", "C"),))
    after = catalog.commit({"t": table}, {"alice": alice, "bob": Role("bob")}, {schema.key: schema})
    catalog.close()
    assert Catalog(url).snapshot == after
    assert after.namespaces[PUBLIC_SCHEMA] == schema


def test_a_pond_of_format_2_is_taken_over(url: str) -> None:
    """As that version made it: roles without memberships, relations without owners."""
    catalog = Catalog(url)
    made = relation(catalog, "t")
    catalog.commit({"t": made}, {"alice": Role("alice", verifier="v")})
    catalog.close()
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        connection.execute(sa.text("ALTER TABLE millpond_roles DROP COLUMN inherit"))
        connection.execute(sa.text("ALTER TABLE millpond_roles DROP COLUMN member_of"))
        connection.execute(sa.text("DROP TABLE millpond_namespaces"))
        connection.execute(sa.text("UPDATE millpond_pond SET value = 2 WHERE key = 'format'"))
        stored = json.loads(connection.scalar(sa.text("SELECT definition FROM millpond_relations")))
        old = {name: value for name, value in stored.items() if name not in ("owner", "acl", "column_acls", "reads")}
        connection.execute(sa.text("UPDATE millpond_relations SET definition = :old"), {"old": json.dumps(old)})
    engine.dispose()
    for _ in range(2):
        opened = Catalog(url)
        assert opened.snapshot.relations == {"t": made}
        assert opened.snapshot.roles == {"alice": Role("alice", verifier="v")}
        assert made.owner == "millpond"
        opened.close()


def test_a_pond_of_format_3_is_taken_over(url: str) -> None:
    """As that version made it: without continuous queries."""
    catalog = Catalog(url)
    made = relation(catalog, "t")
    catalog.commit({"t": made})
    catalog.close()
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        connection.execute(sa.text("DROP TABLE millpond_queries"))
        connection.execute(sa.text("UPDATE millpond_pond SET value = 3 WHERE key = 'format'"))
    engine.dispose()
    opened = Catalog(url)
    assert opened.snapshot.relations == {"t": made}
    assert opened.queries() == {}


def test_how_far_a_query_is_is_committed_with_what_it_made(url: str) -> None:
    catalog = Catalog(url)
    table, query = relation(catalog, "t"), Relation(catalog.new_oid(), "q", "query", (), definition="INSERT ...")
    catalog.commit({"t": table, "q": query})
    begun = QueryRecord({7: 0})
    catalog.commit_query(query.oid, begun)
    done = begun.advanced({7: 5}, 3)
    catalog.commit({"t": replace(table, version=4)}, queries={query.oid: done})
    catalog.close()
    catalog = Catalog(url)
    assert catalog.snapshot.relations["t"].version == 4
    assert catalog.queries() == {query.oid: QueryRecord({7: 5}, chunks=1, rows_in=5, rows_out=3)}
    catalog.commit({"q": None})
    assert catalog.queries() == {}
    catalog.commit_query(query.oid, done)
    catalog.close()
    assert Catalog(url).queries() == {}, "a record that came after the drop does not stay"


def test_an_unknown_format_is_refused(url: str) -> None:
    Catalog(url).close()
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE millpond_pond SET value = 99 WHERE key = 'format'"))
    engine.dispose()
    with pytest.raises(MillpondError, match="the pond has format 99"):
        Catalog(url)

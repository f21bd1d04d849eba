"""The catalog: what is committed comes back, in one piece."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from millpond.catalog import Catalog
from millpond.relation import Check, Column, Key, Relation
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

"""pg_catalog and information_schema of a pond: what changes is seen, and Spark can read them too."""

from __future__ import annotations

import pytest

from millpond import MillpondError, Pond


@pytest.fixture
def plant(pond: Pond) -> Pond:
    pond.execute("CREATE TABLE station (id int PRIMARY KEY, plant text); INSERT INTO station VALUES (1, 'Sparta')")
    pond.execute("CREATE STREAM reading (sensor int, value double precision)")
    return pond


NAMES = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind <> 'i' ORDER BY 1"


def test_ddl_is_seen_within_its_transaction_and_after_it(plant: Pond) -> None:
    plant.execute("BEGIN")
    plant.execute("CREATE TABLE part (name text)")
    assert plant.execute(NAMES).fetchall() == [("part",), ("reading",), ("station",)]
    plant.execute("ROLLBACK")
    assert plant.execute(NAMES).fetchall() == [("reading",), ("station",)]
    plant.execute("CREATE VIEW spartan AS SELECT id FROM station WHERE plant = 'Sparta'")
    assert plant.execute(NAMES).fetchall() == [("reading",), ("spartan",), ("station",)]


def test_tables_join_with_the_catalog(plant: Pond) -> None:
    joined = plant.execute(
        """SELECT s.plant, c.relname, a.attname FROM station s JOIN pg_class c ON c.relname = 'station'
           JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = s.id"""
    )
    assert joined.fetchall() == [("Sparta", "station", "id")]


def test_views_may_read_the_catalog(plant: Pond) -> None:
    plant.execute("CREATE VIEW tables AS SELECT table_name FROM information_schema.tables WHERE table_type = 'FOREIGN'")
    assert plant.execute("SELECT * FROM tables").fetchall() == [("reading",)]


def test_sizes(plant: Pond) -> None:
    [(table, everything)] = plant.execute(
        "SELECT pg_total_relation_size('station'), pg_database_size(current_database())"
    ).fetchall()
    assert 0 < table <= everything


def test_system_schemas_take_no_relations(plant: Pond) -> None:
    for schema in ("pg_catalog", "information_schema"):
        with pytest.raises(MillpondError) as caught:
            plant.execute(f"CREATE TABLE {schema}.mine (a int)")
        assert caught.value.sqlstate == "0A000"


def test_parameters(plant: Pond) -> None:
    found = plant.execute("SELECT relkind FROM pg_class WHERE relname = %s AND oid > %s", ["reading", 16000])
    assert found.fetchall() == [("f",)]

"""SQLAlchemy reads the catalog: its inspector, MetaData.reflect, and tables loaded from a stream and a view."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql.base import PGInspector
from sqlalchemy.engine.interfaces import ReflectedColumn
from sqlalchemy.engine.reflection import ObjectKind

from tests.clients.conftest import Served
from tests.clients.plant import create_plant, recorded_as


@pytest.fixture(scope="module")
def engine(shared_server: Served) -> Iterator[sa.Engine]:
    create_plant(shared_server.pond)
    with recorded_as("sqlalchemy", shared_server) as recorder:
        recorder.title = "SQLAlchemy 2 with psycopg"
        made = sa.create_engine(f"postgresql+psycopg://tester@127.0.0.1:{recorder.port}/pond", use_native_hstore=False)
        yield made
        made.dispose()


@pytest.fixture(scope="module")
def inspector(engine: sa.Engine) -> PGInspector:
    made = sa.inspect(engine)
    assert isinstance(made, PGInspector)
    return made


def test_names(inspector: PGInspector) -> None:
    assert inspector.default_schema_name == "public"
    assert inspector.get_schema_names() == ["information_schema", "public"]
    assert inspector.get_table_names() == ["station"]
    assert inspector.get_view_names() == ["sparta", "used"]
    assert inspector.get_materialized_view_names() == []
    assert inspector.get_temp_table_names() == inspector.get_temp_view_names() == inspector.get_sequence_names() == []
    assert inspector.has_table("station")
    assert inspector.has_table("used")
    assert not inspector.has_table("nothing")
    assert inspector.has_schema("public")
    assert not inspector.has_sequence("nothing")


def test_streams_are_foreign_tables(inspector: PGInspector) -> None:
    assert inspector.get_foreign_table_names() == ["part_usage"]
    assert inspector.get_table_oid("part_usage") == inspector.get_table_oid("station") + 1


def described(columns: list[ReflectedColumn]) -> list[tuple[str, str, bool, str | None]]:
    return [(one["name"], str(one["type"]), one["nullable"], one["default"]) for one in columns]


def test_columns(inspector: PGInspector) -> None:
    assert described(inspector.get_columns("station")) == [
        ("id", "INTEGER", False, None),
        ("plant", "TEXT", False, None),
        ("location", "TEXT", True, "'unknown'"),
        ("supplier", "VARCHAR(20)", True, None),
        ("weight", "NUMERIC(10, 2)", True, None),
    ]
    assert described(inspector.get_columns("used")) == [("part", "TEXT", True, None), ("n", "BIGINT", True, None)]
    assert inspector.get_multi_columns(kind=ObjectKind.ANY).keys() == {
        (None, name) for name in ("station", "part_usage", "sparta", "used")
    }


def test_keys_and_checks(inspector: PGInspector) -> None:
    assert inspector.get_pk_constraint("station")["constrained_columns"] == ["id"]
    assert inspector.get_pk_constraint("part_usage")["constrained_columns"] == []
    [unique] = inspector.get_unique_constraints("station")
    assert (unique["name"], unique["column_names"]) == ("station_plant_location_key", ["plant", "location"])
    [index] = inspector.get_indexes("station")
    assert (index["name"], index["column_names"], index["unique"]) == (unique["name"], ["plant", "location"], True)
    [check] = inspector.get_check_constraints("station")
    assert (check["name"], check["sqltext"]) == ("station_check", "id > 0")
    assert inspector.get_foreign_keys("station") == []


def test_definitions_and_comments(inspector: PGInspector) -> None:
    definition = inspector.get_view_definition("sparta")
    assert definition.strip() == "SELECT id, location FROM station WHERE plant = 'Sparta';"
    assert inspector.get_table_comment("station") == {"text": None}
    assert inspector.get_table_options("station") == {}
    assert inspector.get_enums() == []
    assert inspector.get_domains() == []


def test_reflected_tables_work(engine: sa.Engine) -> None:
    metadata = sa.MetaData()
    metadata.reflect(engine, views=True)
    assert metadata.tables.keys() == {"station", "sparta", "used"}
    stream = sa.Table("part_usage", metadata, autoload_with=engine)
    view = sa.Table("used", metadata, autoload_with=engine)
    assert [column.name for column in stream.columns] == ["part_id", "part", "station", "at"]
    with engine.begin() as connection:
        connection.execute(sa.insert(stream), [{"part_id": 1, "part": "Wheel"}, {"part_id": 2, "part": "Wheel"}])
    with engine.connect() as connection:
        assert connection.execute(sa.select(view)).all() == [("Wheel", 2)]

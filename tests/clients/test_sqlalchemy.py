"""SQLAlchemy Core: it connects, creates, inserts into a stream and reads a view."""

from __future__ import annotations

import sqlalchemy as sa

from tests.clients.conftest import Served


def test_core(server: Served) -> None:
    # Looking for the type hstore takes a savepoint and pg_type.
    url = server.url.replace("postgresql://", "postgresql+psycopg://")
    engine = sa.create_engine(url, use_native_hstore=False)
    usage = sa.table("usage", sa.column("part", sa.Text), sa.column("station", sa.Integer))
    counted = sa.table("counted", sa.column("station", sa.Integer), sa.column("parts", sa.BigInteger))
    try:
        with engine.begin() as connection:
            connection.execute(sa.text("CREATE STREAM usage (part text, station int)"))
        with engine.begin() as connection:
            view = "CREATE VIEW counted AS SELECT station, count(*) AS parts FROM usage GROUP BY station"
            connection.execute(sa.text(view))
        with engine.begin() as connection:
            connection.execute(sa.insert(usage), [{"part": "Wheel", "station": number % 2} for number in range(5)])
        with engine.connect() as connection:
            wanted = sa.select(counted).where(counted.c.parts > 2).order_by(counted.c.station)
            assert [tuple(row) for row in connection.execute(wanted)] == [(0, 3)]
    finally:
        engine.dispose()

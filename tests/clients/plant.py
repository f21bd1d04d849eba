"""The relations that tests about the system catalogs look at: a table, a stream, a plain and a continuous view.

They are the first of a new pond, so that their oids, which clients put into queries, are always the same.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.clients.conftest import Served
from tests.clients.recorder import RECORDED, Recorder, read_recorded, recording, write_recorded

if TYPE_CHECKING:
    from millpond import Pond

STATEMENTS = (
    """CREATE TABLE station (id int PRIMARY KEY, plant text NOT NULL, location text DEFAULT 'unknown',
       supplier varchar(20), weight numeric(10,2), UNIQUE (plant, location), CHECK (id > 0))""",
    """CREATE FOREIGN TABLE part_usage (part_id int NOT NULL, part text, station int, at timestamptz)
       SERVER stream OPTIONS (capacity '1000', durability 'log')""",
    "CREATE VIEW sparta AS SELECT id, location FROM station WHERE plant = 'Sparta'",
    "CREATE VIEW used AS SELECT part, count(*) AS n FROM part_usage GROUP BY part",
)

RECORDING = bool(os.environ.get("MILLPOND_RECORD"))
"""Write down what the clients send instead of comparing."""


def create_plant(pond: Pond) -> None:
    for statement in STATEMENTS:
        pond.execute(statement)


@contextmanager
def recorded_as(name: str, served: Served) -> Iterator[Recorder]:
    """The port to connect a client to; what it sends is kept in a file if that was asked for."""
    if not RECORDING:
        yield Recorder(served.port)
        return
    with recording(served.port) as recorder:
        yield recorder
    path = RECORDED / f"{name}.sql"
    before = {query.text: query for query in read_recorded(path)} if path.exists() else {}
    write_recorded(path, [before.get(query.text, query) for query in recorder.queries.values()])

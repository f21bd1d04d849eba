"""psql's \\d family against a server: everything that psql asks is answered, and what it shows is the pond."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator

import pytest

from tests.clients.conftest import Served
from tests.clients.plant import create_plant, recorded_as
from tests.clients.recorder import Recorder

pytestmark = pytest.mark.skipif(shutil.which("psql") is None, reason="psql is not on this machine")

LISTS = r"""
\l \l+ \dn \dn+ \d \d+ \dt \dt+ \dv \dv+ \dE \det \det+ \des+ \dew+ \du \du+ \df \df+ \da \dT \dT+ \di \di+ \ds \dm \dp
\ddp \dx \dy \do \dO \db \db+ \dF \dL \dRp \dRs \dX \dD \dC \dc \dA \dd \drds \dP \dtS \dvS \conninfo
""".split()
"""Commands about everything there is."""

SHOWN = {
    r"\d station": """
                       Table "public.station"
  Column  |         Type          | Collation | Nullable |  Default
----------+-----------------------+-----------+----------+-----------
 id       | integer               |           | not null |
 plant    | text                  |           | not null |
 location | text                  |           |          | 'unknown'
 supplier | character varying(20) |           |          |
 weight   | numeric(10,2)         |           |          |
Indexes:
    "station_pkey" PRIMARY KEY, btree (id)
    "station_plant_location_key" UNIQUE CONSTRAINT, btree (plant, location)
Check constraints:
    "station_check" CHECK (id > 0)
""",
    r"\d part_usage": """
                         Foreign table "public.part_usage"
 Column  |           Type           | Collation | Nullable | Default | FDW options
---------+--------------------------+-----------+----------+---------+-------------
 part_id | integer                  |           | not null |         |
 part    | text                     |           |          |         |
 station | integer                  |           |          |         |
 at      | timestamp with time zone |           |          |         |
Server: stream
FDW options: (capacity '1000', durability 'log')
""",
    r"\d+ used": """
                            View "public.used"
 Column |  Type  | Collation | Nullable | Default | Storage  | Description
--------+--------+-----------+----------+---------+----------+-------------
 part   | text   |           |          |         | extended |
 n      | bigint |           |          |         | plain    |
View definition:
 SELECT part, count(*) AS n FROM part_usage GROUP BY part;
""",
    r"\d sparta": """
                View "public.sparta"
  Column  |  Type   | Collation | Nullable | Default
----------+---------+-----------+----------+---------
 id       | integer |           |          |
 location | text    |           |          |
""",
    r"\sv sparta": """
CREATE OR REPLACE VIEW public.sparta AS
 SELECT id, location FROM station WHERE plant = 'Sparta'
""",
    r"\d": """
               List of relations
 Schema |    Name    |     Type      |  Owner
--------+------------+---------------+----------
 public | part_usage | foreign table | millpond
 public | sparta     | view          | millpond
 public | station    | table         | millpond
 public | used       | view          | millpond
(4 rows)
""",
    r"\d station_pkey": """
     Index "public.station_pkey"
 Column |  Type   | Key? | Definition
--------+---------+------+------------
 id     | integer | yes  | id
primary key, btree, for table "public.station"
""",
    r"\det+": """
                              List of foreign tables
 Schema |   Table    | Server |             FDW options             | Description
--------+------------+--------+-------------------------------------+-------------
 public | part_usage | stream | (capacity '1000', durability 'log') |
(1 row)
""",
}
"""What psql prints, without blanks at the ends of lines."""

ODD = [
    r"\d nothing",
    r"\dt nothing",
    r"\dS pg_class",
    r"\d+ station",
    r"\d+ part_usage",
    r"\dt public.s*",
    r"\dfS array_in",
]


@pytest.fixture(scope="module")
def plant(shared_server: Served) -> Iterator[Recorder]:
    create_plant(shared_server.pond)
    with recorded_as("psql", shared_server) as recorder:
        yield recorder


def psql(plant: Recorder, *commands: str) -> subprocess.CompletedProcess[str]:
    plant.title = f"psql {' '.join(commands)}"
    url = f"postgresql://tester@127.0.0.1:{plant.port}/pond"
    arguments = [part for command in commands for part in ("-c", command)]
    return subprocess.run(
        ["psql", "-X", "-q", url, *arguments], capture_output=True, text=True, timeout=60, check=False
    )


def tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines()).rstrip()


@pytest.mark.parametrize("command", SHOWN)
def test_what_psql_shows(plant: Recorder, command: str) -> None:
    done = psql(plant, command)
    assert done.stderr == ""
    assert tidy(done.stdout) == tidy(SHOWN[command])


@pytest.mark.parametrize("command", [*LISTS, *ODD])
def test_psql_gets_an_answer(plant: Recorder, command: str) -> None:
    done = psql(plant, command)
    refused = [line for line in done.stderr.splitlines() if "Did not find any" not in line]
    assert refused == []


def test_names_of_relations_that_need_quotes(plant: Recorder, shared_server: Served) -> None:
    shared_server.pond.execute('CREATE TABLE "Odd name" ("Column" int PRIMARY KEY)')
    try:
        assert '"Odd name_pkey" PRIMARY KEY, btree ("Column")' in psql(plant, r'\d "Odd name"').stdout
    finally:
        shared_server.pond.execute('DROP TABLE "Odd name"')

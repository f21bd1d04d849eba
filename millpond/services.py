"""The parts of an open pond that statements work with: what it keeps, and Spark to compute with."""

from __future__ import annotations

import shutil
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from millpond.config import Settings
from millpond.spark.runner import Runner
from millpond.stores import Stores


@dataclass
class Services(Stores):
    """`retry_turn` lets the losers of a conflict go one after the other; see `Session`."""

    runner: Runner
    settings: Settings
    scratch: Path
    retry_turn: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def temporary_directory(self) -> Iterator[Path]:
        """A path in the scratch directory for Spark to create and us to remove."""
        directory = self.scratch / f"statement-{uuid.uuid4().hex}"
        try:
            yield directory
        finally:
            shutil.rmtree(directory, ignore_errors=True)

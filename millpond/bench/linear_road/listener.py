"""A subscriber who gets what cars are told, and remembers when."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from types import TracebackType

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from millpond import MillpondError, Pond

_WAIT_S = 30.0
_LOOK_INTERVAL_S = 0.01


class Listener:
    """Reads what the query `road` emits in a thread of its own, from its creation until it is closed."""

    def __init__(self, pond: Pond) -> None:
        self._subscription = pond.subscribe("road")
        self._pieces: list[tuple[float, pa.Table]] = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def __enter__(self) -> Listener:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._subscription.close()
        self._thread.join()

    def wait_for(self, rows: int) -> None:
        """Wait until so many rows came."""
        deadline = time.monotonic() + _WAIT_S
        while sum(piece.num_rows for _, piece in self._pieces) < rows and time.monotonic() < deadline:
            time.sleep(_LOOK_INTERVAL_S)

    @property
    def told(self) -> pa.Table:
        """All rows that came."""
        return pa.concat_tables(piece for _, piece in self._pieces)

    def responses_s(self, sent: Mapping[int, float]) -> npt.NDArray[np.float64]:
        """How long each row took, from when the reports of its second were sent."""
        arrived = [moment for moment, piece in self._pieces for _ in range(piece.num_rows)]
        begun = [sent[second] for second in self.told.column("time").to_numpy().tolist()]
        return np.array(arrived, dtype=np.float64) - np.array(begun, dtype=np.float64)

    def _read(self) -> None:
        try:
            for piece in self._subscription.tables():
                moment = time.perf_counter()
                assert set(piece.column("change").to_pylist()) == {"insert"}, "rows were skipped"
                self._pieces.append((moment, piece.drop_columns(["version", "change"])))
        except MillpondError:
            pass  # closed, or the query has ended

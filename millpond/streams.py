"""The streams of a pond: opens each stream relation once, creates and drops them."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path

from millpond.config import Setting, Settings
from millpond.errors import MillpondError, SqlState, closest
from millpond.late_streams import LATE
from millpond.relation import Column, Relation
from millpond.stream import Clock, StreamOptions, StreamRelation, now_us

_OPTIONS = {
    "capacity": Setting("capacity", 0, "rows", "Rows that the stream keeps.", minimum=1),
    "capacity_bytes": Setting("capacity_bytes", 0, "bytes", "Bytes that the stream keeps.", minimum=1),
    "durability": Setting(
        "durability", "log", "choice", "Whether rows survive the process.", choices=("log", "memory")
    ),
    "timestamp": Setting("timestamp", "", "column", "The column that holds the time of the event."),
    "watermark": Setting("watermark", 0, "ms", "How late a row may be.", intervals=True),
    "idle": Setting("idle", 0, "ms", "Without a row for so long, time goes on.", minimum=1, intervals=True),
    LATE: Setting(
        LATE,
        "keep",
        "choice",
        "Whether rows that come too late for windows go to another stream.",
        choices=("keep", "drop"),
    ),
    "session_timeout": Setting(
        "session_timeout", 0, "ms", "A query takes the stream for ended when nothing has arrived for so long."
    ),
}


class StreamStore:
    """The directory of all streams of a pond."""

    def __init__(self, directory: Path, scratch: Path, settings: Settings, clock: Clock = now_us) -> None:
        self._directory, self._scratch, self._settings = directory, scratch, settings
        self.clock = clock
        directory.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._open: dict[int, StreamRelation] = {}

    def get(self, relation: Relation) -> StreamRelation:
        """The open stream of a catalog's relation."""
        with self._lock:
            if relation.oid not in self._open:
                self._open[relation.oid] = self._open_stream(relation)
            return self._open[relation.oid]

    def find(self, oid: int) -> StreamRelation | None:
        """A stream that is open, by its oid."""
        with self._lock:
            return self._open.get(oid)

    def drop(self, oid: int) -> None:
        with self._lock:
            stream = self._open.pop(oid, None)
        if stream is not None:
            stream.drop()
        else:
            shutil.rmtree(self._directory / str(oid), ignore_errors=True)

    def remove_orphans(self, oids: Iterable[int]) -> None:
        """Remove directories that belong to no stream: creations and drops cut short by a crash."""
        known = {str(oid) for oid in oids}
        for path in self._directory.iterdir():
            if path.name not in known:
                shutil.rmtree(path)

    def close(self) -> None:
        with self._lock:
            streams, self._open = self._open, {}
        for stream in streams.values():
            stream.close()

    def _open_stream(self, relation: Relation) -> StreamRelation:
        options = StreamOptions(
            capacity_rows=int(relation.options.get("capacity") or self._settings.integer("stream_capacity")),
            capacity_bytes=int(
                relation.options.get("capacity_bytes") or self._settings.integer("stream_capacity_bytes")
            ),
            durability="memory" if relation.options.get("durability") == "memory" else "log",
        )
        name = str(relation.oid)
        folders = (self._directory / name, self._scratch / "streams" / name)
        return StreamRelation.open(relation.name, *folders, relation.arrow_schema, options, self.clock)


def checked_options(options: Mapping[str, str], columns: Iterable[Column]) -> dict[str, str]:
    """The OPTIONS of a stream, each known and valid, as the catalog keeps them."""
    checked: dict[str, str] = {}
    for name, given in options.items():
        option = _OPTIONS.get(name)
        if option is None:
            raise MillpondError(
                SqlState.UNDEFINED_OBJECT,
                f'invalid option "{name}"',
                hint=closest(name, _OPTIONS) or f"Valid options are: {', '.join(_OPTIONS)}.",
            )
        checked[name] = str(option.parse(given))
    _check_timestamp(checked, {column.name: column for column in columns})
    return checked


def _check_timestamp(options: Mapping[str, str], columns: Mapping[str, Column]) -> None:
    name = options.get("timestamp")
    if name is None:
        for option in ("watermark", "idle"):
            if option in options:
                message = f'option "{option}" needs option "timestamp"'
                raise MillpondError(SqlState.INVALID_PARAMETER_VALUE, message)
        return
    column = columns.get(name)
    if column is None:
        message = f'column "{name}" named in option "timestamp" does not exist'
        raise MillpondError(SqlState.UNDEFINED_COLUMN, message, hint=closest(name, columns))
    if column.type.name not in ("timestamp", "timestamptz", "date"):
        message = f'column "{name}" named in option "timestamp" is of type {column.type}, not a timestamp'
        raise MillpondError(SqlState.DATATYPE_MISMATCH, message)

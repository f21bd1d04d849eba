"""Where a stream's files are and what their names say; a segment's name carries its first tid and its row count."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from millpond.stream.options import Tid

_SEGMENT_NAME = re.compile(r"(\d{20})-(\d+)\.parquet")
_LOG_NAME = re.compile(r"(\d{20})\.log")
_MARK_NAME = re.compile(r"first-(\d{20})")
_ORIGIN_NAMES = "origin-*.json"


@dataclass(frozen=True)
class Layout:
    """The folders of one stream: `root` holds what lasts, `scratch` what only serves this process.

    A stream of durability "memory" has both in its scratch directory.
    """

    root: Path
    scratch: Path

    @property
    def segments(self) -> Path:
        """Published segments."""
        return self.root / "segments"

    @property
    def staged(self) -> Path:
        """Segments that are being written; whatever is here when the stream is opened was never published."""
        return self.root / "staged"

    @property
    def wal(self) -> Path:
        """Write-ahead logs of the segments that are still in memory."""
        return self.root / "wal"

    @property
    def copies(self) -> Path:
        """Rows that were copied for one reader."""
        return self.scratch / "copies"

    @property
    def intent(self) -> Path:
        """The list of renames that one publication is about to make."""
        return self.root / "intent.json"

    def origin(self, writer: int) -> Path:
        """How far a writer is whose appends tell; it was the intent of its last one."""
        return self.root / f"origin-{writer}.json"

    def origins(self) -> list[Path]:
        return sorted(self.root.glob(_ORIGIN_NAMES))

    def segment(self, first_tid: int, rows: int) -> Path:
        return self.segments / segment_name(first_tid, rows)

    def copy(self, first_tid: int, rows: int, number: int) -> Path:
        """One of several copies of the same rows."""
        return self.copies / f"{first_tid:020d}-{rows}-{number}.parquet"

    def log(self, first_tid: int) -> Path:
        return self.wal / f"{first_tid:020d}.log"

    def mark(self, first_tid: int) -> Path:
        """An empty file whose name says which tid the ring starts with; of several the highest counts."""
        return self.root / f"first-{first_tid:020d}"


def segment_name(first_tid: int, rows: int) -> str:
    """The name of a file of rows; readers compute tids from its first 20 characters.

    >>> segment_name(7, 100)
    '00000000000000000007-100.parquet'
    """
    return f"{first_tid:020d}-{rows}.parquet"


def parse_segment_name(name: str) -> tuple[Tid, int] | None:
    """First tid and row count, or None if `name` is not that of a segment.

    >>> parse_segment_name('00000000000000000007-100.parquet'), parse_segment_name('x.parquet')
    ((7, 100), None)
    """
    match = _SEGMENT_NAME.fullmatch(name)
    return (Tid(int(match[1])), int(match[2])) if match else None


def parse_log_name(name: str) -> Tid | None:
    """The first tid of a write-ahead log, or None if `name` is not that of one."""
    match = _LOG_NAME.fullmatch(name)
    return Tid(int(match[1])) if match else None


def parse_mark_name(name: str) -> Tid | None:
    """The tid that a mark names, or None if `name` is not that of one."""
    match = _MARK_NAME.fullmatch(name)
    return Tid(int(match[1])) if match else None

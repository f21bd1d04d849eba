"""What the parts of one stream share: its name, schema, limits and folders, the ring and the lock of visible state."""

from __future__ import annotations

import threading

import pyarrow as pa

from millpond.errors import InternalError, MillpondError, SqlState
from millpond.stream.arrivals import Arrivals
from millpond.stream.copies import Copies
from millpond.stream.disk import Disk
from millpond.stream.followers import Followers
from millpond.stream.layout import Layout
from millpond.stream.options import StreamOptions, Tid
from millpond.stream.origins import Origins
from millpond.stream.pins import FilePins
from millpond.stream.rate import RateMeter
from millpond.stream.recovery import Recovered
from millpond.stream.ring import Ring, Segment
from millpond.stream.segment_file import StoredFile, stored_schema
from millpond.stream.staging import Staging


class StreamCore:
    """The state of one stream.

    `visible` guards `ring`, `rate`, `arrivals` and `closed`: what readers see. It is never held while rows are written.
    """

    def __init__(
        self, name: str, schema: pa.Schema, options: StreamOptions, layout: Layout, disk: Disk, recovered: Recovered
    ) -> None:
        self.name = name
        self.schema = schema
        self.stored_schema = stored_schema(schema)
        self.options = options
        self.limits = options.limits
        self.layout = layout
        self.disk = disk
        self.staging = Staging(disk, layout)
        self.pins = FilePins(disk)
        self.copies = Copies(layout, disk, self.pins, self.limits)
        self.visible = threading.Lock()
        self.closed = False
        self.rate = RateMeter()
        self.arrivals = Arrivals(recovered.last_arrival_us)
        self.followers = Followers()
        self.origins = Origins(recovered.origins)
        self.ring = Ring(options, recovered.first_tid)
        for segment in recovered.segments:
            self.ring.push(segment)

    def check_open(self) -> None:
        if self.closed:
            raise MillpondError(SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, f'stream "{self.name}" is closed')

    def is_full_from(self, floor: Tid) -> bool:
        """Whether the rows that somebody has yet to read fill the ring."""
        with self.visible:
            return self.ring.is_full_from(floor)

    def check_schema(self, schema: pa.Schema) -> None:
        """Refuse rows of other columns; whether a column may be null is not of our concern."""
        if schema.names != self.schema.names or schema.types != self.schema.types:
            raise InternalError(f'rows for stream "{self.name}" do not have its schema', detail=f"They have {schema}.")

    def retire(self, segment: Segment) -> None:
        """Remove the files of a segment that is no longer in the ring, when their readers are done."""
        if isinstance(segment, StoredFile):
            self.pins.remove_when_unused(segment.path)
            return
        if segment.wal:
            self.disk.remove_or_warn(segment.wal.path)

"""The stream `<stream>_late`: rows of a stream that came too late for the windows of views, as a stream of their own.

It is made with the first view that has windows by event time over the stream, unless that says `late = 'drop'`.
"""

from __future__ import annotations

from collections.abc import Mapping

from millpond.errors import MillpondError, SqlState
from millpond.relation import STREAM_COLUMNS, Column, Relation
from millpond.types import BIGINT, TEXT, TIMESTAMPTZ

LATE_COLUMNS = (Column("late_view", TEXT), Column("late_tid", BIGINT), Column("late_watermark", TIMESTAMPTZ))
"""Which view did not take a row, the row's tid, and up to where the stream was complete when it came."""

LATE = "late"
"""The option of a stream that says what becomes of its late rows."""

_LATE_OF = "late_of"
"""The option of a stream of late rows: the name of the stream that they are of."""


def keeps_late(stream: Relation) -> bool:
    return stream.options.get(LATE) != "drop"


def late_stream(relations: Mapping[str, Relation], stream: Relation) -> Relation | None:
    """The stream of a stream's late rows, if there is one."""
    found = relations.get(_name(stream))
    return found if found is not None and found.options.get(_LATE_OF) == stream.name else None


def source_of(relations: Mapping[str, Relation], late: Relation) -> Relation | None:
    """The stream whose late rows a stream has."""
    return relations.get(late.options.get(_LATE_OF, ""))


def new_late_stream(oid: int, stream: Relation, relations: Mapping[str, Relation]) -> Relation:
    """The stream for a stream's late rows, or an error if its name or a column's is taken."""
    name = _name(stream)
    hint = f"Give it another name, or create the stream \"{stream.name}\" with the option {LATE} = 'drop'."
    detail = f'Late rows of the stream "{stream.name}" go there.'
    if name in relations:
        raise MillpondError(SqlState.DUPLICATE_TABLE, f'relation "{name}" already exists', detail=detail, hint=hint)
    own = tuple(Column(column.name, column.type) for column in stream.visible_columns)
    taken = next((column.name for column in LATE_COLUMNS if stream.column(column.name) is not None), None)
    if taken is not None:
        message = f'column "{taken}" specified more than once'
        raise MillpondError(SqlState.DUPLICATE_COLUMN, message, detail=detail, hint=hint)
    # What is late of late rows would never end.
    options = {_LATE_OF: stream.name, LATE: "drop"}
    for option in ("capacity", "capacity_bytes", "durability"):
        if option in stream.options:
            options[option] = stream.options[option]
    columns = (*LATE_COLUMNS, *own, *STREAM_COLUMNS)
    return Relation(oid, name, "stream", columns, options=options, owner=stream.owner)


def _name(stream: Relation) -> str:
    return f"{stream.name}_late"

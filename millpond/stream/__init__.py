"""Stream relations: data that is still arriving, as a ring of Parquet segments that readers can hold on to."""

from millpond.stream.chunk import Chunk, SegmentFile
from millpond.stream.commit import Clock
from millpond.stream.followers import Follower
from millpond.stream.options import StreamOptions, StreamStats, Tid, TidRange
from millpond.stream.origins import Origin
from millpond.stream.relation import StreamRelation, now_us
from millpond.stream.staged_append import StagedAppend

__all__ = [
    "Chunk",
    "Clock",
    "Follower",
    "Origin",
    "SegmentFile",
    "StagedAppend",
    "StreamOptions",
    "StreamRelation",
    "StreamStats",
    "Tid",
    "TidRange",
    "now_us",
]

"""Which numerics of a chunk, and of the tables it is joined with, Spark reads as bigints of their smallest units.

A decimal of up to 18 digits is stored as an integer, and Parquet's footers say how far from zero those of a file are:
where that is known, so is which arithmetic with them stays within a bigint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow.parquet as pq

from millpond.plan.pipelines import StreamPipeline
from millpond.relation import Column
from millpond.run.statics import key_of
from millpond.spark.runner import FileInput, Input
from millpond.stream import Chunk
from millpond.types import BIGINT

ROWS_MIN = 200_000
"""Of fewer rows the footers take as long to read as decimals to compute with."""

_FILES_MAX = 64
"""Of a relation with more files their footers are not worth reading."""

_INTEGERS = ("INT32", "INT64")


def counted_in_units(
    pipeline: StreamPipeline, given: Mapping[str, Input], chunk: Chunk
) -> tuple[StreamPipeline, Mapping[str, Input]]:
    """A pipeline and its inputs for a chunk, with numerics in units where that is safe and worth it."""
    if chunk.rows < ROWS_MIN:
        return pipeline, given
    stream = key_of(pipeline.stream)
    chunk_files = [str(file.path) for file in chunk.files]  # The input may be a folder of links to them.
    greatest = {
        key: _greatest(chunk_files if key == stream else one.paths, one.columns)
        for key, one in given.items()
        if isinstance(one, FileInput)
    }
    made, in_units = pipeline.in_units(greatest)
    return made, {key: _as_bigints(one, in_units.get(key, frozenset())) for key, one in given.items()}


def _as_bigints(given: Input, names: frozenset[str]) -> Input:
    if not names or not isinstance(given, FileInput):
        return given
    return replace(
        given, columns=tuple(replace(one, type=BIGINT) if one.name in names else one for one in given.columns)
    )


def _greatest(paths: Sequence[str], columns: Sequence[Column]) -> dict[str, int]:
    """How far from zero the numerics in all files are at most, by column; not of those that a file does not tell of."""
    scales = {one.name: one.type.decimal_scale for one in columns if one.type.name == "numeric"}
    if not (scales and 0 < len(paths) <= _FILES_MAX):
        return {}
    by_file = [_greatest_in_file(path) for path in paths]
    found = {name: [file.get((name, scale)) for file in by_file] for name, scale in scales.items()}
    return {name: max(one for one in mosts if one is not None) for name, mosts in found.items() if None not in mosts}


def _greatest_in_file(path: str) -> Mapping[tuple[str, int], int]:
    """The same of one file, by name and scale."""
    metadata = pq.read_metadata(path)
    found: dict[tuple[str, int], int] = {}
    for place in range(metadata.num_columns):
        column = metadata.schema.column(place)
        if column.physical_type in _INTEGERS and column.logical_type.type == "DECIMAL" and column.scale is not None:
            groups = (metadata.row_group(group).column(place) for group in range(metadata.num_row_groups))
            mosts = [_greatest_of(group) for group in groups]
            if mosts and None not in mosts:
                found[column.name, column.scale] = max(one for one in mosts if one is not None)
    return found


def _greatest_of(group: pq.ColumnChunkMetaData) -> int | None:
    statistics = group.statistics
    if statistics is None or not statistics.has_min_max:
        return None
    least, greatest = statistics.min_raw, statistics.max_raw
    assert isinstance(least, int)
    assert isinstance(greatest, int)
    return max(abs(least), abs(greatest))

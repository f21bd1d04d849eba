"""COPY's file formats over Arrow: CSV, text, Parquet and JSON lines, in (`read`) and out (`write`)."""

from millpond.copy.delimited_output import OutputColumn
from millpond.copy.options import CSV, CopyOption, CopyOptions, copy_options
from millpond.copy.read import CopyReader, Progress, read
from millpond.copy.write import write

__all__ = [
    "CSV",
    "CopyOption",
    "CopyOptions",
    "CopyReader",
    "OutputColumn",
    "Progress",
    "copy_options",
    "read",
    "write",
]

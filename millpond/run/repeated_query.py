"""A query that is run again and again over other files: it reads them through folders of links whose paths stay the
same, so that Spark need not analyse it again."""

from __future__ import annotations

import shutil
import uuid
import weakref
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from millpond.run.new_tuples import NewTuples
from millpond.spark.runner import FileInput, Frame, Input, Runner
from millpond.stream import Chunk

_FORMS_MAX = 4
"""A query may take a few forms by turns, such as with and without new tuples."""

_RANDOM = "RAND()"
"""Its seed is chosen when a query is analysed: repeated, it would give the same numbers again."""


class RepeatedQuery:
    """The query of one owner, who runs it once at a time. The folders go with it."""

    def __init__(self, scratch: Path) -> None:
        self._directory = scratch / f"query-{uuid.uuid4().hex}"
        self._analysed: OrderedDict[str, tuple[Mapping[str, Input], Frame]] = OrderedDict()
        weakref.finalize(self, shutil.rmtree, self._directory, ignore_errors=True)

    def folder(self, name: str, files: Mapping[str, Path]) -> str:
        """A folder with files under names, in place of those that it held before."""
        folder = self._directory / name
        folder.mkdir(parents=True, exist_ok=True)
        for link in folder.iterdir():
            link.unlink()
        for link_name, path in files.items():
            (folder / link_name).symlink_to(path)
        return str(folder)

    def file(self, name: str, rows: pa.Table) -> str:
        """A folder with rows in a file, in place of those that it held before."""
        folder = self._directory / name
        folder.mkdir(parents=True, exist_ok=True)
        old = list(folder.iterdir())
        # Read once: encoding and statistics would cost more than they save.
        pq.write_table(
            rows,
            folder / f"{uuid.uuid4().hex}.parquet",
            compression="none",
            use_dictionary=False,
            write_statistics=False,
            store_decimal_as_integer=True,
        )
        for path in old:
            path.unlink()
        return str(folder)

    def table(self, name: str, given: Input) -> Input:
        """A table's files in the folder of that name: its next version is another content of the same input."""
        if not isinstance(given, FileInput):
            return given
        paths = [Path(path) for path in given.paths]
        folder = self.folder(name, {f"{path.parent.name}-{path.name}": path for path in paths})
        return replace(given, paths=(folder,), stable=False)

    def new_tuples(self, name: str, chunk: Chunk) -> NewTuples:
        """A chunk in the folder of that name. A cut one, which is rare, stays where it is: a query with other tids is
        another query."""
        if chunk.is_cut:
            return NewTuples.of(chunk)
        return NewTuples(chunk.rows, (self.folder(name, {file.path.name: file.path for file in chunk.files}),), None)

    def frame(self, runner: Runner, text: str, inputs: Mapping[str, Input], tag: str) -> Frame:
        """The query, analysed: often it is one of the last times, over folders that hold other files now."""
        known = self._analysed.pop(text, None)
        is_same = known is not None and known[0] == inputs and _RANDOM not in text
        frame = known[1] if known is not None and is_same else runner.frame(text, inputs, tag)
        self._analysed[text] = (inputs, frame)
        if len(self._analysed) > _FORMS_MAX:
            self._analysed.popitem(last=False)
        return frame.again(tag) if is_same else frame

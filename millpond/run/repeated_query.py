"""A query that is run again and again over other files: it reads them in folders whose paths stay the same, so that
Spark need not analyse it again.

If one stage does all of it, Spark need not even plan it again (`spark/kept_job.py`). Files have numbers as names then,
and the job is planned over empty ones of a round length, which those that come later are not longer than.
"""

from __future__ import annotations

import os
import shutil
import uuid
import weakref
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from millpond.relation import Column
from millpond.run.new_tuples import NewTuples
from millpond.run.table_copy import TableCopy, is_worth_copying
from millpond.spark.kept_job import KeptJob
from millpond.spark.runner import FileInput, Frame, Input, QueryInput, Runner, StateInput, needs_tids
from millpond.stream import Chunk

_FORMS_MAX = 4
"""A query may take a few forms by turns, such as with and without new tuples."""

_JOBS_MAX = 8
"""A form may take a few jobs by turns, for other numbers of files or lengths."""

_COPIED_ROWS_MAX = 50_000
"""Up to so many tuples of a chunk are copied into one file, with the columns that are needed: that takes less time than
another job would need to be planned for other files."""

_SHORTEST = 1 << 20
_LONGER = 8
"""Lengths for which jobs are planned: the shortest, and how many times as long the next one is."""

_RANDOM = "RAND()"
"""Its seed is chosen when a query is analysed: repeated, it would give the same numbers again."""


class Folder(str):
    """The path of a folder that is filled anew for each run."""

    __slots__ = ()


class RowsFolder(Folder):
    """One that always holds one file."""

    __slots__ = ()


Content = tuple[tuple[str, int], ...]
"""The names of the files in a folder, and the lengths that jobs are planned for."""


@dataclass
class _Form:
    """A query with its inputs, analysed, and its jobs by what the folders among its inputs hold. `seen` is what they
    held the last time."""

    inputs: Mapping[str, Input]
    frame: Frame
    has_one_stage: bool
    seen: tuple[Content, ...] = ()
    jobs: OrderedDict[tuple[Content, ...], KeptJob] = field(default_factory=OrderedDict)


class RepeatedQuery:
    """The query of one owner, who runs it once at a time. The folders go with it."""

    def __init__(self, scratch: Path) -> None:
        self._directory = scratch / f"query-{uuid.uuid4().hex}"
        self._forms: OrderedDict[tuple[str, ...], _Form] = OrderedDict()
        self._tables: dict[str, TableCopy] = {}
        weakref.finalize(self, shutil.rmtree, self._directory, ignore_errors=True)

    # -- what it reads -----------------------------------------------------------------------------------------------

    def files(self, name: str, paths: Sequence[Path]) -> Folder:
        """A folder with files, in place of those that it held before."""
        return self._linked(f"{name}-files", {f"{place}.parquet": path for place, path in enumerate(paths)})

    def rows(self, name: str, rows: pa.Table) -> RowsFolder:
        """A folder with rows in a file, in place of those that it held before."""
        folder = self._directory / name
        folder.mkdir(parents=True, exist_ok=True)
        new = folder / ".new"
        # Read once: encoding and statistics would cost more than they save.
        pq.write_table(
            rows,
            new,
            compression="none",
            use_dictionary=False,
            write_statistics=False,
            store_decimal_as_integer=True,
        )
        new.replace(folder / "0.parquet")
        return RowsFolder(folder)

    def table(self, name: str, given: Input) -> Input:
        """A table's files in the folder of that name: its next version is another content of the same input. Many files
        of little content are one file."""
        if not isinstance(given, FileInput) or not given.paths:
            return given
        return replace(given, paths=(self._table(name, given),), stable=False)

    def _table(self, name: str, given: FileInput) -> Folder:
        if not is_worth_copying(given.paths):
            self._tables.pop(name, None)
            return self.files(name, [Path(path) for path in given.paths])
        copy = self._tables.setdefault(name, TableCopy())
        if copy.read(given.paths, given.columns):
            self.rows(name, copy.rows)
        return RowsFolder(self._directory / name)

    def new_tuples(self, name: str, chunk: Chunk, columns: Sequence[Column], *, single: bool = False) -> FileInput:
        """Columns of a chunk. Tids are computed from the names of a stream's files, and one that is cut, which is rare
        where tuples are many, stays where it is: a query with other tids is another query."""
        wanted = tuple(columns)
        if wanted and chunk.rows <= _COPIED_ROWS_MAX:
            return FileInput((self.rows(name, chunk.read([one.name for one in wanted])),), wanted, single=single)
        new = NewTuples.of(chunk)
        given = FileInput(new.paths, wanted, is_stream=True, tids=new.tids, single=single)
        if chunk.is_cut:
            return given
        paths = [file.path for file in chunk.files]
        if needs_tids(given):
            return replace(given, paths=(self._linked(f"{name}-segments", {path.name: path for path in paths}),))
        return replace(given, paths=(self.files(name, paths),))

    def _linked(self, name: str, paths: Mapping[str, Path]) -> Folder:
        folder = self._directory / name
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        for link, path in paths.items():
            (folder / link).symlink_to(path)
        return Folder(folder)

    # -- running -----------------------------------------------------------------------------------------------------

    def frame(self, runner: Runner, text: str, inputs: Mapping[str, Input], tag: str) -> Frame:
        """The query, analysed: often it is one of the last times, over folders that hold other files now."""
        form = self._known(text, inputs)
        if form is not None:
            return form.frame.again(tag)
        return self._new_form(runner, text, inputs, tag).frame

    def collect(self, runner: Runner, text: str, inputs: Mapping[str, Input], tag: str) -> pa.Table:
        """The rows of the query: often of one that is planned already."""
        known = self._known(text, inputs)
        form = known or self._new_form(runner, text, inputs, tag)
        job = _job(runner, form, tag) if form.has_one_stage else None
        if job is not None:
            return job.collect(tag)
        return form.frame.collect() if known is None else form.frame.again(tag).collect()

    def _known(self, text: str, inputs: Mapping[str, Input]) -> _Form | None:
        key = (text, *_paths(inputs))
        form = self._forms.get(key)
        if form is None or form.inputs != inputs or _RANDOM in text:
            return None
        self._forms.move_to_end(key)
        return form

    def _new_form(self, runner: Runner, text: str, inputs: Mapping[str, Input], tag: str) -> _Form:
        read = list(_stored(inputs))
        by_names = any(needs_tids(one) for one in read if isinstance(one, FileInput))
        form = self._forms[text, *_paths(inputs)] = _Form(inputs, runner.frame(text, inputs, tag), not by_names)
        if len(self._forms) > _FORMS_MAX:
            self._forms.popitem(last=False)
        return form


def _job(runner: Runner, form: _Form, tag: str) -> KeptJob | None:
    """The job for what the folders hold now; None if no stage alone can do it, or it may well not be so again."""
    folders = _folders(form.inputs)
    content = tuple(_content(folder) for folder in folders)
    seen, form.seen = form.seen, content
    job = form.jobs.pop(content, None)
    if job is None and seen != content and not all(isinstance(folder, RowsFolder) for folder in folders):
        return None
    if job is None:
        with _placeholders(folders, content):
            job = KeptJob.planned(runner, form.frame, tag)
    if job is None:
        form.has_one_stage = False
        return None
    form.jobs[content] = job
    if len(form.jobs) > _JOBS_MAX:
        form.jobs.popitem(last=False)
    return job


def _stored(inputs: Mapping[str, Input]) -> Iterator[Input]:
    """The inputs, and those of queries among them."""
    for given in inputs.values():
        if isinstance(given, QueryInput):
            yield from _stored(given.inputs)
        else:
            yield given


def _paths(inputs: Mapping[str, Input]) -> list[str]:
    return [path for one in _stored(inputs) if isinstance(one, (FileInput, StateInput)) for path in one.paths]


def _folders(inputs: Mapping[str, Input]) -> list[Folder]:
    return list(dict.fromkeys(path for path in _paths(inputs) if isinstance(path, Folder)))


def _content(folder: Folder) -> Content:
    with os.scandir(folder) as entries:
        return tuple(sorted((one.name, _planned_length(one.stat().st_size)) for one in entries))


def _planned_length(size: int) -> int:
    """
    >>> _planned_length(1), _planned_length((1 << 20) + 1) == 8 << 20
    (1048576, True)
    """
    length = _SHORTEST
    while length < size:
        length *= _LONGER
    return length


@contextmanager
def _placeholders(folders: Sequence[Folder], contents: Sequence[Content]) -> Iterator[None]:
    """Empty files of the lengths that a job is planned for, in place of those that the folders hold."""
    both = zip(map(Path, folders), contents, strict=True)
    places = [(folder, name, length) for folder, content in both for name, length in content]
    for folder, name, length in places:
        (folder / name).rename(folder / f".{name}")
        (folder / name).touch()
        os.truncate(folder / name, length)
    try:
        yield
    finally:
        for folder, name, _ in places:
            (folder / f".{name}").replace(folder / name)

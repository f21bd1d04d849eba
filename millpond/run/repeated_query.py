"""A query that is run again and again over other files: it reads them in folders whose paths stay the same, so that
Spark need not analyse it again.

If one stage does all of it, Spark need not even plan it again (`spark/kept_job.py`). Files have numbers as names then,
and the job reads as much of them as is in empty ones, much longer, that stand in their place while it is made.
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

REHEARSALS = 2
"""How often a query is run until there is a job for it."""

_COPIED_ROWS_MAX = 50_000
"""Up to so many tuples of a chunk are copied into one file, with the columns that are needed: that takes less time than
another job would need to be planned for other files."""

_LENGTH = 1 << 30
"""The length of files that jobs are planned for: none may be longer."""

_LITTLE, _MORE = 1 << 20, 8
"""Sizes that make a difference for how to join: up to so much, and each time so many times more."""

_RANDOM = "RAND()"
"""Its seed is chosen when a query is analysed: repeated, it would give the same numbers again."""


class Folder(str):
    """The path of a folder that is filled anew for each run."""

    __slots__ = ()


class RowsFolder(Folder):
    """One that always holds one file."""

    __slots__ = ()


Content = tuple[tuple[str, int], ...]
"""The names of the files in a folder, and about how large they are, if that matters."""


@dataclass
class _Form:
    """A query with its inputs: as it was analysed, for one stage or for several, and its jobs by what the folders among
    its inputs hold. `seen` is what they held the last time."""

    text: str
    inputs: Mapping[str, Input]
    has_one_stage: bool
    frame: Frame | None = None
    one_stage: Frame | None = None
    is_known: bool = False
    seen: tuple[Content, ...] = ()
    jobs: OrderedDict[tuple[Content, ...], KeptJob] = field(default_factory=OrderedDict)

    def analysed(self, runner: Runner, tag: str) -> Frame:
        """The query over what the folders hold now."""
        if self.frame is not None:
            return self.frame.again(tag)
        self.frame = runner.frame(self.text, self.inputs, tag)
        return self.frame

    def job(self, runner: Runner, tag: str) -> KeptJob | None:
        """The job for what the folders hold now; None if no stage alone can do it, or it may well not be asked for
        again, as when it was not before."""
        folders = _folders(self.inputs)
        content = _contents(folders) if self.has_one_stage else None
        if content is None:
            return None
        (seen, self.seen), (was_known, self.is_known) = (self.seen, content), (self.is_known, True)
        job = self.jobs.pop(content, None)
        is_likely = was_known and (seen == content or all(isinstance(folder, RowsFolder) for folder in folders))
        if job is None and is_likely:
            job = self._planned(runner.one_stage, tag, folders)
        if job is not None:
            self.jobs[content] = job
            if len(self.jobs) > _JOBS_MAX:
                self.jobs.popitem(last=False)
        return job

    def _planned(self, runner: Runner, tag: str, folders: Sequence[Folder]) -> KeptJob | None:
        if self.one_stage is None:
            self.one_stage = runner.frame(self.text, self.inputs, tag)
        job = KeptJob.planned(runner, self.one_stage, tag, _placeholders(folders))
        self.has_one_stage = job is not None
        return job


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
        return self._form(text, inputs).analysed(runner, tag)

    def collect(self, runner: Runner, text: str, inputs: Mapping[str, Input], tag: str) -> pa.Table:
        """The rows of the query: often of one that is planned already."""
        form = self._form(text, inputs)
        job = form.job(runner, tag)
        return form.analysed(runner, tag).collect() if job is None else job.collect(tag)

    def _form(self, text: str, inputs: Mapping[str, Input]) -> _Form:
        """The query as it is known, if it is."""
        key = (text, *_paths(inputs))
        form = self._forms.pop(key, None)
        if form is None or form.inputs != inputs or _RANDOM in text:
            form = _Form(text, inputs, _RANDOM not in text and all(map(_is_for_one_stage, _stored(inputs))))
        self._forms[key] = form
        if len(self._forms) > _FORMS_MAX:
            self._forms.popitem(last=False)
        return form


def _is_for_one_stage(given: Input) -> bool:
    """Whether one task reads it. Tids come from the names of files, which are others each time."""
    if isinstance(given, FileInput):
        return (given.single or not given.paths) and not needs_tids(given)
    return not isinstance(given, StateInput) or given.single or not given.paths


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


def _contents(folders: Sequence[Folder]) -> tuple[Content, ...] | None:
    """What folders hold; None if a file is longer than jobs can read."""
    found: list[Content] = []
    for folder in folders:
        with os.scandir(folder) as entries:
            sizes = sorted((one.name, one.stat().st_size) for one in entries)
        if any(size > _LENGTH for _, size in sizes):
            return None
        # Of one folder alone nothing is joined.
        found.append(tuple((name, _about(size) if len(folders) > 1 else 0) for name, size in sizes))
    return tuple(found)


def _about(size: int) -> int:
    """
    >>> _about(1), _about((1 << 20) + 1) == 8 << 20
    (1048576, True)
    """
    about = _LITTLE
    while about < size:
        about *= _MORE
    return about


@contextmanager
def _placeholders(folders: Sequence[Folder]) -> Iterator[None]:
    """Empty files of the length that jobs are planned for, in place of those that the folders hold."""
    places = [path for folder in folders for path in Path(folder).iterdir()]
    for path in places:
        path.rename(path.with_name(f".{path.name}"))
        path.touch()
        os.truncate(path, _LENGTH)
    try:
        yield
    finally:
        for path in places:
            path.with_name(f".{path.name}").replace(path)

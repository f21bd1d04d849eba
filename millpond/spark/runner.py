"""Runs Spark SQL: text and named inputs in, Arrow or files out. Nothing else knows how a query is run."""

from __future__ import annotations

import itertools
import threading
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
from py4j.java_gateway import JavaObject
from pyspark.sql import DataFrame, SparkSession

from millpond.relation import TID, Column
from millpond.spark.buckets import is_partitioned, number_buckets, read_buckets
from millpond.spark.failure import SparkFailure, sql_error
from millpond.spark.python_functions import PythonFunctions
from millpond.spark.session import for_one_stage

FILE_COLUMN = "__file"
ROW_COLUMN = "__row"
"""Names under which an input with `row_ids` shows where in which file each row stands."""

_TID = "CAST(substring(_metadata.file_name, 1, 20) AS BIGINT) + _metadata.row_index AS tid"
"""A segment's file name starts with its first tid, in 20 digits."""

_WITH = "WITH "

_VIEWS_KEPT = 64
"""Stable inputs that stay defined between statements: defining one costs as much as a small query."""

_PIECE_ROWS = 65_536
"""Rows of a large result that are in memory at a time."""

_WIDE_TYPES = ("string", "binary", "array")
_WIDE_BYTES = 200
"""What such a value may well take. Spark, which counts 20 bytes, wants to know which of two joined sides is smaller."""

_GENERATED_ROWS = 1000
"""What a generator may well make of a row, such as one of an array; Spark counts one."""

_ROW_BYTES = 8
"""What Spark adds for each row."""


@dataclass(frozen=True)
class FileInput:
    """Parquet files as a relation. A stable one means the same files whenever its name is used.

    `tids` cuts a stream's files to a range. A `single` one is little, and read by one task.
    """

    paths: tuple[str, ...]
    columns: tuple[Column, ...]
    is_stream: bool = False
    row_ids: bool = False
    stable: bool = False
    tids: tuple[int, int] | None = None
    single: bool = False


@dataclass(frozen=True)
class ArrowInput:
    """Few rows from memory as a relation."""

    rows: pa.Table


@dataclass(frozen=True)
class StateInput:
    """Parquet files whose columns have types of Spark's own, given as its schema text.

    With `buckets`, each file holds the rows whose `keys` hash to the number in its name, so that grouping by them needs
    no shuffle. A `single` one is little, and read by one task.
    """

    paths: tuple[str, ...]
    schema: str
    buckets: int = 0
    keys: tuple[str, ...] = ()
    single: bool = False


@dataclass(frozen=True)
class QueryInput:
    """A relation that is itself a query over inputs."""

    text: str
    inputs: Mapping[str, Input]


Stored: TypeAlias = "FileInput | ArrowInput | StateInput"
Input: TypeAlias = "Stored | QueryInput"


class Frame:
    """An analysed query, ready to run once or more."""

    def __init__(self, runner: Runner, dataframe: DataFrame, tag: str) -> None:
        self.dataframe = dataframe
        self._runner, self._tag = runner, tag

    def collect(self) -> pa.Table:
        """All rows, as Arrow."""
        with self._runner.job(self._tag):
            rows = self.dataframe.toArrow()
        return pa.Table.from_arrays(rows.columns, schema=of_nullable(rows.schema))

    def write(
        self, directory: Path, *, once_per: Sequence[str] = (), buckets: int = 0, keys: Sequence[str] = ()
    ) -> None:
        """All rows, as Parquet files in a new directory; of rows equal in `once_per`, any one.

        With `buckets`, the files are numbered by the hash of the keys.
        """
        with self._runner.job(self._tag):
            dataframe = self.dataframe.dropDuplicates(list(once_per)) if once_per else self.dataframe
            if buckets and not is_partitioned(dataframe, buckets, keys):
                dataframe = dataframe.repartition(buckets, *keys)
            dataframe.write.parquet(str(directory), compression="snappy")
            if buckets:
                number_buckets(directory)

    def again(self, tag: str) -> Frame:
        """The same query over what the folders among its inputs hold now."""
        self.refreshed_plan(tag)
        with self._runner.job(tag):
            return Frame(self._runner, self.dataframe.select("*"), tag)

    def refreshed_plan(self, tag: str) -> JavaObject:
        """Spark's logical plan, which knows the files that the folders hold now."""
        with self._runner.job(tag):
            plan = self.dataframe._jdf.queryExecution().analyzed()
            plan.refresh()
            # Those in expressions are no children of the plan.
            subqueries = plan.subqueriesAll()
            for place in range(subqueries.size()):
                subqueries.apply(place).refresh()
            return plan

    def size_estimate(self) -> int:
        """Bytes that the rows may take, by Spark's estimate before running anything; rather too many than too few."""
        with self._runner.job(self._tag):
            plan = self.dataframe._jdf.queryExecution().optimizedPlan()
            jvm = self._runner.session._jvm
            assert jvm is not None
            generates = plan.containsPattern(jvm.org.apache.spark.sql.catalyst.trees.TreePattern.GENERATE())
            size = int(str(plan.stats().sizeInBytes())) * (_GENERATED_ROWS if generates else 1)
            rows = size // (_ROW_BYTES + int(plan.schema().defaultSize()))
        wide = [field for field in self.dataframe.schema if field.dataType.typeName() in _WIDE_TYPES]
        return size + rows * len(wide) * _WIDE_BYTES

    def pieces(self, directory: Path) -> Iterator[pa.Table]:
        """All rows in their order, by way of Parquet files in a new directory: never in memory as a whole."""
        self.write(directory)
        for path in sorted(directory.glob("*.parquet")):
            for batch in pq.ParquetFile(path).iter_batches(_PIECE_ROWS):
                yield pa.Table.from_batches([batch])

    def explain(self) -> str:
        """Spark's physical plan."""
        with self._runner.job(self._tag):
            return str(self.dataframe._jdf.queryExecution().simpleString())


class Runner:
    """Runs the queries of one pond on its Spark session; safe to use from several threads."""

    def __init__(self, session: SparkSession, *, is_for_one_stage: bool = False) -> None:
        """Its runner for one stage plans queries over few rows as one stage, if it can."""
        self.session = session
        self.one_stage = self if is_for_one_stage else Runner(for_one_stage(session), is_for_one_stage=True)
        self.buckets = int(session.conf.get("spark.sql.shuffle.partitions") or 1)
        self.python_functions = PythonFunctions([session, self.one_stage.session])
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, None] = OrderedDict()
        self._in_use: Counter[str] = Counter()

    def frame(self, sql: str, inputs: Mapping[str, Input], tag: str) -> Frame:
        """Analyse a query whose relations are `inputs`, by the names that the text uses."""
        text, stored = _inlined(sql, inputs)
        with self.job(tag), self._defined(stored):
            return Frame(self, self.session.sql(text), tag)

    def from_arrow(self, rows: pa.Table) -> DataFrame:
        # An empty chunk in the middle makes Spark lose the rows of others.
        return self.session.createDataFrame(rows.combine_chunks())

    def new_name(self) -> str:
        """A relation's name that no other statement uses."""
        return f"input_{next(self._numbers)}"

    def interrupt(self, tag: str) -> None:
        """Cancel what runs under a tag."""
        self.session.sparkContext.cancelJobsWithTag(tag)

    @contextmanager
    def job(self, tag: str) -> Iterator[None]:
        """Label this thread's Spark jobs, give them a fair share, and turn Spark's errors into SQL's."""
        context = self.session.sparkContext
        context.setLocalProperty("spark.scheduler.pool", tag)
        context.addJobTag(tag)
        context.setInterruptOnCancel(True)
        try:
            yield
        except SparkFailure as error:
            raise sql_error(error) from error
        finally:
            context.removeJobTag(tag)

    @contextmanager
    def _defined(self, inputs: Mapping[str, Stored]) -> Iterator[None]:
        """Inputs as temporary views. A frame, once analysed, no longer needs them."""
        stable = [name for name, given in inputs.items() if isinstance(given, FileInput) and given.stable]
        with self._lock:
            self._in_use.update(stable)
        try:
            for name, given in inputs.items():
                if name not in self._kept:
                    self._define(name, given)
            with self._lock:
                self._kept.update(dict.fromkeys(stable))
            yield
        finally:
            self._forget([name for name in inputs if name not in stable], stable)

    def _define(self, name: str, given: Stored) -> None:
        self._dataframe(given).createOrReplaceTempView(name)

    def _dataframe(self, given: Stored) -> DataFrame:
        if isinstance(given, ArrowInput):
            return self.from_arrow(given.rows)
        if isinstance(given, StateInput):
            return self._state(given)
        return self._read(given)

    def _state(self, given: StateInput) -> DataFrame:
        if not given.paths:
            return self.session.createDataFrame([], given.schema)
        if given.buckets:
            return read_buckets(self.session, given.paths, given.schema, given.buckets, given.keys)
        dataframe = self.session.read.schema(given.schema).parquet(*given.paths)
        return dataframe.coalesce(1) if given.single else dataframe

    def _forget(self, names: Sequence[str], stable: Sequence[str]) -> None:
        with self._lock:
            self._in_use.subtract(stable)
            idle = [name for name in self._kept if self._in_use[name] <= 0]
            old = idle[: max(0, len(self._kept) - _VIEWS_KEPT)]
            for name in old:
                del self._kept[name], self._in_use[name]
        for name in (*names, *old):
            self.session.catalog.dropTempView(name)

    def _read(self, given: FileInput) -> DataFrame:
        columns = [column for column in given.columns if column.name != TID.name or not given.is_stream]
        schema = ", ".join(f"{quote(column.name)} {column.type.spark}" for column in columns)
        if not given.paths:
            return self._empty(given, columns)
        dataframe = self.session.read.schema(schema).parquet(*given.paths)
        names = [quote(column.name) for column in columns]
        if given.is_stream:
            rows = _within(dataframe.selectExpr(*names, _TID), given.tids) if needs_tids(given) else dataframe
            return rows.coalesce(1) if given.single else rows
        if given.row_ids:
            position = [f"_metadata.file_path AS {FILE_COLUMN}", f"_metadata.row_index AS {ROW_COLUMN}"]
            return dataframe.selectExpr(*names, *position)
        return dataframe.coalesce(1) if given.single else dataframe

    def _empty(self, given: FileInput, columns: Sequence[Column]) -> DataFrame:
        types = [(column.name, column.type.spark) for column in columns]
        if needs_tids(given):
            types.append((TID.name, "BIGINT"))
        if given.row_ids:
            types += [(FILE_COLUMN, "STRING"), (ROW_COLUMN, "BIGINT")]
        return self.session.range(0).selectExpr(*(f"CAST(NULL AS {kind}) AS {quote(name)}" for name, kind in types))


def of_nullable(schema: pa.Schema) -> pa.Schema:
    """A schema whose columns may all be NULL. Spark knows of some that they never are, but of others when it computes
    the same in another way; and rows of both ways have to fit together.

    >>> of_nullable(pa.schema([pa.field("a", pa.int64(), nullable=False)])).field("a").nullable
    True
    """
    return pa.schema([field.with_nullable(True) for field in schema])


def changeable(given: Input) -> Input:
    """An input whose name means other files the next time."""
    return replace(given, stable=False) if isinstance(given, FileInput) else given


def _inlined(sql: str, inputs: Mapping[str, Input]) -> tuple[str, dict[str, Stored]]:
    """The text with the queries among its inputs in front of it, and the other inputs of all of them.

    Defining a query as a relation of its own would cost as much as a small job.

    >>> _inlined("SELECT * FROM q", {"q": QueryInput("SELECT 1", {})})
    ('WITH q AS (SELECT 1) SELECT * FROM q', {})
    """
    stored: dict[str, Stored] = {}
    queries: list[str] = []
    for name, given in inputs.items():
        if isinstance(given, QueryInput):
            text, below = _inlined(given.text, given.inputs)
            queries.append(f"{name} AS ({text})")
            stored |= below
        else:
            stored[name] = given
    if not queries:
        return sql, stored
    own = f", {sql.removeprefix(_WITH)}" if sql.startswith(_WITH) else f" {sql}"
    return f"{_WITH}{', '.join(queries)}{own}", stored


def renamed(text: str, names: Sequence[str] | None) -> str:
    """A query whose columns c0, c1, ... have other names, if there are any.

    >>> renamed("SELECT 1 AS c0", ["a"])
    'SELECT c0 AS `a` FROM (SELECT 1 AS c0)'
    """
    if names is None:
        return text
    columns = ", ".join(f"c{index} AS {quote(name)}" for index, name in enumerate(names))
    return f"SELECT {columns} FROM ({text})"


def needs_tids(given: FileInput) -> bool:
    """Whether somebody asks for the tids of a stream, which are computed, or they cut its files."""
    return given.is_stream and (given.tids is not None or any(column.name == TID.name for column in given.columns))


def _within(dataframe: DataFrame, tids: tuple[int, int] | None) -> DataFrame:
    return dataframe if tids is None else dataframe.where(f"tid >= {tids[0]} AND tid < {tids[1]}")


def quote(name: str) -> str:
    """A name in Spark SQL.

    >>> quote("a`b")
    '`a``b`'
    """
    return "`" + name.replace("`", "``") + "`"

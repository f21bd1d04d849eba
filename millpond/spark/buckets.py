"""Files by the hash of keys: Spark groups what it reads from them without a shuffle.

Spark knows such files only as tables of its own catalog. The relation that such a table is read through can be had for
any list of files, and the number in a file's name says which bucket it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from millpond.errors import InternalError

_PARTITION = re.compile(r"part-(\d{5,})-")


def is_partitioned(dataframe: DataFrame, buckets: int, keys: Sequence[str]) -> bool:
    """Whether each task of the query delivers just the rows of one bucket, by the hash of the keys as they come out."""
    plan: Any = dataframe._jdf.queryExecution().executedPlan()
    output = plan.output()
    shown = dict(
        zip(dataframe.columns, (output.apply(place).toString() for place in range(output.size())), strict=True)
    )
    wanted = f"hashpartitioning({', '.join(shown[key] for key in keys)}, {buckets})"
    return bool(plan.outputPartitioning().toString() == wanted)


def number_buckets(directory: Path) -> None:
    """Name the files that Spark wrote, one for each task, by their buckets."""
    for path in directory.glob("*.parquet"):
        found = _PARTITION.match(path.name)
        if found is None:
            raise InternalError(f"Spark wrote a file with an unexpected name: {path.name}")
        path.rename(directory / f"bucket_{int(found[1]):05d}.parquet")


def read_buckets(
    session: SparkSession, paths: Sequence[str], schema: str, buckets: int, keys: Sequence[str]
) -> DataFrame:
    """Files named by their buckets, of one part or of several, as a relation that Spark knows to be partitioned."""
    jvm: Any = session._jvm
    spark: Any = session._jsparkSession
    sources, tools = jvm.org.apache.spark.sql.execution.datasources, jvm.org.apache.spark.api.python.PythonUtils
    types, none = jvm.org.apache.spark.sql.types.StructType, jvm.scala.Option.apply(None)
    options = tools.toScalaMap({})
    cache = getattr(getattr(sources, "NoopCache$"), "MODULE$")
    files = tools.toSeq([jvm.org.apache.hadoop.fs.Path(path) for path in paths])
    index = sources.InMemoryFileIndex(spark, files, options, none, cache, none, none)
    spec = jvm.org.apache.spark.sql.catalyst.catalog.BucketSpec(buckets, tools.toSeq(list(keys)), tools.toSeq([]))
    relation = sources.HadoopFsRelation(
        index,
        types(),
        types.fromDDL(schema),
        jvm.scala.Option.apply(spec),
        sources.parquet.ParquetFileFormat(),
        options,
        spark,
    )
    return DataFrame(spark.baseRelationToDataFrame(relation), session)

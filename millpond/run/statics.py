"""What stream pipelines read besides their stream: pinned tables, and the rows of static pipelines, computed once."""

from __future__ import annotations

import shutil
import threading
import uuid
import weakref
from collections.abc import Mapping
from pathlib import Path

from millpond.plan.pipelines import StaticPipeline
from millpond.relation import Relation
from millpond.spark.runner import FileInput, Input, Runner
from millpond.sql.translate import relation_key


def key_of(relation: Relation) -> str:
    """A relation's name in the mappings that pipelines are printed with."""
    return relation_key(relation.schema, relation.name)


class Statics:
    """The static side of one view. A static pipeline runs when its rows are first needed, and never again."""

    def __init__(
        self, pinned: Mapping[str, Input], pipelines: tuple[StaticPipeline, ...], runner: Runner, scratch: Path
    ) -> None:
        self.pinned = pinned
        self._pipelines = {key_of(pipeline.relation): pipeline for pipeline in pipelines}
        self._runner = runner
        self._directory = scratch / f"static-{uuid.uuid4().hex}"
        self._lock = threading.Lock()
        self._computed: dict[str, FileInput] = {}
        weakref.finalize(self, shutil.rmtree, self._directory, ignore_errors=True)

    def __getitem__(self, key: str) -> Input:
        if key in self.pinned:
            return self.pinned[key]
        with self._lock:
            if key not in self._computed:
                self._computed[key] = self._compute(self._pipelines[key])
            return self._computed[key]

    def compute(self) -> None:
        """Run all static pipelines now."""
        for key in self._pipelines:
            self[key]

    def definition(self, key: str) -> object:
        """What tells the rows under a key from others: the files of a table, or a pipeline over such files."""
        pipeline = self._pipelines.get(key)
        if pipeline is None:
            return self.pinned.get(key)
        return pipeline.tree, tuple(self.pinned[key_of(table)] for table in pipeline.tables)

    def _compute(self, pipeline: StaticPipeline) -> FileInput:
        inputs = {self._runner.new_name(): table for table in pipeline.tables}
        text = pipeline.to_spark({key_of(table): name for name, table in inputs.items()})
        given = {name: self.pinned[key_of(table)] for name, table in inputs.items()}
        directory = self._directory / uuid.uuid4().hex
        self._runner.frame(text, given, "millpond-statics").write(directory)
        paths = sorted(str(path) for path in directory.glob("*.parquet"))
        return FileInput(tuple(paths), pipeline.columns)

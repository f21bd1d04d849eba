"""What a plan says of two windows that are joined and grouped: which rows of them are kept, and how pairs are grouped.

answer = upper( merge( pairs so far, pairs with a new row ) )
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from sqlglot import exp

from millpond.plan.pipelines import Grouping, StateColumn, printed
from millpond.relation import Column, Relation
from millpond.sql.nodes import identifier
from millpond.sql.spark_text import spark_text
from millpond.sql.translate import relation_key
from millpond.types import BIGINT

ROW_IS_NEW, FIRST_FRAME, LAST_FRAME = "row is new", "first frame of row", "last frame of row"
"""What the rows of both sides say of themselves beside their columns."""

PANE = "pane"
APPEARS, EXPIRES = "appears", "expires"
"""The keys that tell how long pairs live: the first and the last frame that has both rows."""


@dataclass(frozen=True)
class PairSide:
    """One of the windows: the grouping that keeps its rows in arrays of structs, which of their `fields` are used, and
    what the query that joins calls them. Rows find their partners by the column `equal`, if there is one."""

    grouping: Grouping
    relation: Relation
    alias: str
    fields: Mapping[str, Column]
    equal: str | None

    @property
    def key(self) -> str:
        """Its name in the mapping given to the texts of its pairs."""
        return relation_key(self.relation.schema, self.relation.name)

    @property
    def equal_field(self) -> str | None:
        """Where rows that are kept have the column by which they find partners."""
        return next((field for field, column in self.fields.items() if column.name == self.equal), None)


@dataclass(frozen=True)
class Pairs:
    """Pairs of rows of two windows: `state` is what is kept of them, `joined` and `lasting` the queries that make
    partials of those with a new row, of which the second tells how long they live."""

    state: Grouping
    sides: tuple[PairSide, PairSide]
    joined: exp.Expr
    lasting: exp.Expr

    @property
    def groupings(self) -> tuple[Grouping, ...]:
        """What keeps the rows: one grouping for both sides, if they are the same window of the same stream."""
        return tuple({side.grouping.name: side.grouping for side in self.sides}.values())

    @cached_property
    def kept(self) -> Grouping:
        """What is kept, with the life of pairs as keys."""
        held = {APPEARS: "first frame that has both rows", EXPIRES: "last frame that has both rows"}
        lives = tuple(StateColumn(name, BIGINT.spark, what) for name, what in held.items())
        kinds = (*self.state.key_types, BIGINT, BIGINT)
        return replace(self.state, keys=(*self.state.keys, *lives), key_types=kinds)

    def joined_text(self, names: Mapping[str, str]) -> str:
        """The pairs of one frame, as Spark SQL; `names` maps the keys of the sides to relations."""
        return self._hashed(printed(self.joined, names))

    def lasting_text(self, names: Mapping[str, str]) -> str:
        """The pairs of all frames with their lives, as Spark SQL."""
        return self._hashed(printed(self.lasting, names))

    def _hashed(self, text: str) -> str:
        """With the hint not to broadcast a side, which would be a job of its own before the one that joins."""
        if self.sides[0].equal is None:
            return text
        return text.replace("SELECT ", f"SELECT /*+ SHUFFLE_HASH({spark_text(identifier(self.sides[0].alias))}) */ ", 1)

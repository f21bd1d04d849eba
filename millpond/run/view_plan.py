"""A view that is to be opened: its plan, and what it reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from millpond.plan.pipelines import Grouping, SplitPlan
from millpond.plan.shared import MemberId, Since
from millpond.relation import Relation
from millpond.run.statics import Statics


@dataclass(frozen=True)
class ViewPlan:
    """What a view is made from: its split query, what is below its groupings besides the streams, and where rows of
    streams, by oid, go that come too late for its windows."""

    relation: Relation
    plan: SplitPlan
    statics: Statics
    late: Mapping[int, Relation] = field(default_factory=dict)

    @property
    def streams(self) -> dict[int, Relation]:
        return streams_of(self.plan)

    @property
    def groupings(self) -> list[Grouping]:
        """What is kept for it."""
        return [grouping.kept for grouping in self.plan.groupings]

    def member_id(self, grouping: Grouping) -> MemberId:
        return self.relation.oid, grouping.name


def since(grouping: Grouping, begins: Mapping[int, int]) -> Since:
    return tuple((line.stream.oid, begins[line.stream.oid]) for line in grouping.pipelines)


def streams_of(plan: SplitPlan) -> dict[int, Relation]:
    """The streams that a plan reads, by oid."""
    return {line.stream.oid: line.stream for grouping in plan.groupings for line in grouping.pipelines}

"""States that several views share: groupings of the same rows by the same keys become one, with the columns of all.

What a view's own WHERE asks moves into the FILTER of its columns, and a column that counts the view's rows tells which
groups are its own:

    SELECT k, sum(v) FROM s WHERE a AND b GROUP BY k       SELECT k, max(v) FROM s WHERE a GROUP BY k

    SELECT k AS k0, SUM(v) FILTER (WHERE b) AS c0, COUNT(*) FILTER (WHERE b) AS c1, MAX(v) AS c2, COUNT(*) AS c3
    FROM s WHERE a GROUP BY k

A view that joins later has columns of its own, which are absent from older parts: there they read as NULL.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sqlglot import exp

from millpond.plan.correlation import conjuncts
from millpond.plan.pipelines import Computed, Grouping, StateColumn, StreamPipeline
from millpond.sql.nodes import conjunction, disjunction, identifier
from millpond.types import SqlType

MemberId = tuple[int, str]
"""A view's oid, and the name of the grouping in its plan."""

Since = tuple[tuple[int, int], ...]
"""The first tuple that a view sees of each stream, by the stream's oid."""

_ROWS = Computed("COUNT(_1)", (exp.Star(),), None)
_ALIAS = "t"


@dataclass(frozen=True)
class Shape:
    """A grouping taken apart: which rows by which keys, which of them it wants, and what it computes of those.

    `fixed` are the conditions that cannot move into a FILTER.
    """

    rows: tuple[exp.Expr, ...]
    keys: tuple[exp.Expr, ...]
    outputs: tuple[exp.Expr, ...]
    conditions: tuple[exp.Expr, ...]
    fixed: tuple[exp.Expr, ...]
    computed: tuple[Computed, ...]

    @classmethod
    def of(cls, grouping: Grouping) -> Shape:
        trees = [pipeline.tree.copy() for pipeline in grouping.pipelines]
        outputs = tuple(output.this for output in trees[0].expressions[: len(grouping.keys)])
        group = trees[0].args.get("group")
        keys = tuple(group.expressions) if group is not None else ()
        wanted = [] if grouping.condition is None else conjuncts(grouping.condition)
        conditions = tuple(one.copy() for one in wanted)
        movable = all(_cannot_fail(one) for one in grouping.computed)
        fixed = tuple(one for one in conditions if not movable or one.find(exp.Select) is not None)
        alias = _only_alias(trees)
        for tree in trees:
            for clause in ("expressions", "where", "group"):
                tree.set(clause, None)
        made = cls(tuple(trees), keys, outputs, conditions, fixed, grouping.computed)
        return made if alias is None else made._called(alias)

    def fits(self, other: Shape) -> bool:
        """Whether both group the same rows by the same keys, but for conditions that can move."""
        return (
            self.rows == other.rows
            and len(self.keys) == len(other.keys)
            and all(key in other.keys for key in self.keys)
            and all(one in other.conditions for one in self.fixed)
            and all(one in self.conditions for one in other.fixed)
        )

    def wants_the_same(self, other: Shape) -> bool:
        """Whether both want the same of the rows."""
        return all(one in other.conditions for one in self.conditions) and len(self.conditions) == len(other.conditions)

    def _called(self, alias: str) -> Shape:
        """The same under the alias that all shapes of a single relation have, whatever it was called in the query."""

        def renamed(nodes: Sequence[exp.Expr]) -> tuple[exp.Expr, ...]:
            return tuple(_renamed(node, alias) for node in nodes)

        computed = tuple(
            replace(
                one,
                inputs=renamed(one.inputs),
                condition=None if one.condition is None else _renamed(one.condition, alias),
            )
            for one in self.computed
        )
        parts = (self.rows, self.keys, self.outputs, self.conditions, self.fixed)
        rows, keys, outputs, conditions, fixed = map(renamed, parts)
        return Shape(rows, keys, outputs, conditions, fixed, computed)


@dataclass(frozen=True)
class Member:
    """A view's grouping in a shared state: the state's column for each of its own, and the one that counts its rows."""

    grouping: Grouping
    shape: Shape
    since: Since
    names: Mapping[str, str]
    presence: str

    @property
    def keys(self) -> tuple[str, ...]:
        """The state's columns that hold the keys, in the order that all members agree on."""
        return tuple(sorted((self.names[key.name] for key in self.grouping.keys), key=_number))

    @property
    def schema(self) -> str:
        """The state's columns that the grouping reads, as Spark's schema text."""
        types = {self.names[column.name]: column.type for column in self.grouping.columns}
        return ", ".join(f"{name} {kind}" for name, kind in {**types, self.presence: "BIGINT"}.items())

    def select(self, source: str) -> str:
        """Spark SQL that reads the grouping's own state from a relation that holds the shared one."""
        columns = [f"{self.names[column.name]} AS {column.name}" for column in self.grouping.columns]
        present = f" WHERE {self.presence} > 0" if self.grouping.keys else ""
        return f"SELECT {', '.join(columns)} FROM {source}{present}"

    def column(self, name: str) -> tuple[StateColumn, Computed]:
        """A column of the state as this member knows it: what it is, and how it is computed."""
        for place, own in enumerate(self.grouping.partials):
            if self.names[own.name] == name:
                return own.renamed(self.names), self.shape.computed[place]
        return StateColumn(name, "BIGINT", "number of rows", "SUM(rows)", (("rows", name),)), _ROWS


@dataclass(frozen=True)
class SharedGrouping:
    """All members of a state. `columns_made` is how many columns it has ever had: names are not used again."""

    members: Mapping[MemberId, Member]
    columns_made: int = 0

    def accepts(self, grouping: Grouping) -> bool:
        """Whether a grouping can keep its state here."""
        streams = [pipeline.stream.oid for pipeline in grouping.pipelines]
        shape = Shape.of(grouping)
        return bool(self.members) and all(
            streams == [pipeline.stream.oid for pipeline in member.grouping.pipelines] and shape.fits(member.shape)
            for member in self.members.values()
        )

    def joined(self, member_id: MemberId, grouping: Grouping, since: Since) -> SharedGrouping:
        """With a new member; what it computes like another one that sees the same tuples is computed once."""
        shape = Shape.of(grouping)
        names = self._key_names(grouping, shape)
        known = [one for one in self.members.values() if one.since == since and one.shape.wants_the_same(shape)]
        made = self.columns_made

        def named(wanted: Computed, own: Mapping[Computed, str]) -> str:
            nonlocal made
            found = own.get(wanted) or next((name for one in known for name in _found(one, wanted)), None)
            if found is None:
                found, made = f"c{made}", made + 1
            return found

        own: dict[Computed, str] = {}
        for column, wanted in zip(grouping.partials, shape.computed, strict=True):
            own[wanted] = names[column.name] = named(wanted, own)
        presence = named(_ROWS, own)
        member = Member(grouping, shape, since, names, presence)
        return SharedGrouping({**self.members, member_id: member}, made)

    def rejoined(
        self, member_id: MemberId, grouping: Grouping, since: Since, names: Mapping[str, str], presence: str
    ) -> SharedGrouping:
        """With a member whose columns were named before the pond was closed."""
        member = Member(grouping, Shape.of(grouping), since, names, presence)
        return replace(self, members={**self.members, member_id: member})

    def left(self, member_id: MemberId) -> SharedGrouping:
        """Without a member, and without the columns that only it used."""
        return replace(self, members={key: one for key, one in self.members.items() if key != member_id})

    @cached_property
    def grouping(self) -> Grouping:
        """What a chunk is turned into, with the columns of all members."""
        first = next(iter(self.members.values()))
        columns = self._columns()
        keys = {first.names[key.name]: (key, kind) for key, kind in _typed_keys(first.grouping)}
        return Grouping(
            "shared",
            tuple(self._pipelines(first, columns)),
            tuple(keys[name][0].renamed(first.names) for name in first.keys),
            tuple(keys[name][1] for name in first.keys),
            tuple(column for column, _ in columns.values()),
            tuple(computed for _, computed in columns.values()),
            None,
            all(member.grouping.subtractable for member in self.members.values()),
        )

    def _key_names(self, grouping: Grouping, shape: Shape) -> dict[str, str]:
        """The state's column for each key, wherever it stands among the keys of the first member."""
        own = [key.name for key in grouping.keys]
        if not self.members:
            return {name: name for name in own}
        first = next(iter(self.members.values()))
        places = [first.shape.keys.index(key) for key in shape.keys]
        return {name: first.names[first.grouping.keys[place].name] for name, place in zip(own, places, strict=True)}

    def _columns(self) -> dict[str, tuple[StateColumn, Computed]]:
        """Every column in use but the keys, with its member's own conditions in its FILTER."""
        common = self._common()
        found: dict[str, tuple[StateColumn, Computed]] = {}
        for member in self.members.values():
            extra = [one for one in member.shape.conditions if one not in common]
            names = [member.names[own.name] for own in member.grouping.partials]
            # Without keys there is one group, and it is everybody's.
            presence = [member.presence] if member.grouping.keys or not names else []
            for name in (*names, *presence):
                if name not in found:
                    column, computed = member.column(name)
                    found[name] = column, _narrowed(computed, extra)
        return dict(sorted(found.items(), key=lambda item: _number(item[0])))

    def _common(self) -> list[exp.Expr]:
        first, *others = (member.shape.conditions for member in self.members.values())
        return [one for one in first if all(one in other for other in others)]

    def _pipelines(
        self, first: Member, columns: Mapping[str, tuple[StateColumn, Computed]]
    ) -> Iterator[StreamPipeline]:
        outputs = [
            _output(node, first.names[key.name])
            for node, key in zip(first.shape.outputs, first.grouping.keys, strict=True)
        ]
        outputs += [_output(computed.node, name) for name, (_, computed) in columns.items()]
        conditions = self._conditions()
        for rows, pipeline in zip(first.shape.rows, first.grouping.pipelines, strict=True):
            tree = rows.copy()
            tree.set("expressions", [output.copy() for output in outputs])
            if conditions:
                tree.set("where", exp.Where(this=conjunction([one.copy() for one in conditions])))
            if first.shape.keys:
                tree.set("group", exp.Group(expressions=[key.copy() for key in first.shape.keys]))
            yield replace(pipeline, tree=tree)

    def _conditions(self) -> list[exp.Expr]:
        """What a row must pass that any member wants."""
        common = self._common()
        extras = [[one for one in member.shape.conditions if one not in common] for member in self.members.values()]
        if not all(extras):
            return common
        different = [extra for place, extra in enumerate(extras) if extra not in extras[:place]]
        return [*common, disjunction([conjunction([one.copy() for one in extra]) for extra in different])]


def _number(name: str) -> int:
    """The place of a state's column: `c12` -> 12."""
    return int(name[1:])


def _typed_keys(grouping: Grouping) -> Iterator[tuple[StateColumn, SqlType]]:
    return zip(grouping.keys, grouping.key_types, strict=True)


def _found(member: Member, wanted: Computed) -> Iterator[str]:
    for own, computed in zip(member.grouping.partials, member.shape.computed, strict=True):
        if computed == wanted:
            yield member.names[own.name]
    if wanted == _ROWS:
        yield member.presence


def _narrowed(computed: Computed, conditions: Sequence[exp.Expr]) -> Computed:
    """The column computed of the rows that pass more conditions."""
    own = [] if computed.condition is None else [computed.condition]
    all_of_them = [one.copy() for one in (*conditions, *own)]
    return replace(computed, condition=conjunction(all_of_them) if all_of_them else None)


def _cannot_fail(computed: Computed) -> bool:
    """Whether it does no harm to compute a column's inputs for rows that its view does not want."""
    return all(isinstance(node, (exp.Column, exp.Literal, exp.Star)) for node in computed.inputs)


def _only_alias(trees: Sequence[exp.Expr]) -> str | None:
    """What the query calls its only relation, None if it has several."""
    for tree in trees:
        tables = list(tree.find_all(exp.Table))
        if len(tables) != 1 or tree.find(exp.Subquery) is not None or tree.args.get("with_") is not None:
            return None
    return str(next(trees[0].find_all(exp.Table)).alias_or_name)


def _renamed(node: exp.Expr, alias: str) -> exp.Expr:
    made = node.copy()
    for table in made.find_all(exp.Table):
        table.set("alias", exp.TableAlias(this=identifier(_ALIAS)))
    for column in made.find_all(exp.Column):
        if column.table == alias:
            column.set("table", identifier(_ALIAS))
    return made


def _output(node: exp.Expr, name: str) -> exp.Alias:
    return exp.Alias(this=node.copy(), alias=identifier(name))

"""One statement being executed: the transaction it runs in, and how its query meets its data.

`bind` resolves a query against the catalog, `frame` gives every relation in it the files that the
transaction sees and hands the text to Spark.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property, partial

import pyarrow as pa

from millpond.errors import MillpondError, SqlState, closest, not_supported
from millpond.pgcatalog.declarations import INFORMATION_SCHEMA, PG_CATALOG
from millpond.pgcatalog.objects import DATABASE
from millpond.plan.once import Flow
from millpond.plan.sessions_once import has_sessions
from millpond.privileges.authority import Authority
from millpond.privileges.identity import Identity, Login, identify
from millpond.privileges.reading import check_reads
from millpond.python_function import PythonFunction
from millpond.relation import Column, Kind, Relation
from millpond.result import Notice, Result, ResultColumn
from millpond.run.statics import key_of
from millpond.run.view import Answer, ContinuousView
from millpond.server_settings import full_version
from millpond.services import Held, Services
from millpond.session_settings import SessionSettings
from millpond.session_state import SessionState
from millpond.spark.runner import ArrowInput, FileInput, Frame, Input, renamed
from millpond.sql.aged import aged
from millpond.sql.bind import BoundQuery, bind
from millpond.sql.dml import constant_default, default_query, whole_relation
from millpond.sql.named_relations import names_in, relation_names
from millpond.sql.parse import parse_definition, parse_query
from millpond.sql.scope import Moment, NamesAsCreated
from millpond.sql.sqlite.translate import catalog_query
from millpond.sql.statements import Name, QueryTree
from millpond.statements import past, session_functions, session_queries, stream_queries
from millpond.statements.request import Request
from millpond.statements.system_catalog import SystemCatalog, system_relation
from millpond.statements.window_queries import over_current_windows
from millpond.system import SYSTEM_RELATIONS
from millpond.transaction import Transaction
from millpond.values import from_text
from millpond.values.arrays import Array, contiguous, nulls
from millpond.view_reads import AwaitedAnswer, ViewRead

VIEW_START_S = 30.0
VIEW_LOOK_S = 0.01
"""How long readers wait for a view that was just committed, and how often they look."""

DEFAULT_USER = "millpond"
"""Who a session in this process is; a server's clients say who they are."""

IN_PROCESS = Login(DEFAULT_USER, trusted=True)


@dataclass
class Execution:
    """What the functions of this package are given. A `strict` one takes no view's answer that may be out of date."""

    services: Services
    state: SessionState
    transaction: Transaction
    tag: str
    autocommit: bool
    request: Request
    login: Login = IN_PROCESS
    notices: list[Notice] = field(default_factory=list)
    system_catalog: SystemCatalog = field(default_factory=SystemCatalog)
    strict: bool = False

    @property
    def settings(self) -> SessionSettings:
        return self.state.settings

    # -- who it is run for ---------------------------------------------------------------------------------------

    @cached_property
    def identity(self) -> Identity:
        return identify(self.login, self.transaction.roles, self.settings)

    @property
    def user(self) -> str:
        return self.identity.user

    @property
    def superuser(self) -> bool:
        return self.identity.superuser

    @cached_property
    def authority(self) -> Authority:
        """What the user may do."""
        return Authority(self.user, self.superuser, self.transaction.roles)

    def check_reads(
        self, query: BoundQuery | ViewRead, written: Collection[str] = (), *, reader: Authority | None = None
    ) -> None:
        """Raise unless the user may read what a query reads; every way from a query to its data passes here."""
        check_reads(self.transaction, reader or self.authority, query.reads, written)

    # -- names: the protocol that binding asks ---------------------------------------------------------------

    def relation(self, schema: str | None, name: str) -> Relation | None:
        """The relation of that name, if there is one; pg_catalog comes first, as in PostgreSQL."""
        found = system_relation(schema, name)
        if found is None and schema in (None, "public"):
            found = self.transaction.relation(name)
        if found is not None and found.kind != "query":
            return found
        system = SYSTEM_RELATIONS.get((schema or "public", name))
        return system.relation if system else None

    def relation_names(self) -> Iterable[str]:
        """The names to suggest instead of a wrong one: none that the user may not know of."""
        known = self.transaction.relations.values()
        visible = [one.name for one in known if one.kind != "query" and self.authority.may_see(one)]
        return [*visible, *(name for schema, name in SYSTEM_RELATIONS if schema == "public")]

    def function(self, name: str) -> PythonFunction | None:
        """The Python function of that name, which Spark knows from now on."""
        found = self.transaction.functions.get(name)
        if found is not None:
            self.services.runner.python_functions.define(found)
        return found

    def constant(self, name: str) -> datetime | date | str:
        """The value of a function that is constant during a statement."""
        constants: dict[str, datetime | date | str] = {
            "now": self.transaction.now,
            "current_user": self.user,
            "session_user": self.identity.session_user,
            "current_database": DATABASE,
            "current_schema": "public",
            "version": full_version(),
        }
        return constants[name]

    def call(self, name: str, arguments: Sequence[str | None]) -> str | None:
        """What a function of the session gives, and does."""
        return session_functions.call(self, name, arguments)

    def past(self, table: Relation, moment: Moment) -> Relation:
        """A table as it was."""
        return past.as_of(self, table, moment)

    def find(self, name: Name, *kinds: Kind) -> Relation:
        """The relation that a statement names; an error if it is missing or of another kind."""
        relation = self.relation(name.schema, name.name)
        if relation is None:
            shown = f"{name.schema}.{name.name}" if name.schema else name.name
            raise MillpondError(
                SqlState.UNDEFINED_TABLE,
                f'relation "{shown}" does not exist',
                hint=closest(name.name, self.relation_names()),
                position=name.position,
            )
        if kinds and relation.kind not in kinds:
            wanted = " or ".join(kinds)
            message = f'"{relation.name}" is not a {wanted}'
            raise MillpondError(SqlState.WRONG_OBJECT_TYPE, message, position=name.position)
        return relation

    def check_free(self, name: Name, *, if_not_exists: bool) -> bool:
        """Whether a new relation may take the name; an error unless IF NOT EXISTS was said."""
        if name.schema not in (None, "public"):
            if name.schema in (PG_CATALOG, INFORMATION_SCHEMA):
                raise not_supported("a relation in a system schema", position=name.position)
            message = f'schema "{name.schema}" does not exist'
            raise MillpondError(SqlState.UNDEFINED_SCHEMA, message, position=name.position)
        if self.relation(None, name.name) is None and self.transaction.relation(name.name) is None:
            return True
        if not if_not_exists:
            message = f'relation "{name.name}" already exists'
            raise MillpondError(SqlState.DUPLICATE_TABLE, message, position=name.position)
        self.notices.append(Notice(f'relation "{name.name}" already exists, skipping'))
        return False

    # -- queries -------------------------------------------------------------------------------------------

    def bind(self, query: QueryTree) -> BoundQuery:
        return bind(query, self)

    def bind_view(self, view: Relation) -> BoundQuery:
        """The query of a view, its columns as they were when it was created."""
        assert view.definition is not None
        return bind(aged(parse_query(view.definition), view.options, self), NamesAsCreated(self, view.sees))

    def frame(
        self,
        bound: BoundQuery,
        *,
        own: Mapping[str, Input] | None = None,
        names: Sequence[str] | None = None,
        reader: Authority | None = None,
    ) -> Frame:
        """Give the relations of a bound query their data, and the result columns `names` instead of c0, c1, ...

        `own` are files that stand for a relation of that name in this query only; `reader` is with whose rights they
        are read if not with the user's. If it reads streams that flow, this waits until they have ended.
        """
        self.check_reads(bound, own or (), reader=reader)
        live = stream_queries.live_query(self, bound, own or ())
        if live is not None:
            return stream_queries.frame(self, live, own or {}, names)
        return self.frame_now(bound, own or {}, names)

    def frame_now(
        self, bound: BoundQuery, own: Mapping[str, Input] = stream_queries.NO_FILES, names: Sequence[str] | None = None
    ) -> Frame:
        """The same over streams as they are now, and the newest complete windows of them."""
        if has_sessions(bound.tree):
            return session_queries.frame(self, bound, own, names)
        bound = over_current_windows(self, bound)
        inputs: dict[str, Input] = {}
        views: dict[str, str] = {}
        held: list[Held] = []
        for key, relation in base_relations(bound).items():
            given = stream_queries.own_files(own, relation) or self.input(relation, held)
            views[key] = self._view_name(relation, given)
            inputs[views[key]] = given
        frame = self.services.runner.frame(renamed(bound.to_spark(views), names), inputs, self.tag)
        self.services.hold_while_alive(frame, held)
        return frame

    def spark(self, text: str, inputs: Mapping[str, Input]) -> Frame:
        """Run Spark SQL of our own making; `{name}` in the text stands for the input of that name."""
        views = {name: self.services.runner.new_name() for name in inputs}
        given = {views[name]: value for name, value in inputs.items()}
        return self.services.runner.frame(text.format(**views), given, self.tag)

    def query(self, query: QueryTree) -> Result:
        """The result of a query, not yet computed; a view alone needs no Spark once it has its answer, and a query over
        the system catalogs never does."""
        read = self.services.view_reads.find(query, self)
        about_catalog = catalog_query(query) if read is None else None
        if about_catalog is not None:
            columns = tuple(ResultColumn(*column) for column in about_catalog.columns)
            return self.rows("SELECT", columns, self.system_catalog.rows(about_catalog, self))
        if read is None:
            bound = self.bind(query)
            read = self._view_read(query, bound)
            if read is None:
                return self.select(bound)
        self.check_reads(read)
        return self._shared_rows(read, self.view_answer(read.view))

    def select(self, bound: BoundQuery) -> Result:
        """The result of a bound query, not yet computed; rows of a stream may go out as they come."""
        self.check_reads(bound)
        columns = tuple(ResultColumn(column.name, column.type) for column in bound.columns)
        if has_sessions(bound.tree):
            return session_queries.result(self, bound, columns)
        live = stream_queries.live_query(self, bound)
        if live is None:
            return Result("SELECT", columns, _frame=self.frame_now(bound))
        if isinstance(live.plan, Flow):
            pieces = stream_queries.rows(self, live, live.plan)
            return Result.flowing("SELECT", columns, pieces, self.services.runner.from_arrow)
        return Result("SELECT", columns, _frame=stream_queries.frame(self, live))

    def _view_read(self, query: QueryTree, bound: BoundQuery) -> ViewRead | None:
        """The query as one that reads a continuous view and does nothing else, known from now on; None if it is not."""
        view = whole_relation(query, self)
        if view is None or view.kind != "continuous":
            return None
        columns = tuple(ResultColumn(column.name, column.type) for column in bound.columns)
        read = ViewRead(view, bound.reads, columns)
        self.services.view_reads.add(query, read)
        return read

    def _shared_rows(self, read: ViewRead, answer: Answer) -> Result:
        result = self.rows("SELECT", read.columns, answer.rows)
        result.shared = True
        return result

    def ready(self, query: QueryTree, awaited: AwaitedAnswer | None) -> Result | AwaitedAnswer | None:
        """The result of a query that is there without any work; or what a reader of a view waits for, once it is
        `awaited`; None for any other query."""
        read = self.services.view_reads.find(query, self)
        if read is None:
            return None
        self.check_reads(read)
        view = self.services.views.get(read.view)
        answer = view.recent_answer(self._freshness_s(read.view))
        if answer is None and (view.plan.live or view.plan.is_momentary or view.error is not None):
            return None
        if awaited is None or awaited.view is not view:
            awaited = AwaitedAnswer.of(view)
        answer = answer or awaited.find()
        return awaited if answer is None else self._shared_rows(read, answer)

    def rows(self, tag: str, columns: Sequence[ResultColumn], table: pa.Table) -> Result:
        """A result whose rows are at hand."""
        return Result(tag, tuple(columns), _table=table, _to_dataframe=self.services.runner.from_arrow)

    def returning(self, verb: str, relation: Relation, query: QueryTree, rows: FileInput, count: int) -> Result:
        """The result of a RETURNING list over the rows that a statement wrote or removed."""
        bound = self.bind(query)
        columns = tuple(ResultColumn(column.name, column.type) for column in bound.columns)
        result = Result(verb, columns, rows_changed=count, _frame=self.frame(bound, own={relation.name: rows}))
        result.materialise()
        return result

    # -- expressions of definitions ------------------------------------------------------------------------

    def default_values(self, column: Column, rows: int) -> Array:
        """A column's default, once for each row; NULL if it has none."""
        if column.default is None:
            return nulls(rows, column.type.arrow)
        text = constant_default(column)
        if text is not None:
            return pa.repeat(from_text(pa.array([text]), column.type, column=column.name)[0], rows)
        computed = self.frame(default_query(column, rows, self)).collect().column(0)
        return contiguous(computed.cast(column.type.arrow))

    def visible_to(self, query: QueryTree) -> dict[str, tuple[str, ...]]:
        """The columns that `*` stands for in a query, by relation."""
        found = {name: self.transaction.relation(name) for name in relation_names(query)}
        return {name: tuple(c.name for c in r.visible_columns) for name, r in found.items() if r is not None}

    def names_read_by(self, view: Relation) -> set[str]:
        """The relations that a view reads, or a continuous query reads and writes, itself or through other views."""
        names: set[str] = set()
        assert view.definition is not None
        is_query, text = view.kind == "query", view.definition
        for name in names_in(parse_definition(text)) if is_query else relation_names(parse_query(text)):
            read = self.transaction.relation(name)
            if read is not None and name not in names:
                names.add(name)
                if read.definition is not None:
                    names |= self.names_read_by(read)
        return names

    # -- inputs --------------------------------------------------------------------------------------------

    def _view_name(self, relation: Relation, given: Input) -> str:
        if isinstance(given, FileInput) and given.stable:
            return f"table_{relation.oid}_{relation.version}"
        return self.services.runner.new_name()

    def input(self, relation: Relation, held: list[Held]) -> Input:
        """The rows of a relation as they are now, and what to let go of when they have been read."""
        if relation.kind == "system":
            return ArrowInput(self.system_catalog.table(relation, self))
        if relation.kind == "continuous":
            return self._live_input(relation, held)[0]
        if relation.kind == "stream":
            chunk = self.services.streams.get(relation).hold()
            held.append(chunk.release)
            paths = tuple(str(file.path) for file in chunk.files)
            return FileInput(paths, relation.columns, is_stream=True)
        held.append(self.services.tables.pins.pin(relation.oid))
        return self.table_input(relation)

    def view_answer(self, relation: Relation, slide: int | None = None) -> Answer:
        """What a continuous view holds: all that was acknowledged, or what it was a freshness ago, or at a slide."""
        view = self.open_view(relation)
        if slide is None and (recent := view.recent_answer(self._freshness_s(relation))) is not None:
            return recent
        live: dict[str, Input] = {}
        token: list[object] = []
        held: list[Held] = []
        for read in view.plan.live:
            current = self.relation(read.schema, read.name)
            assert current is not None, "what a view reads cannot be dropped"
            live[key_of(read)], state = self._live_input(current, held)
            token.append(state)
        try:
            compute = partial(self.services.views.answer, view, self.tag, live, tuple(token), slide)
            return self.services.view_reads.shared_answer(view, compute)
        finally:
            for release in held:
                release()

    def open_view(self, relation: Relation) -> ContinuousView:
        """A view that answers. A new one is visible a moment before it does; one that was dropped meanwhile is gone."""
        views, deadline = self.services.views, time.monotonic() + VIEW_START_S
        while (view := views.find(relation)) is None:
            current = self.services.catalog.snapshot.relation(relation.name)
            if current is None or current.oid != relation.oid:
                raise MillpondError(SqlState.UNDEFINED_TABLE, f'relation "{relation.name}" does not exist')
            if time.monotonic() > deadline:
                return views.get(relation)
            self.state.interrupt.sleep(VIEW_LOOK_S)
        return view

    def _freshness_s(self, view: Relation) -> float:
        """How old an answer may be."""
        if self.strict:
            return 0.0
        return int(view.options.get("freshness") or self.settings.integer("freshness")) / 1000

    def _live_input(self, relation: Relation, held: list[Held]) -> tuple[FileInput, object]:
        """A table or a continuous view as it is now, and what tells this state from others."""
        if relation.kind == "continuous":
            answer = self.view_answer(relation)
            path, release = self.services.views.get(relation).file_of(answer, self.services.scratch)
            held.append(release)
            return FileInput((str(path),), relation.columns), answer.token
        given = self.table_input(relation)
        return given, given.paths

    def table_input(self, relation: Relation, *, row_ids: bool = False) -> FileInput:
        """The files of a table as this transaction sees it; what Spark knows of the past may have fewer columns."""
        paths = self.services.tables.paths(relation.oid, self.transaction.files(relation))
        stable = not (row_ids or relation.is_past or self.transaction.wrote(relation))
        return FileInput(tuple(paths), relation.columns, row_ids=row_ids, stable=stable)


def base_relations(bound: BoundQuery) -> dict[str, Relation]:
    """The tables, streams and system relations that a query reads, each once, by the key that translation wants."""
    return {reference.key: reference.relation for reference in bound.relations}

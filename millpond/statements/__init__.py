"""What each kind of statement does: one function per record of `millpond.sql.statements`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from millpond.privileges import needs
from millpond.result import Result
from millpond.sql import session_records as r
from millpond.sql import statements as s
from millpond.sql.subscribe import Subscribe
from millpond.statements import (
    continuous,
    continuous_queries,
    cursors,
    define,
    notifications,
    ownership,
    python_functions,
    roles,
    settings,
)
from millpond.statements.change import delete, truncate, update
from millpond.statements.copy import copy
from millpond.statements.execution import Execution
from millpond.statements.explain import explain, explain_continuous_query, explain_split
from millpond.statements.foreground_cycles import insert
from millpond.statements.grants import change_privileges
from millpond.statements.insert import insert_literals
from millpond.statements.memberships import change_membership
from millpond.statements.subscribe import subscribe
from millpond.statements.vacuum import vacuum
from millpond.statements.verify import verify

HANDLERS: Mapping[type[Any], Callable[[Execution, Any], Result]] = {
    s.Query: lambda execution, statement: execution.query(statement.tree),
    s.Explain: explain,
    s.Insert: insert,
    s.InsertLiterals: insert_literals,
    s.Update: update,
    s.Delete: delete,
    s.Truncate: truncate,
    s.Copy: copy,
    Subscribe: subscribe,
    s.CreateTable: define.create_table,
    s.CreateTableAs: define.create_table_as,
    s.CreateStream: define.create_stream,
    s.CreateView: define.create_view,
    s.CreateFunction: python_functions.create,
    s.DropFunction: python_functions.drop,
    s.RefreshView: continuous.refresh,
    s.VerifyView: verify,
    s.RenameView: define.rename_view,
    s.CreateContinuousQuery: continuous_queries.create,
    s.AlterContinuousQuery: continuous_queries.alter,
    s.DropContinuousQuery: continuous_queries.drop,
    s.ExplainContinuousQuery: explain_continuous_query,
    s.ExplainSplit: explain_split,
    s.AddColumn: define.add_column,
    s.Drop: define.drop,
    s.Vacuum: vacuum,
    s.CreateRole: roles.create,
    s.AlterRole: roles.alter,
    s.DropRole: roles.drop,
    s.ChangePrivileges: change_privileges,
    s.ChangeMembership: change_membership,
    s.ChangeOwner: ownership.change_owner,
    s.DropOwned: ownership.drop_owned,
    s.ReassignOwned: ownership.reassign,
    r.SetSetting: settings.set_setting,
    r.ShowSetting: settings.show,
    r.ResetSetting: settings.reset,
    r.Deallocate: settings.deallocate,
    r.Discard: settings.discard,
    r.DeclareCursor: cursors.declare,
    r.Fetch: cursors.fetch,
    r.CloseCursor: cursors.close,
    r.Listen: notifications.listen,
    r.Unlisten: notifications.unlisten,
    r.Notify: notifications.notify,
}


def run(execution: Execution, statement: s.Statement) -> Result:
    """Do what a statement says, inside its transaction, if its user may."""
    needs.check(execution, statement)
    return HANDLERS[type(statement)](execution, statement)

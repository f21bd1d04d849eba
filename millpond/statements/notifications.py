"""LISTEN, UNLISTEN and NOTIFY: what they ask for happens when their transaction commits."""

from __future__ import annotations

from functools import partial

from millpond.notifications import enqueue
from millpond.result import Result
from millpond.sql.session_records import Listen, Notify, Unlisten
from millpond.statements.execution import Execution


def listen(execution: Execution, statement: Listen) -> Result:
    switchboard = execution.services.switchboard
    execution.transaction.after_commit.append(partial(switchboard.listen, execution.state.mailbox, statement.channel))
    return Result("LISTEN")


def unlisten(execution: Execution, statement: Unlisten) -> Result:
    switchboard = execution.services.switchboard
    execution.transaction.after_commit.append(partial(switchboard.unlisten, execution.state.mailbox, statement.channel))
    return Result("UNLISTEN")


def notify(execution: Execution, statement: Notify) -> Result:
    pending = execution.transaction.notifications
    enqueue(execution.services.switchboard, pending, statement.channel, statement.payload)
    return Result("NOTIFY")

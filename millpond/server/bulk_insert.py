"""INSERTs that follow one another in a pipeline, as drivers send for many rows, run as one statement with many rows.

Only what has arrived already is taken together, so nobody waits. Each is answered as if it had run by itself; if one
of them fails, the first is told, and the transaction that all of them share has failed either way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from millpond.result import command_tag
from millpond.server.client import Client
from millpond.server.inbox import Inbox
from millpond.server.portal import Portal
from millpond.server.prepared import Prepared
from millpond.wire.backend import BindComplete, CommandComplete, NoData
from millpond.wire.frontend import Bind, Describe, Execute, Sync
from millpond.wire.message import Message

MESSAGES_MAX = 30_000
"""How far to look ahead: some ten thousand rows, at which the cost of a statement no longer counts."""


@dataclass(frozen=True)
class Repetition:
    """A Bind and an Execute, perhaps with a Describe in between."""

    bind: Bind
    described: bool = False

    @property
    def messages(self) -> int:
        return 3 if self.described else 2


def repetitions(inbox: Inbox, first: Bind) -> list[Repetition]:
    """The repetitions of an INSERT that wait next in the inbox."""
    ahead = inbox.ahead(MESSAGES_MAX)
    found: list[Repetition] = []
    at = 0
    while (repetition := _repetition(ahead[at : at + 3], first)) is not None:
        found.append(repetition)
        at += repetition.messages
    return found


def _repetition(messages: Sequence[Message], first: Bind) -> Repetition | None:
    match messages:
        case [Bind() as bind, Execute(portal=portal), *_]:
            found = Repetition(bind)
        case [Bind() as bind, Describe(kind=b"P", name=portal), Execute(portal=executed)] if executed == portal:
            found = Repetition(bind, described=True)
        case _:
            return None
    same = (bind.portal, bind.statement, bind.formats) == (first.portal, first.statement, first.formats)
    return found if same and portal == first.portal else None


def insert_together(client: Client, prepared: Prepared, inserts: Sequence[Repetition]) -> bool:
    """Run them as one, take them from the inbox, and answer each; the Bind of the first was answered before.

    Gives back whether that could be done.
    """
    assert prepared.template is not None
    template, session = prepared.template, client.session
    with session.statement(prepared.offset):
        values = [one.bind.values for one in inserts]
        bindings = prepared.texts_of(values, inserts[0].bind.formats, session)
        statement = template.statement(bindings)
    if statement is None:
        return False
    portal = Portal(client, statement)
    count = sum(one.messages for one in inserts[1:])
    behind = client.inbox.ahead(count + 1)[count:]
    portal.execute(alone=any(isinstance(message, Sync) for message in behind))
    done = CommandComplete(command_tag("INSERT", template.values.row_count)).encode()
    client.outbox.add_encoded(done)
    client.inbox.skip(count)
    bound, described = BindComplete().encode(), NoData().encode()
    for one in inserts[1:]:
        client.outbox.add_encoded(bound + described + done if one.described else bound + done)
    return True

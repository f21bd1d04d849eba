"""What a session keeps from one statement to the next, beside its transaction."""

from __future__ import annotations

from dataclasses import dataclass, field

from millpond.config import Settings
from millpond.cursors import Cursors
from millpond.interrupt import Interrupt
from millpond.notifications import Mailbox
from millpond.session_settings import SessionSettings


@dataclass
class SessionState:
    """`number` is the session's own: the process, as PostgreSQL's clients call it."""

    number: int
    settings: SessionSettings
    cursors: Cursors = field(default_factory=Cursors)
    mailbox: Mailbox = field(default_factory=Mailbox)
    interrupt: Interrupt = field(default_factory=Interrupt)

    @classmethod
    def of_pond(cls, settings: Settings, number: int = 0) -> SessionState:
        """A new one over the settings of a pond."""
        return cls(number, SessionSettings(settings))

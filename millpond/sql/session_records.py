"""What the statements of a session say, as plain records: transactions, settings, cursors and notifications."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from sqlglot import exp

from millpond.sql.subscribe import Subscribe


@dataclass(frozen=True)
class Begin:
    """`modes` are the settings of the transaction, by name."""

    modes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Commit:
    """With `chain`, a transaction with the same modes follows at once."""

    chain: bool = False


@dataclass(frozen=True)
class Rollback:
    chain: bool = False


@dataclass(frozen=True)
class Savepoint:
    name: str


@dataclass(frozen=True)
class Release:
    name: str


@dataclass(frozen=True)
class RollbackTo:
    name: str


@dataclass(frozen=True)
class SetTransaction:
    """Modes of the transaction that is open or, `for_session`, of those to come."""

    modes: Mapping[str, str]
    for_session: bool = False


@dataclass(frozen=True)
class SetSetting:
    """`value` is None for DEFAULT; a `local` one lasts until the transaction ends."""

    name: str
    value: str | None
    local: bool = False


@dataclass(frozen=True)
class ShowSetting:
    """`name` is "all" for every setting."""

    name: str


@dataclass(frozen=True)
class ResetSetting:
    """`name` is "all" for every setting."""

    name: str


@dataclass(frozen=True)
class Deallocate:
    """Forget a prepared statement, or (None) all of them."""

    name: str | None


@dataclass(frozen=True)
class Discard:
    """Forget what a session keeps: all of it, or the plans, sequences or temporary tables that we do not have."""

    what: Literal["ALL", "PLANS", "SEQUENCES", "TEMP"]


@dataclass(frozen=True)
class Listen:
    channel: str


@dataclass(frozen=True)
class Unlisten:
    """Stop listening to a channel, or (None) to all of them."""

    channel: str | None


@dataclass(frozen=True)
class Notify:
    channel: str
    payload: str = ""


@dataclass(frozen=True)
class DeclareCursor:
    """`scroll` is whether the cursor goes back too; with `hold` it outlives its transaction."""

    name: str
    query: exp.Query | Subscribe
    scroll: bool = False
    hold: bool = False
    binary: bool = False
    text: str = ""


Direction = Literal["forward", "backward", "absolute", "relative"]


@dataclass(frozen=True)
class Fetch:
    """Rows of a cursor from where it stands, or (`is_move`) only going there. A `count` of None means all. FETCH from a
    subscription waits for its first row at most as long as `timeout_ms` says."""

    cursor: str
    direction: Direction = "forward"
    count: int | None = 1
    is_move: bool = False
    timeout_ms: int | None = None


@dataclass(frozen=True)
class CloseCursor:
    """Close a cursor, or (None) all of them."""

    name: str | None


SessionStatement = (
    Begin
    | Commit
    | Rollback
    | Savepoint
    | Release
    | RollbackTo
    | SetTransaction
    | SetSetting
    | ShowSetting
    | ResetSetting
    | Deallocate
    | Discard
    | Listen
    | Unlisten
    | Notify
    | DeclareCursor
    | Fetch
    | CloseCursor
)

"""The keys that clients cancel with: a number and a secret for each connection, known to nobody else."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable

from millpond.wire.backend import BackendKeyData
from millpond.wire.startup import PROTOCOL_3_0, CancelRequest

_SECRET_BYTES = 32
_SECRET_BYTES_3_0 = 4
"""All that the protocol had room for before 3.2."""


class Cancellations:
    """What each key cancels."""

    def __init__(self) -> None:
        self._actions: dict[int, tuple[bytes, Callable[[], None]]] = {}

    def register(self, process: int, cancel: Callable[[], None], version: int) -> BackendKeyData:
        """A new key for what `cancel` does to a session, which is a process to its client."""
        size = _SECRET_BYTES_3_0 if version == PROTOCOL_3_0 else _SECRET_BYTES
        key = BackendKeyData(process, secrets.token_bytes(size))
        self._actions[key.process] = (key.secret, cancel)
        return key

    def forget(self, key: BackendKeyData) -> None:
        self._actions.pop(key.process, None)

    def cancel(self, request: CancelRequest) -> None:
        """Do it if the key fits; nobody is told whether it did."""
        secret, cancel = self._actions.get(request.process, (b"", None))
        if cancel is not None and hmac.compare_digest(secret, request.secret):
            cancel()

"""When tuples last arrived in a stream, and who wants to know of the next."""

from __future__ import annotations

from millpond.bell import Bell


class Arrivals(Bell):
    """The last arrival of one stream, which changes with what readers see; rings when there is another."""

    def __init__(self, last_us: int) -> None:
        super().__init__()
        self.last_us = last_us

    def note(self, arrival_us: int) -> None:
        """Tuples have arrived; called under the lock of visible state."""
        self.last_us = arrival_us
        self.ring()

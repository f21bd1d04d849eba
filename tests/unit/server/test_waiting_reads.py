"""Rounds of readers who share answers, with readers that only take notes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps

from millpond.server.waiting_reads import PAUSE_S_MAX, WaitingReads

VIEW, OTHER_VIEW = 1, 2


class Noted:
    """A reader that waits again as long as it is not `satisfied`."""

    def __init__(self, reads: WaitingReads, view: int = VIEW) -> None:
        self.reads, self.view = reads, view
        self.computes = self.resumed = 0
        self.satisfied = True

    def ask(self) -> None:
        self.reads.wait(self.view, self)

    def compute(self) -> None:
        self.computes += 1

    def resume(self) -> None:
        self.resumed += 1
        if not self.satisfied:
            self.ask()


def in_loop(test: Callable[[], Coroutine[None, None, None]]) -> Callable[[], None]:
    @wraps(test)
    def run() -> None:
        asyncio.run(test())

    return run


@in_loop
async def test_who_comes_first_computes_and_the_others_get_its_answer() -> None:
    reads = WaitingReads()
    first, *others = readers = [Noted(reads) for _ in range(4)]
    for reader in readers:
        reader.ask()
    assert [reader.computes for reader in readers] == [1, 0, 0, 0]
    reads.leave(first)
    assert [reader.resumed for reader in others] == [1, 1, 1]
    assert not any(reads.has(reader) for reader in readers)


@in_loop
async def test_the_next_round_begins_when_all_are_back() -> None:
    reads = WaitingReads()
    first, second, third = readers = [Noted(reads) for _ in range(3)]
    for reader in readers:
        reader.ask()
    reads.leave(first)
    second.ask()
    third.ask()
    assert (second.computes, third.computes) == (0, 0)
    first.ask()
    assert [reader.computes for reader in readers] == [1, 1, 0]


@in_loop
async def test_it_begins_without_those_who_do_not_come_back() -> None:
    reads = WaitingReads()
    first, second = Noted(reads), Noted(reads)
    first.ask()
    second.ask()
    reads.leave(first)
    second.ask()
    assert second.computes == 0
    await asyncio.sleep(PAUSE_S_MAX + 0.01)
    assert second.computes == 1


@in_loop
async def test_who_came_too_late_for_an_answer_waits_for_the_next() -> None:
    reads = WaitingReads()
    first, late = Noted(reads), Noted(reads)
    late.satisfied = False
    first.ask()
    late.ask()
    reads.leave(first)
    assert reads.is_waiting(late)
    await asyncio.sleep(PAUSE_S_MAX + 0.01)
    assert (late.computes, reads.is_waiting(late)) == (1, False)


@in_loop
async def test_one_alone_never_waits() -> None:
    reads = WaitingReads()
    reader = Noted(reads)
    for round in range(1, 4):
        reader.ask()
        assert reader.computes == round
        reads.leave(reader)


@in_loop
async def test_who_leaves_is_not_called_any_more() -> None:
    reads = WaitingReads()
    first, gone = Noted(reads), Noted(reads)
    first.ask()
    gone.ask()
    reads.leave(gone)
    reads.leave(first)
    await asyncio.sleep(PAUSE_S_MAX + 0.01)
    assert (gone.computes, gone.resumed) == (0, 0)


@in_loop
async def test_views_have_nothing_to_do_with_one_another() -> None:
    reads = WaitingReads()
    first, other = Noted(reads), Noted(reads, OTHER_VIEW)
    first.ask()
    other.ask()
    assert (first.computes, other.computes) == (1, 1)
    reads.leave(first)
    assert reads.has(other)

"""What is on its way to a client, and when it is sent."""

from __future__ import annotations

from millpond.server.outbox import Outbox


def test_what_is_large_enough_is_sent() -> None:
    sent: list[bytes] = []
    outbox = Outbox(sent.append, piece_bytes=4)
    outbox.add_encoded(b"abc")
    assert sent == []
    outbox.add_encoded(b"de")
    assert sent == [b"abcde"]
    assert outbox.take() == b""


def test_nothing_is_sent_while_the_event_loop_gathers() -> None:
    sent: list[bytes] = []
    outbox = Outbox(sent.append, piece_bytes=4)
    with outbox.gathering():
        outbox.add_encoded(b"abcdef")
        outbox.flush()
        assert sent == []
        assert outbox.is_full
    assert outbox.take() == b"abcdef"

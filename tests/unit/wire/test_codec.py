"""The codec: round trips, any cut of the bytes, and what must be refused."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millpond.errors import MillpondError
from millpond.wire import backend, frontend
from millpond.wire.backend import BACKEND
from millpond.wire.decoder import Decoder
from millpond.wire.frontend import FRONTEND
from millpond.wire.message import Message
from millpond.wire.startup import CancelRequest, GssEncRequest, Opening, SslRequest, Startup

TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)
NAMES = TEXTS.filter(bool)
DATA = st.binary(max_size=40)
INT16 = st.integers(-(1 << 15), (1 << 15) - 1)
INT32 = st.integers(-(1 << 31), (1 << 31) - 1)
UINT32 = st.integers(0, (1 << 32) - 1)
KINDS = st.sampled_from([b"S", b"P"])
VALUES = st.lists(st.none() | DATA, max_size=4).map(tuple)
OIDS = st.lists(UINT32, max_size=4).map(tuple)
FORMATS = st.lists(INT16, max_size=4).map(tuple)
REPORTS = st.dictionaries(st.sampled_from("SVCMDHPtcn"), TEXTS, max_size=5)

FROM_CLIENTS: st.SearchStrategy[Message] = st.one_of(
    st.builds(frontend.Query, TEXTS),
    st.builds(frontend.Parse, TEXTS, TEXTS, OIDS),
    st.builds(frontend.Bind, TEXTS, TEXTS, FORMATS, VALUES, FORMATS),
    st.builds(frontend.Describe, KINDS, TEXTS),
    st.builds(frontend.Close, KINDS, TEXTS),
    st.builds(frontend.Execute, TEXTS, INT32),
    st.sampled_from([frontend.Flush(), frontend.Sync(), frontend.Terminate(), frontend.CopyDone()]),
    st.builds(frontend.CopyData, DATA),
    st.builds(frontend.CopyFail, TEXTS),
    st.builds(frontend.Password, DATA),
    st.builds(frontend.FunctionCall, DATA),
)
FIELDS = st.builds(backend.Field, TEXTS, UINT32, INT16, INT32, INT16, UINT32, INT16)
FROM_SERVERS: st.SearchStrategy[Message] = st.one_of(
    st.builds(backend.Authentication, INT32, DATA),
    st.builds(backend.ParameterStatus, TEXTS, TEXTS),
    st.builds(backend.BackendKeyData, INT32, DATA),
    st.builds(backend.NegotiateProtocolVersion, INT32, st.lists(TEXTS, max_size=3).map(tuple)),
    st.builds(backend.ReadyForQuery, st.sampled_from([b"I", b"T", b"E"])),
    st.builds(backend.RowDescription, st.lists(FIELDS, max_size=4).map(tuple)),
    st.builds(backend.DataRow, VALUES),
    st.builds(backend.ParameterDescription, OIDS),
    st.builds(backend.CommandComplete, TEXTS),
    st.builds(backend.ErrorResponse, REPORTS),
    st.builds(backend.NoticeResponse, REPORTS),
    st.builds(backend.NotificationResponse, INT32, TEXTS, TEXTS),
    st.builds(backend.CopyInResponse, st.integers(0, 1), st.integers(0, 5)),
    st.builds(backend.CopyOutResponse, st.integers(0, 1), st.integers(0, 5)),
    st.builds(frontend.CopyData, DATA),
    st.sampled_from([backend.ParseComplete(), backend.BindComplete(), backend.CloseComplete(), backend.NoData()]),
    st.sampled_from([backend.PortalSuspended(), backend.EmptyQueryResponse(), frontend.CopyDone()]),
)
OPENINGS: st.SearchStrategy[Opening] = st.one_of(
    st.sampled_from([SslRequest(), GssEncRequest()]),
    st.builds(CancelRequest, INT32, st.binary(min_size=1, max_size=256)),
    st.builds(Startup, st.integers(3 << 16, (3 << 16) + 9999), st.dictionaries(NAMES, TEXTS, max_size=4)),
)


def pieces(data: bytes, cuts: Sequence[int]) -> list[bytes]:
    """The bytes, cut at these places."""
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[start:end] for start, end in pairwise(places)]


def read_all(decoder: Decoder, data: Sequence[bytes]) -> list[Message]:
    found: list[Message] = []
    for piece in data:
        decoder.feed(piece)
        while (message := decoder.message()) is not None:
            found.append(message)
    return found


CUTS = st.lists(st.integers(0, 10_000), max_size=20)


@given(st.lists(FROM_CLIENTS, max_size=6), CUTS)
def test_any_cut_gives_the_clients_messages(messages: list[Message], cuts: list[int]) -> None:
    data = b"".join(message.encode() for message in messages)
    decoder = Decoder(FRONTEND)
    assert read_all(decoder, pieces(data, cuts)) == messages
    assert decoder.waiting_bytes == 0


@given(st.lists(FROM_SERVERS, max_size=6), CUTS)
def test_any_cut_gives_the_servers_messages(messages: list[Message], cuts: list[int]) -> None:
    data = b"".join(message.encode() for message in messages)
    assert read_all(Decoder(BACKEND), pieces(data, cuts)) == messages


@given(OPENINGS, CUTS, DATA)
def test_openings_come_back_and_leave_the_rest(opening: Opening, cuts: list[int], rest: bytes) -> None:
    decoder = Decoder()
    found = None
    for piece in pieces(opening.encode(), cuts):
        assert found is None
        decoder.feed(piece)
        found = decoder.opening()
    assert found == opening
    decoder.feed(rest)
    assert decoder.waiting_bytes == len(rest)


@given(FROM_CLIENTS, st.integers(1, 60))
def test_a_body_that_is_too_short_is_refused(message: Message, missing: int) -> None:
    body = message.body()
    if isinstance(message, frontend.CopyData | frontend.Password | frontend.FunctionCall) or not body:
        return
    short = body[: max(0, len(body) - missing)]
    assert refusal(message.code + struct.pack("!i", len(short) + 4) + short) == "08P01"


@given(FROM_CLIENTS, st.binary(min_size=1, max_size=9))
def test_a_body_that_is_too_long_is_refused(message: Message, more: bytes) -> None:
    if isinstance(message, frontend.CopyData | frontend.Password | frontend.FunctionCall):
        return
    body = message.body() + more
    assert refusal(message.code + struct.pack("!i", len(body) + 4) + body) == "08P01"


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_but_refusals(data: bytes) -> None:
    for read in (Decoder.message, Decoder.opening):
        decoder = Decoder()
        decoder.feed(data)
        with suppress(MillpondError):
            while read(decoder) is not None:
                pass


def refusal(data: bytes, **limits: int) -> str:
    decoder = Decoder(**limits)  # type: ignore[arg-type]
    decoder.feed(data)
    with pytest.raises(MillpondError) as caught:
        decoder.message()
    return caught.value.sqlstate


@pytest.mark.parametrize("length", [0, 3, -1, -(1 << 31), (1 << 31) - 1, 1 << 30])
def test_wrong_lengths_are_refused_at_once(length: int) -> None:
    assert refusal(b"Q" + struct.pack("!i", length)) == "08P01"


@pytest.mark.parametrize("length", [0, 4, 7, -1, 10_001, (1 << 31) - 1])
def test_openings_of_a_wrong_length_are_refused_at_once(length: int) -> None:
    decoder = Decoder(message_bytes_max=10_000)
    decoder.feed(struct.pack("!i", length))
    with pytest.raises(MillpondError, match="invalid length of startup packet"):
        decoder.opening()


def test_the_limit_may_be_raised() -> None:
    decoder = Decoder(message_bytes_max=10)
    query = frontend.Query("SELECT 12345")
    decoder.feed(query.encode())
    with pytest.raises(MillpondError):
        decoder.message()
    decoder.message_bytes_max = 100
    assert decoder.message() == query


@pytest.mark.parametrize(
    ("data", "sqlstate"),
    [
        (b"?\0\0\0\4", "08P01"),
        (b"D\0\0\0\x06?\0", "08P01"),
        (b"B\0\0\0\x10\0\0\0\0\0\1\xff\xff\xff\xf9\0\0", "08P01"),
        (b"Q\0\0\0\x07\xff\xfe\0", "22021"),
    ],
    ids=["unknown type", "describe what", "value of length -7", "not UTF-8"],
)
def test_other_nonsense_is_refused(data: bytes, sqlstate: str) -> None:
    assert refusal(data) == sqlstate


@pytest.mark.parametrize("version", [2 << 16, 4 << 16, 0, -1])
def test_other_protocols_are_refused(version: int) -> None:
    decoder = Decoder()
    decoder.feed(struct.pack("!ii", 8, version))
    with pytest.raises(MillpondError, match="unsupported frontend protocol") as caught:
        decoder.opening()
    assert caught.value.sqlstate == "0A000"

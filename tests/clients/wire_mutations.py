"""Sessions as clients have them, and what can go wrong with their bytes: the same for the same random numbers."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from millpond.wire.frontend import (
    Bind,
    Close,
    CopyData,
    CopyDone,
    CopyFail,
    Describe,
    Execute,
    Flush,
    FunctionCall,
    Parse,
    Password,
    Query,
    Sync,
    Terminate,
)
from millpond.wire.message import Message
from millpond.wire.startup import PROTOCOL_3_2, CancelRequest, GssEncRequest, SslRequest, Startup

SETUP = (
    "CREATE STREAM fuzzed (a int, b text)",
    "CREATE STREAM fed (a int)",
    "CREATE VIEW fuzz_view AS SELECT a % 5 AS a, count(*) AS n FROM fed GROUP BY a % 5",
    "INSERT INTO fed VALUES (1), (2), (3)",
    "SELECT * FROM fuzz_view",
    "SELECT 1 + 1",
)
"""What the sessions need. Nothing arrives in the stream that the view reads, so that Spark has little to do."""

_BINARY_COPY = b"PGCOPY\n\xff\r\n\0" + bytes(8) + struct.pack("!hiii", 2, 4, 7, -1) + struct.pack("!h", -1)

SESSIONS: tuple[tuple[Message, ...], ...] = (
    (
        Query("SHOW server_version"),
        Query("SELECT * FROM fuzz_view"),
        Query("BEGIN; INSERT INTO fuzzed VALUES (1, 'x'); SHOW timezone; ROLLBACK"),
        Query("SELEC 1"),
        Query(";"),
        Query("SET application_name = 'fuzz'; RESET application_name"),
        Query("SELECT * FROM nowhere"),
        Terminate(),
    ),
    (
        Parse("s", "SELECT * FROM fuzz_view"),
        Describe(b"S", "s"),
        Bind("p", "s", (), (), (1,)),
        Describe(b"P", "p"),
        Execute("p", 2),
        Execute("p"),
        Close(b"P", "p"),
        Sync(),
        Parse("", "SHOW transaction_isolation"),
        Bind("", ""),
        Execute(),
        Flush(),
        Close(b"S", "s"),
        Sync(),
    ),
    (
        Parse("i", "INSERT INTO fuzzed VALUES ($1, $2)", (23, 25)),
        *(Bind("", "i", (1, 0), (struct.pack("!i", number), "é'".encode())) for number in range(3)),
        Execute(),
        Bind("", "i", (0,), (None, None)),
        Execute(),
        Bind("", "i", (), (b"no number", b"x")),
        Execute(),
        Sync(),
        Sync(),
    ),
    (
        Query("COPY fuzzed FROM STDIN CSV"),
        CopyData(b'1,x\n2,"y\n'),
        CopyData(b'z"\n'),
        CopyDone(),
        Query("COPY fuzzed FROM STDIN"),
        CopyData(b"3\tx\n"),
        CopyFail("enough"),
        Query("COPY fuzzed FROM STDIN BINARY"),
        CopyData(_BINARY_COPY),
        CopyDone(),
        Query("COPY nowhere TO STDOUT"),
    ),
    (
        Query("BEGIN"),
        Parse("", "INSERT INTO fuzzed VALUES (5, 'in a transaction')"),
        Bind("", ""),
        Execute(),
        Sync(),
        Query("DECLARE c CURSOR FOR SELECT * FROM fuzz_view"),
        Query("FETCH 2 FROM c"),
        Query("SAVEPOINT s; ROLLBACK TO s"),
        Query("SELECT broken("),
        Query("COMMIT"),
        Query("LISTEN news; NOTIFY news, 'x'; UNLISTEN *"),
    ),
)

STRAYS: tuple[Message, ...] = (
    *(CopyData(b"1,x\n"), CopyDone(), CopyFail(""), Password(b"secret\0"), FunctionCall(b"\0" * 12), Flush(), Sync()),
    *(Execute("nothing"), Describe(b"S", "nothing"), Close(b"P", "nothing"), Bind("", "nothing"), Query("")),
)
"""Messages in places where they mean nothing."""

LENGTHS = (0, 1, 3, 5, -1, -(1 << 31), (1 << 31) - 1, 1 << 28, 10_000)
FLOOD_MAX = 500


@dataclass(frozen=True)
class Attack:
    """What a client sends; `pace_s` is how long it waits after each piece, `reads` whether it looks at the answers."""

    pieces: tuple[bytes, ...]
    messages: int
    pace_s: float = 0.0
    reads: bool = True


def attack(random: Random) -> Attack:
    """A session with mistakes."""
    frames = [message.encode() for message in random.choice(SESSIONS)]
    for _ in range(random.randint(1, 3)):
        frames = random.choice(MUTATIONS)(random, frames)
    sent = [*_opening(random), *frames]
    data = b"".join(sent)
    if random.random() < 0.1:
        data = data[: random.randrange(len(data) + 1)]
    if random.random() < 0.03:
        # A slow client: it sends its first bytes one by one.
        slow = min(len(data), 60)
        return Attack((*(data[at : at + 1] for at in range(slow)), data[slow:]), len(sent), pace_s=0.005)
    return Attack((data,), len(sent), reads=random.random() < 0.9)


# -- the start -------------------------------------------------------------------------------------------------------

_STARTUP = Startup(parameters={"user": "fuzz", "database": "pond"})


def _opening(random: Random) -> list[bytes]:
    """Mostly a good start: behind a bad one nothing is looked at."""
    if random.random() < 0.8:
        return [_STARTUP.encode()]
    start = _STARTUP.encode()
    openings: tuple[list[bytes], ...] = (
        [SslRequest().encode(), GssEncRequest().encode(), start],
        [SslRequest().encode()] * random.randint(2, 20),
        [GssEncRequest().encode()] * random.randint(2, 20),
        [CancelRequest(random.randrange(50), random.randbytes(4)).encode()],
        [Startup(random.choice([0, 2 << 16, PROTOCOL_3_2, (3 << 16) + 9999, -1]), _STARTUP.parameters).encode()],
        [Startup(parameters={"user": "x" * random.choice([1, 9_000, 20_000]), "database": "pond"}).encode(), start],
        [random.randbytes(random.randint(1, 200)), start],
        [_flipped(random, start)],
        [_with_length(start, 0, random.choice(LENGTHS))],
        [],
    )
    return list(random.choice(openings))


# -- mutations: frames of a session in, frames out -------------------------------------------------------------------


def _flip(random: Random, frames: list[bytes]) -> list[bytes]:
    return _changed(random, frames, lambda frame: _flipped(random, frame))


def _lie_about_length(random: Random, frames: list[bytes]) -> list[bytes]:
    return _changed(random, frames, lambda frame: _with_length(frame, 1, random.choice(LENGTHS)))


def _cut(random: Random, frames: list[bytes]) -> list[bytes]:
    """A message ends early, and the next begins inside of it."""
    return _changed(random, frames, lambda frame: frame[: random.randrange(max(1, len(frame)))])


def _shuffle(random: Random, frames: list[bytes]) -> list[bytes]:
    return random.sample(frames, len(frames))


def _leave_out(random: Random, frames: list[bytes]) -> list[bytes]:
    return [frame for frame in frames if random.random() < 0.7] or frames


def _stray(random: Random, frames: list[bytes]) -> list[bytes]:
    at = random.randrange(len(frames) + 1)
    strays = [random.choice(STRAYS).encode() for _ in range(random.randint(1, 5))]
    return [*frames[:at], *strays, *frames[at:]]


def _unknown_kind(random: Random, frames: list[bytes]) -> list[bytes]:
    return _changed(random, frames, lambda frame: random.randbytes(1) + frame[1:])


def _flood(random: Random, frames: list[bytes]) -> list[bytes]:
    """Very many of what is cheap to send."""
    at = random.randrange(len(frames) + 1)
    flood = [random.choice(STRAYS).encode()] * random.randint(50, FLOOD_MAX)
    return [*frames[:at], *flood, *frames[at:]]


def _huge_counts(random: Random, frames: list[bytes]) -> list[bytes]:
    """A Bind or a Parse that announces more than it holds."""
    count = struct.pack("!H", random.choice([0x7FFF, 0x8000, 0xFFFF]))
    bind = Bind("", "s").encode()[:7] + random.choice([count, b"\0\0" + count, b"\0\0\0\0" + count, count * 3])
    parse = Parse("", "SHOW timezone").encode()[:-2] + count
    return [*frames, _with_length(random.choice([bind, parse]), 1, None), Sync().encode()]


def _bad_text(random: Random, frames: list[bytes]) -> list[bytes]:
    text = random.choice([b"\xff\xfe", b"SHOW \xc3(", b"SELECT '\xed\xa0\x80'", "SELECT '\ud7ff\U0010ffff'".encode()])
    return [*frames, _with_length(b"Q\0\0\0\0" + text + b"\0", 1, None), Sync().encode()]


def _large_message(random: Random, frames: list[bytes]) -> list[bytes]:
    text = "SHOW " + "x" * random.choice([100_000, 1_000_000])
    return [*frames, random.choice([Query(text), Parse("", text), CopyData(text.encode())]).encode()]


def _nested_text(random: Random, frames: list[bytes]) -> list[bytes]:
    """What parsers that call themselves do not like."""
    depth = random.choice([50, 500, 5_000])
    text = "SELECT " + random.choice(["(", "- ", "1+", "NOT ", "a.", "ARRAY[", "CASE WHEN "]) * depth
    return [*frames, Query(text).encode()]


Mutation = Callable[[Random, list[bytes]], list[bytes]]

MUTATIONS: Sequence[Mutation] = (
    *(_flip, _flip, _lie_about_length, _cut, _shuffle, _leave_out, _stray, _unknown_kind),
    *(_flood, _flood, _huge_counts, _bad_text, _large_message, _nested_text),
)


def _changed(random: Random, frames: list[bytes], change: Callable[[bytes], bytes]) -> list[bytes]:
    at = random.randrange(len(frames))
    return [*frames[:at], change(frames[at]), *frames[at + 1 :]]


def _flipped(random: Random, frame: bytes) -> bytes:
    changed = bytearray(frame)
    for _ in range(random.randint(1, 4) if frame else 0):
        changed[random.randrange(len(changed))] = random.randrange(256)
    return bytes(changed)


def _with_length(frame: bytes, at: int, length: int | None) -> bytes:
    """A frame with another length, or (None) with the right one."""
    told = len(frame) - at if length is None else length
    return frame[:at] + struct.pack("!i", told) + frame[at + 4 :]

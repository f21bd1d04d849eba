"""Writes down what a client sends: a proxy before a server, and files of the queries that went through it."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from millpond.server.types import BINARY_FORMAT, type_of_parameter
from millpond.types import BIGINT
from millpond.values import to_text
from millpond.values.binary_input import from_binary
from millpond.wire.decoder import Decoder
from millpond.wire.frontend import Bind, Parse, Query
from millpond.wire.startup import Startup

RECORDED = Path(__file__).parent / "recorded"

_BLOCK = re.compile(
    r"-- (?P<title>[^\n]*)\n(?:-- values: (?P<values>[^\n]*)\n)?(?P<answer>(?:--[^\n]*\n)*)(?P<text>.*)", re.DOTALL
)


@dataclass(frozen=True)
class Recorded:
    """A query that a client sent, with the texts of its parameters, and what the answer looked like."""

    title: str
    text: str
    values: tuple[str | None, ...] = ()
    answer: tuple[str, ...] = ()

    def block(self) -> str:
        values = f"-- values: {json.dumps(self.values)}\n" if self.values else ""
        answer = "".join(f"-- {line}\n" for line in self.answer)
        return f"-- {self.title}\n{values}{answer}{self.text.strip().rstrip(';')};\n"


def read_recorded(path: Path) -> list[Recorded]:
    """The queries of a file: blocks with a title, perhaps values, what was answered, and the text."""
    found = []
    for block in re.split(r"(?<=;\n)\n", path.read_text(encoding="utf-8")):
        match = _BLOCK.fullmatch(block)
        assert match is not None, block
        values = tuple(json.loads(match["values"])) if match["values"] else ()
        answer = tuple(line.removeprefix("-- ") for line in match["answer"].splitlines())
        found.append(Recorded(match["title"], match["text"].rstrip().removesuffix(";"), values, answer))
    return found


def write_recorded(path: Path, queries: list[Recorded]) -> None:
    path.write_text("\n".join(query.block() for query in queries), encoding="utf-8")


@dataclass
class Recorder:
    """What went through a proxy on `port`, in order and each text once; `title` is what the client was doing."""

    port: int
    title: str = ""
    queries: dict[str, Recorded] = field(default_factory=dict)

    def note(self, text: str, values: tuple[str | None, ...] = ()) -> None:
        """Keep a query over the catalogs; what else a client says is not of interest."""
        if re.match(r"\s*(select|with)\b", text, re.IGNORECASE):
            tidy = "\n".join(line.rstrip() for line in text.strip().splitlines() if line.strip())
            self.queries.setdefault(tidy, Recorded(self.title, tidy, values))


@contextmanager
def recording(server_port: int) -> Iterator[Recorder]:
    """A proxy before a server as long as the block runs."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        recorder = Recorder(listening.getsockname()[1])
        threading.Thread(target=_accept, args=[listening, server_port, recorder], daemon=True).start()
        yield recorder


def _accept(listening: socket.socket, server_port: int, recorder: Recorder) -> None:
    with suppress(OSError):  # the listening socket is closed at the end
        while True:
            client, _ = listening.accept()
            threading.Thread(target=_connect, args=[client, server_port, recorder], daemon=True).start()


def _connect(client: socket.socket, server_port: int, recorder: Recorder) -> None:
    with client, socket.create_connection(("127.0.0.1", server_port)) as server:
        back = threading.Thread(target=_pump, args=[server, client, None], daemon=True)
        back.start()
        _pump(client, server, _Reader(recorder))
        back.join()


def _pump(source: socket.socket, target: socket.socket, reader: _Reader | None) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            if reader is not None:
                reader.read(data)
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


class _Reader:
    """Reads along with what a client sends."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder, self._decoder = recorder, Decoder()
        self._started = False
        self._statements: dict[str, Parse] = {}

    def read(self, data: bytes) -> None:
        self._decoder.feed(data)
        while not self._started and (opening := self._decoder.opening()) is not None:
            self._started = isinstance(opening, Startup)
        while self._started and (message := self._decoder.message()) is not None:
            if isinstance(message, Query):
                self._recorder.note(message.text)
            elif isinstance(message, Parse):
                self._statements[message.name] = message
            elif isinstance(message, Bind) and message.statement in self._statements:
                statement = self._statements[message.statement]
                self._recorder.note(statement.text, _texts(message, statement))


def _texts(bind: Bind, statement: Parse) -> tuple[str | None, ...]:
    """The values of a statement as texts."""
    formats = bind.formats if len(bind.formats) > 1 else [*bind.formats, 0][:1] * len(bind.values)
    types = [*statement.types, *[0] * len(bind.values)]
    return tuple(
        None if value is None else _binary(value, oid) if format == BINARY_FORMAT else value.decode()
        for value, format, oid in zip(bind.values, formats, types, strict=False)
    )


def _binary(value: bytes, oid: int) -> str:
    sql_type = type_of_parameter(oid) or BIGINT
    text: str = to_text(from_binary([value], sql_type), sql_type)[0].as_py()
    return text

"""What listens: the wire port where it was told to, everything of Spark on loopback, with its secrets on."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

LISTENING = "0A"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, int]]:
    """A process that serves beyond loopback: its id and its port."""
    directory = tmp_path_factory.mktemp("ports")
    (directory / "password").write_text("correct horse")
    where = ["--pond", str(directory / "pond"), "--host", "0.0.0.0", "--port", "0", "--master", "local[2]"]
    secured = ["--password-file", str(directory / "password"), "--insecure"]
    command = [sys.executable, "-m", "millpond.cli", "serve", *where, *secured]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            ready = re.search(r":(\d+)/pond", process.stdout.readline())
            assert ready is not None
            yield process.pid, int(ready[1])
        finally:
            process.send_signal(signal.SIGTERM)


def descendants(pid: int) -> list[int]:
    """A process and those that it started, and they."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            found += descendants(int(child))
    return found


def sockets(pid: int) -> set[str]:
    """The inodes of a process's sockets."""
    links = [str(path.readlink()) for path in Path(f"/proc/{pid}/fd").iterdir() if path.is_symlink()]
    return {match[1] for link in links if (match := re.fullmatch(r"socket:\[(\d+)\]", link))}


def listening(pids: list[int]) -> set[tuple[str, int]]:
    """The addresses and ports on which processes listen."""
    own = {inode for pid in pids for inode in sockets(pid)}
    found: set[tuple[str, int]] = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTENING and fields[9] in own:
                address, port = fields[1].split(":")
                found.add((shown(address), int(port, 16)))
    return found


def shown(address: str) -> str:
    """An address of /proc/net as people write it: words of four bytes, each turned around."""
    words = [bytes.fromhex(address[place : place + 8])[::-1] for place in range(0, len(address), 8)]
    family = socket.AF_INET if len(words) == 1 else socket.AF_INET6
    return socket.inet_ntop(family, b"".join(words)).removeprefix("::ffff:")


def test_addresses_are_read_right() -> None:
    assert shown("0100007F") == "127.0.0.1"
    assert shown("0000000000000000FFFF00000100007F") == "127.0.0.1"
    assert shown("00000000000000000000000000000000") == "::"


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs Linux")
def test_only_the_wire_port_is_reached_from_elsewhere(server: tuple[int, int]) -> None:
    pid, port = server
    found = listening(descendants(pid))
    assert ("0.0.0.0", port) in found
    beyond = {one for one in found if not one[0].startswith("127.") and one[0] != "::1"}
    assert beyond == {("0.0.0.0", port)}
    assert len(found) > 1, "Spark's own ports are among them"

"""`millpond serve`: opens the pond, listens, says so, and ends in good order on SIGTERM or Ctrl-C."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys

import millpond
from millpond.errors import MillpondError
from millpond.pgcatalog.objects import DATABASE
from millpond.server.listener import Listener
from millpond.server.security import Security, check_host, create_first_role, tls_context

__all__ = ["Security", "run"]


def run(*, directory: str | None, host: str, port: int, master: str, security: Security) -> int:
    """Serve until told to stop; the exit code is 1 if the pond cannot be opened or the address not be had."""
    logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")
    try:
        tls = tls_context(security)
        with millpond.connect(directory, master=master) as pond:
            password = create_first_role(pond, security)
            listener = Listener(pond, tls)
            check_host(host, security, tls, wants_passwords=listener.authenticator.wants_passwords)
            _announce(listener, password)
            asyncio.run(_serve(listener, host, port))
    except (MillpondError, OSError) as error:
        print(f"ERROR:  {error}", file=sys.stderr)
        return 1
    return 0


def _announce(listener: Listener, password: str | None) -> None:
    if password is not None:
        print(f"The password of the superuser millpond is {password} (it is not shown again).", file=sys.stderr)
    if not listener.authenticator.wants_passwords:
        print("No superuser has a password: anyone on this machine may connect, and nobody else.", file=sys.stderr)


async def _serve(listener: Listener, host: str, port: int) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    bound = await listener.start(host, port)
    shown = f"[{host}]" if ":" in host else host
    print(f"millpond ready: postgresql://{shown}:{bound}/{DATABASE}", flush=True)
    await stopped.wait()
    await listener.stop()

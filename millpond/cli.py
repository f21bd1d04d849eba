"""The command line: `millpond sql | serve | demo | bench`. Each command imports what it needs when it runs, so that
`--help` is instant."""

from __future__ import annotations

import argparse
import importlib
import inspect
import os
import pkgutil
import sys
from collections.abc import Sequence
from pathlib import Path

import millpond

HISTORY_PATH = Path("~/.millpond_history").expanduser()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name and return the exit code: 0 for success, 1 for an error."""
    options = _parser().parse_args(arguments)
    run = {"sql": run_sql, "serve": run_serve, "demo": run_demo, "bench": run_bench}[options.command]
    try:
        return run(options)
    except KeyboardInterrupt:
        return 1
    except BrokenPipeError:
        # The reader of our output is gone, as with `| head`: what is still buffered goes nowhere, without complaint.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def run_sql(options: argparse.Namespace) -> int:
    """The shell: on a pond's directory, a temporary pond, or a server."""
    from millpond.shell import program

    return program.run(
        database=options.database,
        master=options.master,
        inputs=options.inputs,
        format_=options.format,
        history_path=HISTORY_PATH,
    )


def run_serve(options: argparse.Namespace) -> int:
    """The PostgreSQL server."""
    from millpond.server import program

    return program.run(
        directory=options.pond,
        host=options.host,
        port=options.port,
        master=options.master,
        security=program.Security(
            tls_cert=options.tls_cert,
            tls_key=options.tls_key,
            insecure=options.insecure,
            password_file=options.password_file,
            generate_password=options.generate_password,
        ),
    )


def run_demo(options: argparse.Namespace) -> int:
    """The car plant."""
    from millpond import demo

    return demo.run(
        directory=options.pond, master=options.master, seconds=options.seconds, rate=options.rate, svg_path=options.svg
    )


def run_bench(options: argparse.Namespace) -> int:
    """A module of `millpond.bench`."""
    names = bench_names()
    if options.name not in names:
        print(f'ERROR:  benchmark "{options.name}" does not exist', file=sys.stderr)
        print(f"HINT:  There are: {', '.join(names)}.", file=sys.stderr)
        return 1
    module = importlib.import_module(f"millpond.bench.{options.name.replace('-', '_')}")
    peers = None if options.peers is None else [peer for peer in options.peers.split(",") if peer != "none"]
    if options.queries is None:
        module.run(scale=options.scale, peers=peers)
    elif "queries" in inspect.signature(module.run).parameters:
        module.run(scale=options.scale, peers=peers, queries=options.queries.split(","))
    else:
        print(f'ERROR:  benchmark "{options.name}" has no queries to choose from', file=sys.stderr)
        return 1
    return 0


def bench_names() -> list[str]:
    """The benchmarks there are: the modules and packages of `millpond.bench` that define `run`."""
    package = importlib.import_module("millpond.bench")
    found = []
    for module in pkgutil.iter_modules(package.__path__):
        file = f"{module.name}/__init__.py" if module.ispkg else f"{module.name}.py"
        path = Path(package.__path__[0]) / file
        # Read, not imported: a benchmark may bring Spark and its peers along.
        if path.exists() and "\ndef run(" in path.read_text(encoding="utf-8"):
            found.append(module.name.replace("_", "-"))
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="millpond", description="A SQL database for data that is still arriving.")
    parser.add_argument("--version", action="version", version=f"millpond {millpond.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_sql(commands)
    _add_serve(commands)
    _add_demo(commands)
    _add_bench(commands)
    return parser


def _add_sql(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    text = "Run SQL: interactively, or from -c, -f or standard input, ending at the first error."
    sql = commands.add_parser("sql", help="a SQL shell", description=text)
    sql.add_argument(
        "database",
        nargs="?",
        metavar="PATH|URL",
        help="a pond's directory, made if new, or postgresql://...; a temporary pond if left out",
    )
    sql.add_argument(
        "-c", dest="inputs", action="append", type=lambda text: ("text", text), metavar="SQL", help="run this SQL"
    )
    sql.add_argument(
        "-f", dest="inputs", action="append", type=lambda path: ("file", path), metavar="FILE", help="run this file"
    )
    sql.add_argument("--csv", dest="format", action="store_const", const="csv", help="rows as CSV")
    sql.add_argument(
        "--json", dest="format", action="store_const", const="json", help="rows as JSON, one object a line"
    )
    sql.set_defaults(format="aligned")
    _add_master(sql)


def _add_serve(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    text = "Serve a pond to every client that speaks PostgreSQL's protocol, until SIGTERM or Ctrl-C."
    serve = commands.add_parser("serve", help="a PostgreSQL server", description=text)
    serve.add_argument("--pond", metavar="DIR", help="the pond's directory, made if new; a temporary pond if left out")
    serve.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: %(default)s)")
    serve.add_argument("--port", type=int, default=5433, help="0 for any free one (default: %(default)d)")
    _add_master(serve)
    serve.add_argument("--tls-cert", metavar="FILE", help="the certificate for TLS, with its chain")
    serve.add_argument("--tls-key", metavar="FILE", help="the key of the certificate")
    serve.add_argument("--insecure", action="store_true", help="listen beyond this machine without TLS")
    first = serve.add_mutually_exclusive_group()
    first.add_argument("--password-file", metavar="FILE", help="the password of the first superuser, millpond")
    first.add_argument("--generate-password", action="store_true", help="make one, and print it once")


def _add_demo(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    text = "Feed the streams of a car plant and query them meanwhile, live in the terminal."
    demo = commands.add_parser("demo", help="a car plant's streams, live", description=text)
    demo.add_argument("--pond", metavar="DIR", help="keep the pond in this new directory, to be queried afterwards")
    demo.add_argument("--seconds", type=float, default=60.0, help="how long it runs (default: %(default)g)")
    demo.add_argument("--rate", type=int, default=10_000, help="rows a second (default: %(default)d)")
    demo.add_argument("--svg", metavar="FILE", help="write the last picture to this file")
    _add_master(demo)


def _add_bench(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    text = f"Run a benchmark: {', '.join(bench_names()) or 'there is none yet'}."
    bench = commands.add_parser("bench", help="measure", description=text)
    bench.add_argument("name", metavar="NAME")
    bench.add_argument("--scale", type=float, default=1.0, help="shrink or grow everything (default: %(default)g)")
    bench.add_argument("--peers", help="run beside these only, separated by commas, or none (default: all it knows)")
    bench.add_argument("--queries", help="of TPC-H's queries ask only these numbers, separated by commas")


def _add_master(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--master", default="local[*]", help="Spark's master (default: %(default)s)")


if __name__ == "__main__":
    sys.exit(main())

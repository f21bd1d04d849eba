"""What the demo shows: a picture for terminals, a line now and then for everything else."""

from __future__ import annotations

import io
import re
from collections import deque
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from millpond.demo.feed import QUESTIONS, Reply, Seen, StreamState

SPARKS = "▁▂▃▄▅▆▇█"
SPARKLINE_CELLS = 40
ANSWER_ROWS_MAX = 8
SQL_LINES_MAX = max(question.sql.count("\n") + 1 for question in QUESTIONS)
"""Room for every question and answer: the picture keeps its height, so that it does not jump."""
SVG_WIDTH = 100


class Rates:
    """Rows a second over the last moments, from totals that are noted now and then."""

    def __init__(self) -> None:
        self._notes: deque[tuple[float, int]] = deque(maxlen=SPARKLINE_CELLS + 1)

    def note(self, seconds: float, rows: int) -> None:
        self._notes.append((seconds, rows))

    def history(self) -> list[float]:
        """The rate between each two notes, oldest first."""
        pairs = pairwise(self._notes)
        return [(rows - rows_before) / (at - before) for (before, rows_before), (at, rows) in pairs if at > before]

    def now(self, notes: int = 8) -> float:
        """The mean of the last few, because a single moment's rate jumps about."""
        recent = self.history()[-notes:]
        return sum(recent) / len(recent) if recent else 0.0


def sparkline(values: list[float]) -> str:
    """Values as little bars.

    >>> sparkline([0, 5, 10])
    '▁▄█'
    """
    top = max(values, default=0) or 1
    return "".join(SPARKS[int(value / top * (len(SPARKS) - 1))] for value in values)


def picture(seen: Seen, rates: Rates, seconds: float, seconds_max: float) -> RenderableType:
    """The whole picture of a moment."""
    left = max(0.0, seconds_max - seconds)
    head = Text.assemble(
        (f"{sum(seen.rows_in.values()):,} rows", "bold"),
        f"   {rates.now():,.0f} rows/s  ",
        (sparkline(rates.history()), "cyan"),
        f"   {left:.0f} s left",
    )
    return Panel(
        Group(head, Text(), _streams(seen), Text(), *_answer(seen.reply)), title="millpond demo", width=SVG_WIDTH
    )


def last_picture(seen: Seen, rates: Rates, seconds: float) -> RenderableType:
    """The picture that stays: with the question that the demo is about."""
    return picture(replace(seen, reply=seen.running_low or seen.reply), rates, seconds, seconds)


def line(seen: Seen, rates: Rates, seconds: float) -> str:
    """The same in one line."""
    totals = ", ".join(f"{name} {rows:,}" for name, rows in seen.rows_in.items())
    text = f"{seconds:4.0f} s  {rates.now():>7,.0f} rows/s  {totals}"
    if seen.running_low:
        text += f"  running low: {len(seen.running_low.rows)} (answered in {seen.running_low.seconds * 1000:.0f} ms)"
    return text


def summary(seen: Seen, seconds: float, directory: str | None) -> str:
    """The last words."""
    rows = sum(seen.rows_in.values())
    lines = [f"{rows:,} rows in {seconds:.0f} s: {rows / max(seconds, 0.001):,.0f} rows/s."]
    if seen.reply_seconds:
        times = sorted(seen.reply_seconds)
        median = times[len(times) // 2] * 1000
        lines.append(f"Questions answered meanwhile: {len(times)}, half of them within {median:.0f} ms.")
    if directory:
        lines.append(f"Ask your own: millpond sql {directory}")
    else:
        lines.append("Ask your own: millpond demo --pond DIR keeps the pond, millpond sql DIR opens it.")
    return "\n".join(lines)


def write_svg(content: RenderableType, path: Path) -> None:
    """The picture as SVG, with the reader's own monospaced font instead of one from the network."""
    console = Console(record=True, width=SVG_WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(content)
    svg = console.export_svg(title="make demo")
    path.write_text(re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL), encoding="utf-8")


def _streams(seen: Seen) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("stream")
    for title in ("rows in", "held", "ring", "MB", "segments"):
        table.add_column(title, justify="right")
    states = {state.name: state for state in seen.streams}
    for name in seen.rows_in:
        table.add_row(name, *(_stream_cells(states[name]) if name in states else ()))
    return table


def _stream_cells(state: StreamState) -> tuple[str, ...]:
    fill = f"{state.rows_held / state.capacity_rows:.0%} of {state.capacity_rows:,}"
    megabytes = f"{state.bytes_held / 1e6:,.1f}"
    return f"{state.rows_in:,}", f"{state.rows_held:,}", fill, megabytes, str(state.segments)


def _answer(reply: Reply | None) -> tuple[RenderableType, ...]:
    if reply is None:
        return (Text("the first question is being asked ...", style="dim"),)
    title = Text.assemble((reply.question.title, "bold"), f"  answered in {reply.seconds * 1000:.0f} ms")
    padding = "\n" * (SQL_LINES_MAX - reply.question.sql.count("\n") - 1)
    sql = Syntax(
        reply.question.sql + padding, "postgresql", theme="ansi_dark", background_color="default", word_wrap=True
    )
    return title, sql, Text(), _rows(reply)


def _rows(reply: Reply) -> RenderableType:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in reply.columns:
        table.add_column(name)
    for row in reply.rows[:ANSWER_ROWS_MAX]:
        table.add_row(*(value or "" for value in row))
    for _ in range(len(reply.rows), ANSWER_ROWS_MAX):
        table.add_row()
    more = len(reply.rows) - ANSWER_ROWS_MAX
    return Group(table, Text(f"and {more} more" if more > 0 else "", style="dim"))

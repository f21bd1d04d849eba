"""What a benchmark prints: a table that a person can read, and last one JSON line that a program can."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table

import millpond


@dataclass(frozen=True)
class Measurement:
    """One number, beside those of its peers in the same run.

    `target` is what `value` has to reach, or with `target_of` what the ratio to that peer has to reach; where
    `lower_is_better` they have to stay below it.

    >>> Measurement("rate", 100.0, "rows/s", {"flink": 10.0}, target=5.0, target_of="flink").met
    True
    >>> Measurement("age", 151.0, "ms", target=151.0, lower_is_better=True).met
    False
    >>> Measurement("rate", 100.0, "rows/s", target=5.0, target_of="flink").met is None  # Flink did not run
    True
    """

    metric: str
    value: float
    unit: str
    peers: Mapping[str, float] = field(default_factory=dict)
    target: float | None = None
    target_of: str | None = None
    lower_is_better: bool = False

    @property
    def ratios(self) -> dict[str, float]:
        return {name: self.value / peer for name, peer in self.peers.items() if peer}

    @property
    def met(self) -> bool | None:
        reached = self.ratios.get(self.target_of) if self.target_of else self.value
        if self.target is None or reached is None:
            return None
        return reached < self.target if self.lower_is_better else reached >= self.target


def report(bench: str, measurements: Sequence[Measurement], console: Console) -> None:
    """Print the table and the JSON line."""
    console.print(_table(bench, measurements))
    print(json.dumps(_summary(bench, measurements)))


def machine() -> dict[str, object]:
    """What the numbers depend on."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cores": os.cpu_count(),
        "memory_gb": round(memory / (1 << 30)),
        "python": platform.python_version(),
        "system": platform.system(),
    }


def _table(bench: str, measurements: Sequence[Measurement]) -> Table:
    table = Table(title=f"millpond bench {bench}")
    for heading in ("metric", "value", "beside", "target", ""):
        table.add_column(heading, justify="left" if heading in ("metric", "beside") else "right")
    for item in measurements:
        beside = "\n".join(f"{name}: {_shown(peer)} (x {item.ratios[name]:.2f})" for name, peer in item.peers.items())
        mark = {None: "", True: "[green]met[/]", False: "[red]missed[/]"}[item.met]
        table.add_row(item.metric, f"{_shown(item.value)} {item.unit}", beside, _target(item), mark)
    return table


def _target(item: Measurement) -> str:
    """What a number is to be, in words.

    >>> _target(Measurement("age", 100.0, "ms", target=151.0, lower_is_better=True))
    'below 151'
    >>> _target(Measurement("rate", 100.0, "rows/s", target=5.0, target_of="flink"))
    '5.00 x flink'
    """
    if item.target is None:
        return ""
    target = f"{_shown(item.target)} x {item.target_of}" if item.target_of else _shown(item.target)
    return f"below {target}" if item.lower_is_better else target


def _shown(value: float) -> str:
    """A number with as many digits as matter.

    >>> _shown(1234567.8), _shown(0.391)
    ('1,234,568', '0.39')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:,.2f}"


def _summary(bench: str, measurements: Sequence[Measurement]) -> dict[str, object]:
    results = [
        {
            "metric": item.metric,
            "value": round(item.value, 3),
            "unit": item.unit,
            "peer": {name: round(peer, 3) for name, peer in item.peers.items()},
            "ratio": {name: round(ratio, 4) for name, ratio in item.ratios.items()},
            "target": item.target,
            "target_of": item.target_of,
            "lower_is_better": item.lower_is_better,
            "met": item.met,
        }
        for item in measurements
    ]
    return {"bench": bench, "version": millpond.__version__, "machine": machine(), "results": results}

"""A believable car plant: stations that use parts, suppliers that bring new ones and are sometimes late.

Everything comes from one seed and from the time that `work` is told has passed, so a run can be repeated.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import pyarrow as pa

PARTS = (
    "Battery",
    "Brake disc",
    "Dashboard",
    "Door",
    "Engine",
    "Exhaust",
    "Gearbox",
    "Headlight",
    "Mirror",
    "Seat",
    "Wheel",
    "Windscreen",
)
PLANTS = (("Spartanburg", "Gate", "+1 555 01"), ("Regensburg", "Tor", "+49 555 02"), ("Pretoria", "Dock", "+27 555 03"))
SIDES = ("N", "E", "S", "W")

STATIONS = 100
PARTS_A_STATION = 2
WORKERS = 400
STOCK_SECONDS = 6.0
"""A full bin lasts this long; a supplier that is late for longer leaves a station waiting."""
LATE_SECONDS = 12.0
SUPPLIERS_LATE_MIN = 1
SUPPLIERS_LATE_MAX = 3

_TYPES: dict[str, pa.DataType] = {
    "part_id": pa.int32(),
    "part": pa.string(),
    "station": pa.int32(),
    "worker": pa.int32(),
}
SCHEMA = pa.schema(_TYPES)
"""Both streams have these columns, as in the example of continuous views that the demo follows."""


@dataclass(frozen=True)
class Station:
    """A row of the table `station`; the supplier is a telephone number, to be called when parts run low."""

    id: int
    plant: str
    location: str
    supplier: str


@dataclass
class Bin:
    """The parts of one kind that lie at a station: their ids, oldest first."""

    part: str
    station: Station
    part_ids: deque[int] = field(default_factory=deque)


@dataclass(frozen=True)
class Work:
    """What happened in a moment: rows for the two streams."""

    usage: pa.Table
    restock: pa.Table


class Plant:
    """The plant's state; `work` lets a moment pass."""

    def __init__(self, rate: int, seed: int = 3) -> None:
        self._random = random.Random(seed)
        self.stations = [_station(number) for number in range(1, STATIONS + 1)]
        self._bins = [
            Bin(part, station) for station in self.stations for part in self._random.sample(PARTS, PARTS_A_STATION)
        ]
        self._suppliers = sorted({station.supplier for station in self.stations})
        self._late = {self._random.choice(self._suppliers): LATE_SECONDS}
        self._next_part_id = 1
        # Every part that is used was restocked before, so half of all rows are uses.
        self._uses_a_second = rate / 2
        self._bin_size = max(20, int(self._uses_a_second / len(self._bins) * STOCK_SECONDS))

    def stock(self) -> Work:
        """Fill the bins for the first time, to different heights, so that later deliveries do not come all at once."""
        rows = []
        for bin_ in self._bins:
            parts = self._random.randint(self._bin_size // 2, self._bin_size)
            rows += [self._put(bin_, self._random.randint(1, WORKERS)) for _ in range(parts)]
        return Work(restock=_table(rows), usage=_table([]))

    def work(self, seconds: float) -> Work:
        """Let this much time pass: suppliers fill the bins that are half empty, workers empty them."""
        self._change_who_is_late(seconds)
        return Work(restock=self._restock(), usage=self._use(round(self._uses_a_second * seconds)))

    def _change_who_is_late(self, seconds: float) -> None:
        self._late = {supplier: left - seconds for supplier, left in self._late.items() if left > seconds}
        another = self._random.random() < 2 * seconds / LATE_SECONDS
        if len(self._late) < (SUPPLIERS_LATE_MAX if another else SUPPLIERS_LATE_MIN):
            self._late[self._random.choice(self._suppliers)] = LATE_SECONDS * self._random.uniform(0.8, 1.2)

    def _restock(self) -> pa.Table:
        rows = []
        for bin_ in self._bins:
            missing = self._bin_size - len(bin_.part_ids)
            if missing * 2 > self._bin_size and bin_.station.supplier not in self._late:
                worker = self._random.randint(1, WORKERS)
                rows += [self._put(bin_, worker) for _ in range(missing)]
        return _table(rows)

    def _put(self, bin_: Bin, worker: int) -> tuple[int, str, int, int]:
        part_id = self._next_part_id
        self._next_part_id += 1
        bin_.part_ids.append(part_id)
        return part_id, bin_.part, bin_.station.id, worker

    def _use(self, uses: int) -> pa.Table:
        rows = []
        for bin_ in self._random.choices(self._bins, k=uses):
            if bin_.part_ids:  # else the station waits
                rows.append((bin_.part_ids.popleft(), bin_.part, bin_.station.id, self._random.randint(1, WORKERS)))
        return _table(rows)


def _station(number: int) -> Station:
    plant, gate, telephone = PLANTS[number % len(PLANTS)]
    location = f"{gate} {number % 9 + 1} - {SIDES[number % len(SIDES)]}"
    return Station(number, plant, location, f"{telephone} {number % 7:02d}")


def _table(rows: Sequence[tuple[int, str, int, int]]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(SCHEMA)
    return pa.table([pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA)

"""One GPU that is read through sysfs in a thread of its own: a device that hangs costs its own row and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import msgspec

from hwtop.collectors.abandon import Abandonable
from hwtop.collectors.drm_sysfs import Card
from hwtop.model.gpu import Gpu

_COUNT_EVERY_S = 5.0
"""Between two looks at which GPUs there are."""
_PATIENCE_S = 1.0
"""A read that has been out for longer, one usual interval, is no longer waited for, only looked at."""
_FRESH_S = 2.0
"""A reading that took longer mixes numbers of different times: it is shown as stale."""


class Device(Protocol):
    """A GPU that can be read. `read` never raises for what the device does, but may never return."""

    @property
    def doing(self) -> str:
        """The file that is being read now."""

    def blank(self) -> Gpu:
        """Who it is, without any number."""

    def read(self) -> Gpu:
        """All that can be told of it now."""


class _Answer(NamedTuple):
    gpu: Gpu
    began_s: float
    took_s: float


class Row:
    """One GPU with its thread and the newest that it said."""

    def __init__(self, device: Device, name: str, now: Callable[[], float]) -> None:
        self._device = device
        self._now = now
        self._slot = Abandonable(name, self._read, now)
        self._answer = _Answer(device.blank(), now(), 0.0)
        self._is_in = False
        """The newest reading belongs to this tick."""

    def start(self) -> None:
        """Begin this tick's reading, unless the last one is still out or has just come in."""
        self._is_in = False
        self.collect(0.0)
        if self._is_in and self._age_s() > _FRESH_S:
            self._is_in = False
            self.collect(0.0)

    def collect(self, wait_s: float) -> None:
        """Take the reading if it is there within `wait_s`."""
        if self._is_in:
            return
        if self._slot.out_for_s() > _PATIENCE_S:
            wait_s = 0.0
        try:
            self._answer = self._slot.poll(wait_s)
            self._is_in = True
        except TimeoutError:
            pass

    def result(self) -> Gpu:
        """The row for this tick."""
        answer, age_s = self._answer, self._age_s()
        if not self._is_in:
            out_s = self._slot.out_for_s()
            return _stale(answer.gpu, age_s, f"driver not answering for {out_s:.0f} s (reading {self._device.doing})")
        if age_s <= _FRESH_S:
            return answer.gpu
        return _stale(answer.gpu, age_s, f"driver slow: one reading took {answer.took_s:.0f} s")

    def _read(self) -> _Answer:
        began_s = self._now()
        gpu = self._device.read()
        return _Answer(gpu, began_s, self._now() - began_s)

    def _age_s(self) -> float:
        return max(0.0, self._now() - self._answer.began_s)


def _stale(gpu: Gpu, age_s: float, reason: str) -> Gpu:
    return msgspec.structs.replace(gpu, status="stale", reason=reason, age_s=age_s)


class Rows:
    """The GPUs of one vendor, each in its row. A row never goes: its device says that it is lost."""

    def __init__(
        self,
        find: Callable[[], list[Card]],
        make: Callable[[int, Card], Device],
        now: Callable[[], float],
        deadline_s: float,
    ) -> None:
        self._find = find
        self._make = make
        self._now = now
        self._deadline_s = deadline_s
        self._rows: dict[str, Row] = {}
        self._looked_at_s: float | None = None

    def __len__(self) -> int:
        return len(self._rows)

    def look(self) -> None:
        """Find GPUs that have come since, at most every 5 s. A new one takes the next number, wherever it is plugged in."""
        if self._looked_at_s is not None and self._now() - self._looked_at_s < _COUNT_EVERY_S:
            return
        self._looked_at_s = self._now()
        for card in self._find():
            if card.pci_bus_id not in self._rows:
                device = self._make(len(self._rows), card)
                self._rows[card.pci_bus_id] = Row(device, f"gpu-{card.pci_bus_id}", self._now)

    def read(self) -> tuple[Gpu, ...]:
        """All rows, each as fresh as its GPU allows, within the common deadline."""
        started_s = self._now()
        rows = list(self._rows.values())
        for row in rows:
            row.start()
        for row in rows:
            row.collect(max(0.0, started_s + self._deadline_s - self._now()))
        return tuple(row.result() for row in rows)

"""GPUs that are read through sysfs: one that hangs costs its own row and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from msgspec.structs import replace

from hwtop.collectors.batch import Batch
from hwtop.collectors.gpu.drm.sysfs import Card
from hwtop.collectors.procfs import reason_of
from hwtop.model.gpu.device import Gpu

_COUNT_EVERY_S = 5.0
"""Between two searches for GPUs."""
_FRESH_S = 2.0
"""Numbers that are older are shown as stale."""


class Device(Protocol):
    """A GPU that can be read. `read` never raises for what the device does, but may never return."""

    @property
    def doing(self) -> str:
        """The file that is being read now."""

    def blank(self) -> Gpu:
        """Its identity, without any metric."""

    def read(self) -> Gpu:
        """All that is reported of it now."""


class _Answer(NamedTuple):
    gpu: Gpu
    began_s: float
    took_s: float


class Rows:
    """The GPUs of one vendor. A row never goes: its device says that it is lost.

    They are read one after the other in one thread, which is cheapest; one that takes its time gets a thread of its own.
    """

    def __init__(
        self,
        vendor: str,
        find: Callable[[], list[Card]],
        make: Callable[[int, Card], Device],
        now: Callable[[], float],
        deadline_s: float,
    ) -> None:
        """`deadline_s`: how long one reading of all may take. A GPU that takes more than a third of it holds up no others."""
        self._find = find
        self._make = make
        self._now = now
        self._devices: dict[str, Device] = {}
        self._answers: dict[str, _Answer] = {}
        self._deadline_s = deadline_s
        self._batch: Batch[str] = Batch(f"gpu-{vendor}", self._ask, now, deadline_s / 3)
        self._looked_at_s: float | None = None

    def __len__(self) -> int:
        return len(self._devices)

    def look(self) -> None:
        """Find GPUs that have come since, at most every 5 s. A new one takes the next number, wherever it is plugged in."""
        if self._looked_at_s is not None and self._now() - self._looked_at_s < _COUNT_EVERY_S:
            return
        self._looked_at_s = self._now()
        for card in self._find():
            if card.pci_bus_id not in self._devices:
                device = self._make(len(self._devices), card)
                self._answers[card.pci_bus_id] = _Answer(device.blank(), self._now(), 0.0)
                self._devices[card.pci_bus_id] = device

    def read(self) -> tuple[Gpu, ...]:
        """All rows, each as fresh as its GPU allows."""
        late = self._batch.run(self._devices, self._deadline_s)
        return tuple(self._row(key, late.get(key)) for key in self._devices)

    def _ask(self, key: str) -> None:
        began_s = self._now()
        device = self._devices[key]
        try:
            gpu = device.read()
        except Exception as error:  # no value of one driver may break the rows of the others
            gpu = replace(device.blank(), status="error", reason=reason_of(error))
        self._answers[key] = _Answer(gpu, began_s, self._now() - began_s)

    def _row(self, key: str, late: str | None) -> Gpu:
        answer = self._answers[key]
        age_s = max(0.0, self._now() - answer.began_s)
        if late is None or (age_s <= _FRESH_S and answer.gpu.status != "stale"):
            return answer.gpu
        reason = f"driver {late} (reading {self._devices[key].doing})"
        if answer.took_s > _FRESH_S:
            reason = (
                f"driver slow: one reading took {answer.took_s:.0f} s, the next is out ({self._devices[key].doing})"
            )
        return replace(answer.gpu, status="stale", reason=reason, age_s=age_s)

"""Intel GPUs (Max, Flex, Arc), through the kernel's xe and i915 files. Gaudi is seen and named, not read."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import msgspec

from hwtop.collectors.gpu.drm.fdinfo import ClientFinder
from hwtop.collectors.gpu.drm.pcie import path_between
from hwtop.collectors.gpu.drm.process import Latest, Load, Users, loads_on
from hwtop.collectors.gpu.drm.row import Rows
from hwtop.collectors.gpu.drm.sysfs import Card, cards_of, has_drm
from hwtop.collectors.gpu.intel.device import IntelDevice
from hwtop.collectors.gpu.intel.names import INTEGRATED
from hwtop.collectors.gpu.pci import INTEL
from hwtop.errors import CannotError
from hwtop.model.gpu.device import Gpu, GpuProcess, GpuReading, Vendor
from hwtop.model.gpu.link import Topology

_DRIVERS = ("xe", "i915")
_COMPUTE = ("ccs", "compute")
"""Compute engines, as xe and as i915 name them."""
_KERNELS = (*_COMPUTE, "rcs", "render")
"""Engines that run kernels."""
_DECODERS = ("vcs", "video")
_REGIONS = ("vram0", "vram1", "local0", "local1")
"""The device's own memory, by tile."""


class IntelGpus:
    """All discrete Intel GPUs of this machine, in the order of their PCI addresses.

    They are read in one thread, processes in another, and what hangs is abandoned; `read` waits for all of them until one common deadline.
    Utilization is the sum of what the processes did between two reads: no file reports it for the device.
    """

    vendor: Vendor = "intel"

    def __init__(
        self,
        sys: str = "/sys",
        proc: str = "/proc",
        now: Callable[[], float] = time.monotonic,
        deadline_s: float = 0.3,
    ) -> None:
        self._sys = sys
        self._now = now
        self._deadline_s = deadline_s
        self._rows = Rows(self.vendor, self._cards, self._make, now, deadline_s)
        self._finder = ClientFinder(proc, _DRIVERS, now)
        self._users = Latest("intel-processes", self._find, lambda: self._finder.files.doing, now)
        self._before: Users | None = None
        self._slots: dict[str, str] = {}

    def probe(self) -> str | None:
        """Why there is no Intel GPU that could train, or None. Looks again at most every 5 s."""
        if len(self._rows):
            return None
        if not has_drm(self._sys):
            return self._gaudi() or f"no {self._sys}/class/drm here, so no Intel GPU with a driver"
        self._rows.look()
        if len(self._rows):
            return None
        gaudi = self._gaudi()
        if gaudi is not None:
            return gaudi
        if any(card.pci_bus_id == INTEGRATED for card in cards_of(self._sys, INTEL)):
            return "no Intel GPU but the graphics inside the CPU, which are not shown"
        return f"no Intel GPU in {self._sys}/class/drm"

    def read(self) -> GpuReading:
        """All rows, each as fresh as its GPU allows.

        Raises:
            CannotError: there is no Intel GPU; the message says why.
        """
        reason = self.probe()
        if reason is not None:
            raise CannotError(reason)
        started_s = self._now()
        self._rows.look()
        are_in = self._poll_users(0.0)
        gpus = self._rows.read()
        if not are_in:
            self._poll_users(max(0.0, started_s + self._deadline_s - self._now()))
        gpus = tuple(self._join(gpu) for gpu in gpus)
        gaudi = self._gaudi()
        return GpuReading(
            at_s=self._now(),
            gpus=gpus,
            driver=" and ".join(sorted({card.driver for card in self._cards()})) or None,
            topology=self._topology(gpus),
            missing={} if gaudi is None else {"gaudi": gaudi},
        )

    def close(self) -> None:
        """Nothing is held open between two reads."""

    def _cards(self) -> list[Card]:
        cards = cards_of(self._sys, INTEL)
        return [card for card in cards if card.driver in _DRIVERS and card.pci_bus_id != INTEGRATED]

    def _make(self, index: int, card: Card) -> IntelDevice:
        device = IntelDevice(index, card, self._now)
        self._slots[card.pci_bus_id] = device.slot
        return device

    def _gaudi(self) -> str | None:
        """Habana's accelerators have a class of their own, or that of all accelerators."""
        count = 0
        for folder in (f"{self._sys}/class/accel", f"{self._sys}/class/habanalabs"):
            names = os.listdir(folder) if os.path.isdir(folder) else []
            drivers = [os.path.realpath(f"{folder}/{name}/device/driver") for name in names if "_" not in name]
            count = max(count, sum(os.path.basename(driver) == "habanalabs" for driver in drivers))
        return f"{count} Gaudi accelerators are not read by hwtop: see hl-smi" if count else None

    def _find(self) -> Users:
        return Users(self._finder.read())

    def _poll_users(self, wait_s: float) -> bool:
        old = self._users.value
        is_in = self._users.poll(wait_s)
        if is_in:
            self._before = old
        return is_in

    def _join(self, gpu: Gpu) -> Gpu:
        """Add processes, and what is made of them: utilization and used memory."""
        if gpu.status in ("lost", "error") or gpu.pci_bus_id is None:
            return gpu
        users = self._users.value
        if users is None:
            reason = self._users.reason or ""
            unknown = dict.fromkeys(("processes", "util_pct", "decoder_pct", "encoder_pct", "mem_used_bytes"), reason)
            return msgspec.structs.replace(gpu, missing=gpu.missing | unknown)
        loads = loads_on(gpu.pci_bus_id, self._before, users, _REGIONS, _COMPUTE)
        missing = gpu.missing | self._gaps(users.usage.unreadable)
        if self._before is None:
            missing |= dict.fromkeys(
                ("util_pct", "decoder_pct"),
                "reported from the second reading on: it is the growth of the counters of the engines",
            )
        missing["encoder_pct"] = "Intel counts encoder and decoder together"
        values: dict[str, Any] = {
            "processes": tuple(_process(load) for load in loads) if loads or not users.usage.unreadable else None,
            "mem_used_bytes": sum(load.mem_bytes for load in loads),
            "util_pct": None if self._before is None else _busiest(loads, _KERNELS),
            "decoder_pct": None if self._before is None else _busiest(loads, _DECODERS),
        }
        return msgspec.structs.replace(gpu, missing=missing, **values)

    def _gaps(self, unreadable: int) -> dict[str, str]:
        """What the numbers leave out: they are sums over the processes that are readable."""
        if self._users.reason is not None:
            return {"processes": self._users.reason}
        if not unreadable:
            return {}
        reason = f"{unreadable} processes of other users are not readable: run as root to count them"
        return dict.fromkeys(("processes", "util_pct", "mem_used_bytes"), reason)

    def _topology(self, gpus: tuple[Gpu, ...]) -> Topology | None:
        """None with fewer than two GPUs. Xe Link is in no file of the kernel."""
        if len(gpus) < 2:
            return None
        paths = tuple(
            tuple(
                "SELF"
                if one.index == other.index
                else path_between(
                    self._slots.get(one.pci_bus_id or "", ""),
                    self._slots.get(other.pci_bus_id or "", ""),
                    one.numa_node,
                    other.numa_node,
                )
                for other in gpus
            )
            for one in gpus
        )
        return Topology(indexes=tuple(gpu.index for gpu in gpus), paths=paths)


def _process(load: Load) -> GpuProcess:
    pcts = load.engine_pcts
    return GpuProcess(
        pid=load.pid,
        mem_bytes=load.mem_bytes,
        kind="compute" if load.is_compute else "graphics",
        sm_pct=None if pcts is None else max((pcts[engine] for engine in _KERNELS if engine in pcts), default=None),
    )


def _busiest(loads: list[Load], engines: tuple[str, ...]) -> float:
    """Of the engines, the one that worked most for all processes together."""
    return max(min(100.0, sum((load.engine_pcts or {}).get(engine, 0.0) for load in loads)) for engine in engines)

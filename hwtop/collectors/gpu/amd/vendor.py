"""AMD GPUs, through the kernel's amdgpu files. No library is needed; amdsmi adds a little where it is installed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import msgspec

from hwtop.collectors.gpu.amd.device import AmdDevice
from hwtop.collectors.gpu.amd.link import links_of, peers_of
from hwtop.collectors.gpu.amd.process import AmdProcesses
from hwtop.collectors.gpu.amd.smi import AmdSmi, SmiReport
from hwtop.collectors.gpu.drm.pcie import path_between
from hwtop.collectors.gpu.drm.row import Rows
from hwtop.collectors.gpu.drm.sysfs import Card, cards_of, has_drm
from hwtop.collectors.gpu.pci import AMD, graphics_devices
from hwtop.collectors.procfs import read_text
from hwtop.errors import CannotError
from hwtop.model.gpu.device import Gpu, GpuReading, Vendor
from hwtop.model.gpu.health import EccErrors
from hwtop.model.gpu.link import Path, Topology


class AmdGpus:
    """All AMD GPUs of this machine, in the order of their PCI addresses, as amd-smi numbers them.

    They are read in one thread, processes in another, and what hangs is abandoned; `read` waits for all of them until one common deadline.
    """

    vendor: Vendor = "amd"

    def __init__(
        self,
        sys: str = "/sys",
        proc: str = "/proc",
        now: Callable[[], float] = time.monotonic,
        deadline_s: float = 0.3,
        load_amdsmi: Callable[[], Any] | None = None,
    ) -> None:
        self._sys = sys
        self._now = now
        self._deadline_s = deadline_s
        self._rows = Rows(self.vendor, self._cards, self._make, now, deadline_s)
        self._processes = AmdProcesses(sys, proc, now)
        self._smi = AmdSmi(now, load_amdsmi)
        self._devices: dict[str, AmdDevice] = {}

    def probe(self) -> str | None:
        """Why there is no AMD GPU, or None. Looks again at most every 5 s."""
        if len(self._rows):
            return None
        if not has_drm(self._sys):
            return self._unbound() or f"no {self._sys}/class/drm here, so no AMD GPU with a driver"
        self._rows.look()
        return None if len(self._rows) else self._unbound() or f"no AMD GPU in {self._sys}/class/drm"

    def read(self) -> GpuReading:
        """All rows, each as fresh as its GPU allows.

        Raises:
            CannotError: there is no AMD GPU; the message says why.
        """
        reason = self.probe()
        if reason is not None:
            raise CannotError(reason)
        started_s = self._now()
        self._rows.look()
        are_in = self._processes.poll(0.0)
        self._smi.poll()
        gpus = self._rows.read()
        if not are_in:
            self._processes.poll(max(0.0, started_s + self._deadline_s - self._now()))
        gpus = tuple(self._join(gpu) for gpu in gpus)
        return GpuReading(at_s=self._now(), gpus=gpus, driver=self._driver(), topology=self._topology(gpus))

    def close(self) -> None:
        """Nothing is held open between two reads."""

    def _unbound(self) -> str | None:
        """GPUs that are there, without a driver that hwtop can ask."""
        found = graphics_devices(AMD, self._sys)
        if not found:
            return None
        return f"AMD GPU {found[0].address} is not driven by amdgpu: sudo modprobe amdgpu, then dmesg | grep amdgpu"

    def _cards(self) -> list[Card]:
        return [card for card in cards_of(self._sys, AMD) if card.driver == "amdgpu"]

    def _make(self, index: int, card: Card) -> AmdDevice:
        device = AmdDevice(index, card, self._now)
        self._devices[card.pci_bus_id] = device
        return device

    def _driver(self) -> str:
        """Version of a driver that came with ROCm; one that came with the kernel has none of its own."""
        try:
            return f"amdgpu {read_text(f'{self._sys}/module/amdgpu/version').strip()}"
        except OSError:
            return "amdgpu of the kernel"

    def _join(self, gpu: Gpu) -> Gpu:
        """Add what is not read of the device itself."""
        if gpu.status in ("lost", "error") or gpu.pci_bus_id is None:
            return gpu
        missing = dict(gpu.missing)
        processes, reason = self._processes.on(gpu.pci_bus_id)
        if reason is not None:
            missing["processes"] = reason
        if any(process.sm_pct is None for process in processes or ()):
            missing["processes.sm_pct"] = (
                "ROCm submits its work through the compute driver, which does not report the time of a process"
            )
        nodes = self._processes.nodes
        links = links_of(nodes, gpu.pci_bus_id, self._devices[gpu.pci_bus_id].links_up) if nodes else None
        if links is None:
            missing["nvlinks"] = "links are reported by the compute driver (amdkfd), which lists no GPU here"
        changes: dict[str, Any] = {"processes": processes, "nvlinks": links}
        changes |= _reported_by_library(gpu, self._smi.of(gpu.pci_bus_id))
        for field in ("throttle", "ecc"):
            if changes.get(field) is not None:
                missing.pop(field, None)
        return msgspec.structs.replace(gpu, missing=missing, **changes)

    def _topology(self, gpus: tuple[Gpu, ...]) -> Topology | None:
        """None with fewer than two GPUs."""
        if len(gpus) < 2:
            return None
        nodes = self._processes.nodes
        linked = {(gpu.pci_bus_id, peer) for gpu in gpus for peer in peers_of(nodes, gpu.pci_bus_id or "")}
        rows = tuple(tuple(self._path(one, other, linked) for other in gpus) for one in gpus)
        return Topology(indexes=tuple(gpu.index for gpu in gpus), paths=rows)

    def _path(self, one: Gpu, other: Gpu, linked: set[tuple[str | None, str]]) -> Path:
        if one.index == other.index:
            return "SELF"
        if (one.pci_bus_id, other.pci_bus_id or "") in linked:
            return "XGMI"
        ends = [self._devices[gpu.pci_bus_id or ""].slot for gpu in (one, other)]
        return path_between(ends[0], ends[1], one.numa_node, other.numa_node)


def _reported_by_library(gpu: Gpu, reported: SmiReport) -> dict[str, Any]:
    """Fields of Gpu that the files left open and the library knows."""
    changes: dict[str, Any] = {}
    if gpu.throttle is None and reported.throttle is not None:
        changes["throttle"] = reported.throttle
    if gpu.ecc is None and reported.ecc_uncorrected is not None:
        changes["ecc"] = EccErrors(
            volatile_corrected=reported.ecc_corrected, volatile_uncorrected=reported.ecc_uncorrected
        )
    return changes

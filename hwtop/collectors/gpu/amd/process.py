"""Processes on AMD GPUs: of the compute driver (ROCm), and of the graphics driver."""

from __future__ import annotations

from collections.abc import Callable

from hwtop.collectors.gpu.amd.kfd import KfdNode, KfdUse, read_nodes, read_uses
from hwtop.collectors.gpu.drm.fdinfo import ClientFinder, Usage
from hwtop.collectors.gpu.drm.process import Latest, Load, Users, loads_on
from hwtop.collectors.gpu.drm.sysfs import Files
from hwtop.model.gpu.device import GpuProcess

_ENGINES = ("gfx", "compute")
"""Engines that run kernels (amdgpu_fdinfo.c)."""
_COMPUTE = ("compute",)
_REGIONS = ("vram",)
_NODES_EVERY_S = 10.0


class AmdProcesses:
    """Which process is on which GPU, read in a thread that may be abandoned."""

    def __init__(self, sys: str, proc: str, now: Callable[[], float]) -> None:
        self.nodes: tuple[KfdNode, ...] = ()
        """GPUs as the compute driver numbers them."""
        self._sys = sys
        self._now = now
        self._finder = ClientFinder(proc, {"amdgpu"}, now)
        self._files = Files()
        self._nodes_due_s: float | None = None
        self._latest = Latest("amd-processes", self._read, self._doing, now)
        self._before: Users | None = None

    def poll(self, wait_s: float) -> bool:
        """Look again, or take what is on its way, waiting at most `wait_s`. False where nothing came."""
        old = self._latest.value
        is_in = self._latest.poll(wait_s)
        if is_in:
            self._before = old
        return is_in

    def on(self, pci_bus_id: str) -> tuple[tuple[GpuProcess, ...] | None, str | None]:
        """Processes on one GPU, and why there are none or not all of them."""
        users = self._latest.value
        if users is None:
            return None, self._latest.reason
        loads = loads_on(pci_bus_id, self._before, users, _REGIONS, _COMPUTE)
        processes = tuple(_process(load) for load in loads)
        if self._latest.reason is not None or users.compute is not None or not users.usage.unreadable:
            return processes, self._latest.reason
        hidden = f"{users.usage.unreadable} processes of other users are not readable: run as root to see them"
        return processes or None, hidden

    def _read(self) -> Users:
        if self._nodes_due_s is None or self._now() >= self._nodes_due_s:
            self.nodes = read_nodes(self._files, self._sys)
            self._nodes_due_s = self._now() + _NODES_EVERY_S
        uses = read_uses(self._files, self._sys, self.nodes) if self.nodes else None
        usage = self._finder.read()
        return Users(usage, None if uses is None else _as_seen_here(uses, usage))

    def _doing(self) -> str:
        return self._finder.files.doing or self._files.doing


def _as_seen_here(uses: tuple[KfdUse, ...], usage: Usage) -> dict[tuple[int, str], int]:
    """Memory by PID and GPU. The compute driver reports PIDs of the host; in a container the same process has another one here,
    found by the number of its address space. Processes outside of the container keep the host's PID."""
    here = {(client.pasid, client.pci_bus_id): client.pid for client in usage.clients if client.pasid}
    return {(here.get((use.pasid, use.pci_bus_id), use.pid), use.pci_bus_id): use.vram_bytes for use in uses}


def _process(load: Load) -> GpuProcess:
    """A ROCm process submits by the compute driver, which does not report time on the engines: its share stays unknown."""
    reported = load.engine_pcts or {}
    pcts = [reported[engine] for engine in _ENGINES if engine in reported]
    return GpuProcess(
        pid=load.pid,
        mem_bytes=load.mem_bytes,
        kind="compute" if load.is_compute else "graphics",
        sm_pct=max(pcts) if pcts else None,
    )

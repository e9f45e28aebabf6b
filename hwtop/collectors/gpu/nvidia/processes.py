"""Processes on one NVIDIA GPU, or on one of its MIG instances: what kind, how much memory, how busy."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from hwtop.collectors.gpu.nvidia import library as codes
from hwtop.collectors.gpu.nvidia.ask import Ask, Question, Refused, first
from hwtop.job.secrets import masked_text
from hwtop.model.gpu.device import GpuProcess, ProcessKind

_KINDS: tuple[tuple[ProcessKind, str], ...] = (("graphics", "Graphics"), ("compute", "Compute"), ("mps", "MPSCompute"))
"""A process in several lists is of the last kind."""


def listed(ask: Ask, handle: Any) -> dict[int, GpuProcess]:
    """Processes by PID.

    Raises:
        Refused: the compute list cannot be had, or nothing is known because another one was denied.
    """
    found: dict[int, GpuProcess] = {}
    denied: Refused | None = None
    for kind, word in _KINDS:
        name = f"nvmlDeviceGet{word}RunningProcesses"
        try:
            processes = first(ask, handle, ((f"{name}_v3", ()), (f"{name}_v2", ())))
        except Refused as refused:
            if kind == "compute":
                raise
            denied = refused if refused.code == codes.NO_PERMISSION else denied
            continue
        found |= {
            p.pid: GpuProcess(pid=p.pid, mem_bytes=p.usedGpuMemory, kind=kind)
            for p in processes
            if 0 < p.pid <= _MOST_PID
        }
    if denied is not None and not found:
        raise denied
    return found


class ProcessReader:
    """The processes of a whole GPU. Remembers up to when it has seen their utilization, and the names of those unseen in /proc."""

    def __init__(self, proc: str = "/proc") -> None:
        self._proc = proc
        self._seen_us = 0
        """Time of the newest sample."""
        self._names: dict[int, str | None] = {}

    def question(self) -> Question:
        """Fills `processes`; why their utilization is not known stands under "processes.sm_pct"."""
        return Question(("processes",), self._read)

    def _read(self, ask: Ask, handle: Any) -> Mapping[str, Any]:
        found = listed(ask, handle)
        self._names = {pid: self._name(ask, pid) for pid in found}
        busy = self._busy_pct(ask, handle) if found else {}
        processes = tuple(
            replace(process, name=self._names[pid], sm_pct=_busy_share(process, busy))
            for pid, process in sorted(found.items())
        )
        return {"processes": processes, "processes.sm_pct": busy}

    def _busy_pct(self, ask: Ask, handle: Any) -> dict[int, float] | Refused:
        """Newest sample of each PID since the last reading. NOT_FOUND: none was busy."""
        try:
            samples = ask("nvmlDeviceGetProcessUtilization", handle, self._seen_us)
        except Refused as refused:
            return {} if refused.code in (codes.SUCCESS, codes.NOT_FOUND) else refused
        by_time = sorted(samples, key=lambda sample: sample.timeStamp)
        self._seen_us = max((sample.timeStamp for sample in by_time), default=self._seen_us)
        return {sample.pid: float(sample.smUtil) for sample in by_time if sample.smUtil <= _MOST_PCT}

    def _name(self, ask: Ask, pid: int) -> str | None:
        if pid in self._names:
            return self._names[pid]
        if os.path.exists(f"{self._proc}/{pid}"):
            return None
        try:
            return masked_text(ask("nvmlSystemGetProcessName", pid))[:_NAME_LENGTH] or None
        except Refused:
            return None


_NAME_LENGTH = 200
"""Characters of a name that are kept: for a program that wrote over its arguments the driver reports the whole command line."""
_MOST_PID = 1 << 22
"""PID_MAX_LIMIT of Linux: drivers for Jetson and WSL have been seen to list entries without a process."""
_MOST_PCT = 100
"""Drivers have been seen to leave samples uninitialised: larger numbers are none (nvtop leaves them out as well)."""


def _busy_share(process: GpuProcess, busy: dict[int, float] | Refused) -> float | None:
    """0 for a process without a sample: the driver reports only those that were busy (nvmlDeviceGetProcessUtilization in nvml.h).
    For a client of MPS the server may stand there in its place."""
    if isinstance(busy, Refused):
        return None
    return busy.get(process.pid, None if process.kind == "mps" else 0.0)

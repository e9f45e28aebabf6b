"""Processes on one NVIDIA GPU, or on one of its MIG instances: what kind, how much memory, how busy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hwtop.collectors import nvml as codes
from hwtop.collectors.nvml_ask import Ask, Question, Refused, first
from hwtop.model.gpu import GpuProcess, ProcessKind

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
        found |= {p.pid: GpuProcess(pid=p.pid, mem_bytes=p.usedGpuMemory, kind=kind) for p in processes}
    if denied is not None and not found:
        raise denied
    return found


class ProcessReader:
    """The processes of a whole GPU."""

    def question(self) -> Question:
        """Fills `processes`."""
        return Question(("processes",), self._read)

    def _read(self, ask: Ask, handle: Any) -> Mapping[str, Any]:
        found = listed(ask, handle)
        return {"processes": tuple(found[pid] for pid in sorted(found))}

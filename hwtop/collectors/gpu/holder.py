"""Who holds a GPU's memory: is the process still there, does the list account for what is in use, and where nothing else is known, what is it in sum?"""

from __future__ import annotations

import os
from collections.abc import Sequence

from msgspec.structs import replace

from hwtop.collectors.kernel.source import INITIAL_PID_NAMESPACE
from hwtop.collectors.process.files import read_bytes, read_stat
from hwtop.model.gpu.device import UNIFIED_MEMORY, Gpu, GpuProcess

GONE = "X"


class GpuHolders:
    """Looks up the PIDs that drivers list. Reads /proc/PID/stat only, which takes no lock."""

    def __init__(self, proc: str = "/proc") -> None:
        self._proc = proc
        self._sees_all: bool | None = None

    def reported(self, gpus: Sequence[Gpu]) -> tuple[Gpu, ...]:
        """The same GPUs; with what is known of their processes where all of the machine can be seen here."""
        if self._sees_all is None:
            self._sees_all = self._is_host() and self._state(1) != GONE
        if not self._sees_all:
            return tuple(_unsummed(gpu, "processes outside of this container are not listed") for gpu in gpus)
        states = {pid: self._state(pid) for pid in {entry.pid for gpu in gpus for entry in gpu.processes or ()}}
        return tuple(_reported(gpu, states) for gpu in gpus)

    def _is_host(self) -> bool:
        """In a container the PIDs of drivers mean other processes, or none; under Windows (WSL) most of them run outside it."""
        try:
            release = read_bytes(f"{self._proc}/sys/kernel/osrelease").lower()
            return b"microsoft" not in release and os.readlink(f"{self._proc}/self/ns/pid") == INITIAL_PID_NAMESPACE
        except OSError:
            return False

    def _state(self, pid: int) -> str | None:
        """Where /proc hides the processes of others (hidepid), PID 1 is among them."""
        try:
            return read_stat(f"{self._proc}/{pid}").state
        except (FileNotFoundError, ProcessLookupError):
            return GONE
        except OSError:
            return None


def _reported(gpu: Gpu, states: dict[int, str | None]) -> Gpu:
    if gpu.processes is None:
        return _unsummed(gpu, "processes not reported")
    processes = tuple(replace(entry, state=states.get(entry.pid)) for entry in gpu.processes)
    if _shares_memory(gpu):
        return _summed(replace(gpu, processes=processes))
    return replace(gpu, processes=processes, unlisted_bytes=_unlisted_bytes(gpu, processes))


def _unlisted_bytes(gpu: Gpu, processes: Sequence[GpuProcess]) -> int | None:
    """Of NVIDIA's alone: users of other vendors' devices see only their own processes."""
    held = [entry.mem_bytes for entry in processes]
    if gpu.vendor != "nvidia" or gpu.mem_used_bytes is None or gpu.mig_mode or any(size is None for size in held):
        return None
    return max(0, gpu.mem_used_bytes - sum(size for size in held if size is not None))


def _shares_memory(gpu: Gpu) -> bool:
    """Whether the driver reports no memory of its own, because there is none."""
    return gpu.mem_used_bytes is None and gpu.missing.get("mem_used_bytes") == UNIFIED_MEMORY


def _summed(gpu: Gpu) -> Gpu:
    """What the processes hold is all that is in use on it. What the host has in use is not: that may be anybody's."""
    held = [entry.mem_bytes for entry in gpu.processes or ()]
    known = [size for size in held if size is not None]
    if len(known) < len(held):
        return _unsummed(gpu, "the memory of a process is not reported")
    missing = {field: reason for field, reason in gpu.missing.items() if field != "mem_used_bytes"}
    return replace(gpu, mem_used_bytes=sum(known), missing=missing)


def _unsummed(gpu: Gpu, why: str) -> Gpu:
    if not _shares_memory(gpu):
        return gpu
    return replace(gpu, missing={**gpu.missing, "mem_used_bytes": f"{UNIFIED_MEMORY}; {why}"})

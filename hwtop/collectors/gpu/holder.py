"""Who holds a GPU's memory: is the process still there, and does the list account for what is in use?"""

from __future__ import annotations

import os
from collections.abc import Sequence

from msgspec.structs import replace

from hwtop.collectors.kernel.source import INITIAL_PID_NAMESPACE
from hwtop.collectors.process.files import read_bytes, read_stat
from hwtop.model.gpu.device import Gpu, GpuProcess

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
            return tuple(gpus)
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
        return gpu
    processes = tuple(replace(entry, state=states.get(entry.pid)) for entry in gpu.processes)
    return replace(gpu, processes=processes, unlisted_bytes=_unlisted_bytes(gpu, processes))


def _unlisted_bytes(gpu: Gpu, processes: Sequence[GpuProcess]) -> int | None:
    """Of NVIDIA's alone: users of other vendors' devices see only their own processes."""
    held = [entry.mem_bytes for entry in processes]
    if gpu.vendor != "nvidia" or gpu.mem_used_bytes is None or gpu.mig_mode or any(size is None for size in held):
        return None
    return max(0, gpu.mem_used_bytes - sum(size for size in held if size is not None))

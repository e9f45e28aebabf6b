"""Memory and swap of the machine from psutil; what it lacks, dirty pages and paging, from /proc/vmstat."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from typing import Any

import psutil

from hwtop.collectors.host.system import System
from hwtop.collectors.procfs import read_text, reason_of
from hwtop.model.host.memory import MemoryReading
from hwtop.model.plan import SamplingPlan

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")

_LINUX_ONLY = {"buffers_bytes": "buffers", "cached_bytes": "cached", "shmem_bytes": "shared"}
"""MemoryReading -> psutil."""
_PAGING = {  # MemoryReading -> names in /proc/vmstat, the newest first
    "pages_swapped_in": ("pswpin",),
    "pages_swapped_out": ("pswpout",),
    "major_faults": ("pgmajfault",),
    "oom_kills": ("oom_kill",),
    "file_refaults": ("workingset_refault_file", "workingset_refault"),  # one name for all pages before Linux 5.9
}
_VMSTAT = {"dirty_bytes": ("nr_dirty",), **_PAGING}
_LINE = re.compile(rf"^({'|'.join(name for names in _VMSTAT.values() for name in names)}) (\d+)$", re.MULTILINE)


class MemorySource:
    """Reads the machine's memory; the limit of the target's cgroup is in `cgroup`."""

    name = "memory"
    every_s = 0.0

    def __init__(
        self,
        *,
        proc: str = "/proc",
        now: Callable[[], float] = time.monotonic,
        system: System = psutil,
    ) -> None:
        self._proc = proc
        self._now = now
        self._system = system

    def probe(self) -> str | None:
        """Why memory cannot be read, or None."""
        try:
            self._memory()
        except (OSError, ValueError) as error:
            return reason_of(error)
        return None

    def read(self) -> MemoryReading:
        """The reading of now.

        Raises:
            OSError: psutil cannot read the memory of the machine.
            ValueError: a number that every Linux reports is absent.
        """
        missing: dict[str, str] = {}
        at_s = self._now()
        vmstat = self._read_vmstat(missing)
        memory, swap = self._memory()
        for field, name in _LINUX_ONLY.items():
            if not hasattr(memory, name):
                missing[field] = "not reported on this operating system"
        return MemoryReading(
            at_s=at_s,
            total_bytes=memory.total,
            available_bytes=memory.available,
            free_bytes=memory.free,
            swap_total_bytes=swap.total,
            swap_free_bytes=swap.free,
            **{field: getattr(memory, name, None) for field, name in _LINUX_ONLY.items()},
            dirty_bytes=vmstat["nr_dirty"] * _PAGE_BYTES if "nr_dirty" in vmstat else None,
            **{
                field: next((vmstat[name] for name in names if name in vmstat), None)
                for field, names in _PAGING.items()
            },
            missing=missing,
        )

    def set_plan(self, plan: SamplingPlan) -> None:
        """Memory is the same for every job."""

    def close(self) -> None:
        """Nothing is kept open."""

    def _memory(self) -> tuple[Any, Any]:
        try:
            return self._system.virtual_memory(), self._system.swap_memory()
        except (LookupError, ValueError) as error:
            raise ValueError(f"cannot parse {self._proc}/meminfo: {error}") from error

    def _read_vmstat(self, missing: dict[str, str]) -> dict[str, int]:
        """Of the fields of `_VMSTAT` psutil reports swapping only, in bytes, and as 0 where the file cannot be read."""
        path = f"{self._proc}/vmstat"
        try:
            found = {name: int(value) for name, value in _LINE.findall(read_text(path))}
        except OSError as error:
            missing.update(dict.fromkeys(_VMSTAT, reason_of(error)))
            return {}
        for field, names in _VMSTAT.items():
            if found.keys().isdisjoint(names):  # oom_kill: since Linux 4.13; pswp*: only with CONFIG_SWAP
                missing[field] = f"{path} has no {names[0]} on this kernel"
        return found

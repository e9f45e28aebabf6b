"""Memory and swap of the machine: /proc/meminfo and the paging counters of /proc/vmstat."""

from __future__ import annotations

import time
from collections.abc import Callable

from hwtop.collectors.procfs import named_numbers, read_text, reason_of
from hwtop.model.aim import Aim
from hwtop.model.memory import MemoryReading

_PAGING = {  # MemoryReading -> names in /proc/vmstat, the newest first
    "pages_swapped_in": ("pswpin",),
    "pages_swapped_out": ("pswpout",),
    "major_faults": ("pgmajfault",),
    "oom_kills": ("oom_kill",),
    "file_refaults": ("workingset_refault_file", "workingset_refault"),  # one name for all pages before Linux 5.9
}


class MemorySource:
    """Reads the machine's memory; the limit of the target's cgroup is in `cgroup`."""

    name = "memory"
    every_s = 0.0

    def __init__(self, *, proc: str = "/proc", sys: str = "/sys", now: Callable[[], float] = time.monotonic) -> None:
        self._proc = proc
        self._sys = sys
        self._now = now

    def probe(self) -> str | None:
        """Why there is no /proc/meminfo to read, or None."""
        try:
            read_text(f"{self._proc}/meminfo")
        except OSError as error:
            return reason_of(error)
        return None

    def read(self) -> MemoryReading:
        """The reading of now.

        Raises:
            OSError: /proc/meminfo cannot be read.
            ValueError: it lacks one of the lines that every kernel since 3.14 writes.
        """
        missing: dict[str, str] = {}
        at_s = self._now()
        paging = self._paging(missing)
        meminfo = _parsed_meminfo(read_text(f"{self._proc}/meminfo"))
        try:
            return MemoryReading(
                at_s=at_s,
                total_bytes=meminfo["MemTotal"],
                available_bytes=meminfo["MemAvailable"],
                free_bytes=meminfo["MemFree"],
                buffers_bytes=meminfo["Buffers"],
                cached_bytes=meminfo["Cached"],
                shmem_bytes=meminfo["Shmem"],
                dirty_bytes=meminfo["Dirty"],
                swap_total_bytes=meminfo["SwapTotal"],
                swap_free_bytes=meminfo["SwapFree"],
                pages_swapped_in=paging.get("pages_swapped_in"),
                pages_swapped_out=paging.get("pages_swapped_out"),
                major_faults=paging.get("major_faults"),
                oom_kills=paging.get("oom_kills"),
                file_refaults=paging.get("file_refaults"),
                missing=missing,
            )
        except KeyError as error:
            raise ValueError(f"{self._proc}/meminfo: no line {error.args[0]!r}") from error

    def aim(self, aim: Aim) -> None:
        """Memory is the same for every job."""

    def close(self) -> None:
        """Nothing is kept open."""

    def _paging(self, missing: dict[str, str]) -> dict[str, int]:
        path = f"{self._proc}/vmstat"
        try:
            numbers = named_numbers(read_text(path))
        except OSError as error:
            missing.update(dict.fromkeys(_PAGING, reason_of(error)))
            return {}
        found = {}
        for field, names in _PAGING.items():
            name = next((name for name in names if name in numbers), None)
            if name is not None:
                found[field] = numbers[name]
            else:  # oom_kill: since Linux 4.13; pswp*: only with CONFIG_SWAP
                missing[field] = f"{path} has no {names[0]} on this kernel"
        return found


def _parsed_meminfo(text: str) -> dict[str, int]:
    """Bytes by name, from lines like "MemTotal:  24684084 kB"; the kernel's kB are 1024 bytes."""
    found: dict[str, int] = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        words = value.split()
        if colon and len(words) == 2 and words[0].isdecimal() and words[1] == "kB":
            found[name] = int(words[0]) * 1024
    return found

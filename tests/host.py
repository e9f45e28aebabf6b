"""Where the recorded trees of /proc and /sys are, psutil on such a tree, and a clock to read them by."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import psutil

HOST = Path(__file__).parent / "data" / "host"


class Clock:
    """A monotonic clock that stands still until it is moved."""

    def __init__(self, at_s: float = 100.0) -> None:
        self.at_s = at_s

    def __call__(self) -> float:
        return self.at_s


class Link(NamedTuple):
    """What psutil.net_if_stats reports of one interface, as far as hwtop uses it."""

    isup: bool
    speed: int


TWO_SOCKETS_LINKS = {
    "lo": Link(True, 0),
    "eno1": Link(True, 25000),
    "eno2": Link(False, 0),
    "eno3": Link(True, 0),
    "docker0": Link(False, 0),
    "veth1a2b3c4": Link(True, 10000),
}
"""The kernel answers ioctls for these, which no tree can hold."""


def room(files: int = 200) -> os.statvfs_result:
    """What statvfs answers: 1000 blocks of 4096 bytes, 400 of them free, 350 for users; 150 files are free."""
    return os.statvfs_result((4096, 4096, 1000, 400, 350, files, 150, 150, 0, 255))


class RecordedSystem:
    """psutil reading a recorded /proc. Its root is global to psutil and is therefore set around each call: one thread only."""

    def __init__(self, proc: str, links: dict[str, Link] | None = None) -> None:
        self._proc = proc
        self.links = links or {}

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any, **options: Any) -> Any:
            before, psutil.PROCFS_PATH = psutil.PROCFS_PATH, self._proc
            try:
                return getattr(psutil, name)(*args, **options)
            finally:
                psutil.PROCFS_PATH = before

        return call

    def getloadavg(self) -> tuple[float, float, float]:
        """psutil asks the C library, which reads the real file."""
        one, five, fifteen = Path(self._proc, "loadavg").read_text().split()[:3]
        return float(one), float(five), float(fifteen)

    def net_if_stats(self) -> dict[str, Link]:
        return self.links


class MacSystem:
    """What psutil reports on macOS, where there is no /proc (its named tuples of psutil/_psosx.py)."""

    class Cpu(NamedTuple):
        user: float
        nice: float
        system: float
        idle: float

    class Memory(NamedTuple):
        total: int
        available: int
        percent: float
        used: int
        free: int
        active: int
        inactive: int
        wired: int

    class Disk(NamedTuple):
        read_count: int
        write_count: int
        read_bytes: int
        write_bytes: int
        read_time: int
        write_time: int

    class Partition(NamedTuple):
        device: str
        mountpoint: str
        fstype: str
        opts: str

    class Frequency(NamedTuple):
        current: float
        min: float
        max: float

    def boot_time(self) -> float:
        return 1_700_000_000.0

    def cpu_times(self, percpu: bool) -> list[Cpu]:
        return [self.Cpu(10.0, 0.5, 5.0, 100.0), self.Cpu(20.0, 0.0, 5.0, 90.0)]

    def cpu_freq(self, percpu: bool) -> list[Frequency]:
        return [self.Frequency(3200.0, 600.0, 3228.0)]

    def cpu_stats(self) -> Any:
        return psutil.cpu_stats()._replace(ctx_switches=4000)

    def getloadavg(self) -> tuple[float, float, float]:
        return 1.5, 1.0, 0.5

    def virtual_memory(self) -> Memory:
        return self.Memory(16 << 30, 6 << 30, 62.5, 9 << 30, 1 << 30, 4 << 30, 4 << 30, 2 << 30)

    def swap_memory(self) -> Any:
        return psutil.swap_memory()._replace(total=2 << 30, free=1 << 30)

    def disk_io_counters(self, perdisk: bool, nowrap: bool) -> dict[str, Disk]:
        return {"disk0": self.Disk(100, 50, 4096, 8192, 30, 20)}

    def disk_partitions(self, all: bool) -> list[Partition]:  # noqa: A002
        return [
            self.Partition("/dev/disk3s1s1", "/", "apfs", "ro"),
            self.Partition("devfs", "/dev", "devfs", "rw"),
            self.Partition("/dev/disk3s5", "/System/Volumes/Data", "apfs", "rw"),
        ]

    def net_io_counters(self, pernic: bool, nowrap: bool) -> dict[str, Any]:
        counters = next(iter(psutil.net_io_counters(pernic=True, nowrap=False).values()))
        return {"en0": counters._replace(bytes_recv=1000, bytes_sent=2000), "lo0": counters}

    def net_if_stats(self) -> dict[str, Link]:
        return {"en0": Link(True, 1000), "lo0": Link(True, 0)}


def proc(tree: str, when: str | None = None) -> str:
    """Root of a recorded /proc."""
    return str(HOST / tree / (when or "") / "proc")


def sys(tree: str, when: str | None = None) -> str:
    """Root of a recorded /sys."""
    return str(HOST / tree / (when or "") / "sys")


def write_tree(root: Path, files: dict[str, str]) -> None:
    """A small tree for one test: text by path."""
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

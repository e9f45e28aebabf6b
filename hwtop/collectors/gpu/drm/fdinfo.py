"""Processes that use a GPU, by the file descriptors that they hold on it.

/proc/PID/fdinfo/FD of a DRM file reports memory and engine time of one client (Documentation/gpu/drm-usage-stats.rst). A client
may be held by several descriptors and processes; it counts once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from typing import NamedTuple

from hwtop.collectors.gpu.drm.sysfs import Files

_AT_ONCE = 100
"""Processes whose descriptors are searched in one read, after the first: a big machine has thousands, each costs
about 50 us. Descriptors that are known to be a GPU's are read each time."""
_DIGITS = 20
"""Of the largest number of 64 bits."""
_UNITS = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


class Client(NamedTuple):
    """One open DRM file of one process. Counters only grow; the kernel lets them lag, never jump."""

    pid: int
    driver: str
    pci_bus_id: str
    client_id: int
    busy: dict[str, int]
    """Engine -> ns in which it worked for this client, or cycles where `total_cycles` has the engine."""
    total_cycles: dict[str, int]
    """Engine -> cycles that passed at all (xe)."""
    capacity: dict[str, int]
    """Engine -> how many of it there are; 1 where it is not reported."""
    memory: dict[str, int]
    """Region ("vram", "local0", "system0", "gtt") -> bytes that are there now."""
    pasid: int = 0
    """Number of its address space (amdgpu), which the compute driver reports too; 0 where there is none."""


class Usage(NamedTuple):
    """All clients of some drivers at one time."""

    at_s: float
    clients: tuple[Client, ...] = ()
    unreadable: int = 0
    """Processes that are not readable: those of other users."""


def parse_client(text: str, pid: int) -> Client | None:
    """One fdinfo file; None where it is no DRM file, or one of a driver that reports nothing."""
    values: dict[str, str] = {}
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name.startswith("drm-") or name == "pasid":
            values[name] = value.strip()
    client_id = _number(values.get("drm-client-id", ""))
    if "drm-driver" not in values or client_id is None:
        return None
    return Client(
        pid=pid,
        driver=values["drm-driver"],
        pci_bus_id=values.get("drm-pdev", ""),
        client_id=client_id,
        busy=_family(values, "drm-cycles-") or _without(_family(values, "drm-engine-"), "capacity-"),
        total_cycles=_family(values, "drm-total-cycles-"),
        capacity=_family(values, "drm-engine-capacity-"),
        memory=_without(_family(values, "drm-total-"), "cycles-")
        | _family(values, "drm-memory-")
        | _family(values, "drm-resident-"),
        pasid=_number(values.get("pasid", "")) or 0,
    )


def engine_shares(before: Usage, now: Usage) -> dict[tuple[str, int], dict[str, float]]:
    """(PCI address, client id) -> engine -> percent of the time between two reads in which it worked for this client.

    A counter that went back is one that lags: nothing was done. Clients that were not there before are left out.
    """
    elapsed_ns = (now.at_s - before.at_s) * 1e9
    earlier = {(client.pci_bus_id, client.client_id): client for client in before.clients}
    shares: dict[tuple[str, int], dict[str, float]] = {}
    for client in now.clients:
        key = (client.pci_bus_id, client.client_id)
        if key not in earlier or key in shares:
            continue
        old = earlier[key]
        shares[key] = {
            engine: share
            for engine, busy in client.busy.items()
            if (share := _share(client, old, engine, busy, elapsed_ns)) is not None
        }
    return shares


def _share(client: Client, old: Client, engine: str, busy: int, elapsed_ns: float) -> float | None:
    if engine in client.total_cycles:
        elapsed_ns = client.total_cycles[engine] - old.total_cycles.get(engine, client.total_cycles[engine])
    if elapsed_ns <= 0:
        return None
    done = max(0, busy - old.busy.get(engine, 0))
    return min(100.0, 100.0 * done / elapsed_ns / max(1, client.capacity.get(engine, 1)))


class ClientFinder:
    """Searches /proc for clients of some drivers. May hang on a faulty device, so it belongs in a thread of its own."""

    def __init__(self, proc: str, drivers: Collection[str], now: Callable[[], float]) -> None:
        self.files = Files()
        self._proc = proc
        self._drivers = frozenset(drivers)
        self._now = now
        self._known: dict[int, tuple[str, ...]] = {}
        """PID -> its descriptors that are DRM files."""
        self._unreadable: set[int] = set()
        self._seen: set[int] = set()
        self._queue: list[int] = []

    def read(self) -> Usage:
        """All clients that are known; a new one is found after at most (processes / 100) reads."""
        pids = {int(name) for name in os.listdir(self._proc) if name.isdecimal()}
        self._find(pids)
        clients: dict[tuple[str, int], Client] = {}
        for pid, descriptors in self._known.items():
            for descriptor in descriptors:
                client = self._client(pid, descriptor)
                if client is not None:
                    clients.setdefault((client.pci_bus_id, client.client_id), client)
        return Usage(self._now(), tuple(clients.values()), len(self._unreadable))

    def _find(self, pids: set[int]) -> None:
        is_first = not self._seen
        new = sorted(pids - self._seen)
        self._seen = pids
        self._unreadable &= pids
        self._known = {pid: held for pid, held in self._known.items() if pid in pids}
        self._queue = new + [pid for pid in self._queue if pid in pids]
        if not self._queue:
            self._queue = sorted(pids)
        at_once = len(self._queue) if is_first else _AT_ONCE
        for pid in self._queue[:at_once]:
            self._look_into(pid)
        self._queue = self._queue[at_once:]

    def _look_into(self, pid: int) -> None:
        folder = f"{self._proc}/{pid}/fd"
        try:
            names = os.listdir(folder)
        except PermissionError:
            self._unreadable.add(pid)
            return
        except OSError:
            return
        held = tuple(sorted(name for name in names if _is_drm(f"{folder}/{name}")))
        if held:
            self._known[pid] = held
        else:
            self._known.pop(pid, None)

    def _client(self, pid: int, descriptor: str) -> Client | None:
        try:
            client = parse_client(self.files.text(f"{self._proc}/{pid}/fdinfo/{descriptor}"), pid)
        except OSError:
            return None
        return client if client is not None and client.driver in self._drivers else None


def _is_drm(link: str) -> bool:
    try:
        return os.readlink(link).startswith("/dev/dri/")
    except OSError:
        return False


def _family(values: dict[str, str], prefix: str) -> dict[str, int]:
    found = {}
    for name, value in values.items():
        number = _number(value) if name.startswith(prefix) else None
        if number is not None:
            found[name[len(prefix) :]] = number
    return found


def _without(values: dict[str, int], prefix: str) -> dict[str, int]:
    return {name: value for name, value in values.items() if not name.startswith(prefix)}


def _number(text: str) -> int | None:
    number, _, unit = text.partition(" ")
    unit = unit.strip()
    if not number.isdecimal() or len(number) > _DIGITS:
        return None
    return int(number) * _UNITS.get(unit, 1)

"""Processes on the GPUs of one vendor, from two readings of their DRM files."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Generic, NamedTuple, TypeVar

from hwtop.collectors.abandon import Abandonable
from hwtop.collectors.gpu.drm.fdinfo import Client, Usage, engine_shares

_PATIENCE_S = 1.0


class Users(NamedTuple):
    """One reading of which process uses which GPU."""

    usage: Usage
    compute: dict[tuple[int, str], int] | None = None
    """(PID, PCI address) -> bytes, of a driver that knows its compute processes by other means than DRM files."""


class Load(NamedTuple):
    """What one process does on one GPU."""

    pid: int
    mem_bytes: int
    is_compute: bool
    engine_pcts: dict[str, float] | None
    """Engine -> percent of the last interval; None until it was seen twice, and for work that DRM files know nothing of."""


T = TypeVar("T")


class Latest(Generic[T]):
    """Newest result of something that may hang, or the reason that there is none."""

    def __init__(self, name: str, read: Callable[[], T], doing: Callable[[], str], now: Callable[[], float]) -> None:
        self._slot = Abandonable(name, read, now)
        self._doing = doing
        self.value: T | None = None
        self.reason: str | None = "not read yet"

    def poll(self, wait_s: float) -> bool:
        """Take a new result if one is there within `wait_s`; begin the next at the next call. False where none came."""
        if self._slot.out_for_s() > _PATIENCE_S:
            wait_s = 0.0
        try:
            self.value, self.reason = self._slot.poll(wait_s), None
        except TimeoutError as error:
            self.reason = f"{error} (reading {self._doing()})"
            return False
        except OSError as error:
            self.value, self.reason = None, str(error)
            return False
        return True


def loads_on(
    pci_bus_id: str, before: Users | None, now: Users, regions: Collection[str], compute_engines: Collection[str]
) -> list[Load]:
    """All processes on one GPU, by PID. `regions` are the names of its own memory in DRM files."""
    clients = [client for client in now.usage.clients if client.pci_bus_id == pci_bus_id]
    shares = {} if before is None else engine_shares(before.usage, now.usage)
    held = {pid: mem for (pid, address), mem in (now.compute or {}).items() if address == pci_bus_id}
    return [
        _load(pid, [client for client in clients if client.pid == pid], held.get(pid), shares, regions, compute_engines)
        for pid in sorted({client.pid for client in clients} | set(held))
    ]


def _load(
    pid: int,
    clients: list[Client],
    held_bytes: int | None,
    shares: dict[tuple[str, int], dict[str, float]],
    regions: Collection[str],
    compute_engines: Collection[str],
) -> Load:
    """The compute driver's memory may be in the DRM files too, so the larger of both counts, not the sum."""
    drm_bytes = sum(size for client in clients for region, size in client.memory.items() if region in regions)
    reported = [shares[key] for client in clients if (key := (client.pci_bus_id, client.client_id)) in shares]
    pcts: dict[str, float] = {}
    for share in reported:
        for engine, pct in share.items():
            pcts[engine] = min(100.0, pcts.get(engine, 0.0) + pct)
    has_computed = any(client.busy.get(engine) for client in clients for engine in compute_engines)
    return Load(
        pid=pid,
        mem_bytes=max(drm_bytes, held_bytes or 0),
        is_compute=held_bytes is not None or has_computed,
        engine_pcts=pcts if reported and held_bytes is None else None,
    )

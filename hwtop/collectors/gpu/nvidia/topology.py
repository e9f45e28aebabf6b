"""The ways between the NVIDIA GPUs of a machine, as `nvidia-smi topo -m` shows them.

Where two GPUs meet on PCIe never changes: it is asked once, in a thread that may hang. NVLinks are laid over it at each
reading, for they go down and come up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import combinations
from typing import Any

from hwtop.collectors.abandon import Abandonable
from hwtop.collectors.gpu.nvidia import library as codes
from hwtop.collectors.gpu.nvidia.cost import CallLedger, timed
from hwtop.model.gpu.device import Gpu
from hwtop.model.gpu.link import Path, Topology

_FUNCTION = "nvmlDeviceGetTopologyCommonAncestor"
_FIRST_WAIT_S = 0.05
"""For the first answer only, so that a single reading has it: 28 calls for eight GPUs, none of which touches the devices."""
_RETRY_S = 30.0
_ANCESTORS: dict[int, Path] = {0: "PIX", 10: "PIX", 20: "PXB", 30: "PHB", 40: "NODE", 50: "SYS"}
"""nvmlGpuTopologyLevel_t. 0 are GPUs of one board, behind the switch on it."""

Pair = tuple[int, int]
"""Lower and higher `Gpu.index`."""


class TopologyReader:
    """Keeps what is known of the topology so far."""

    def __init__(self, lib: Any, now: Callable[[], float]) -> None:
        self.ledger = CallLedger()
        self.reason: str | None = None
        """Why there is no topology."""
        self._lib = lib
        self._now = now
        self._ways: dict[Pair, Path] = {}
        self._slot: Abandonable[dict[Pair, Path]] | None = None
        self._wait_s = _FIRST_WAIT_S
        self._retry_at_s = now()

    def topology(self, gpus: tuple[Gpu, ...]) -> Topology | None:
        """Of these GPUs. One that came later is asked for; one that is lost is reached by no known way."""
        self._ask_for({pair for pair in combinations(_present(gpus), 2) if pair not in self._ways})
        self.reason = self._gap(gpus)
        return topology(gpus, self._ways) if self.reason is None else None

    def _ask_for(self, pairs: set[Pair]) -> None:
        if self._slot is None:
            if not pairs or self._now() < self._retry_at_s:
                return
            self._slot = Abandonable("topology", lambda: self._asked(pairs), self._now)
        try:
            self._ways |= self._slot.poll(self._wait_s)
        except TimeoutError:
            return
        finally:
            self._wait_s = 0.0
        self._slot = None
        self._retry_at_s = self._now() + _RETRY_S

    def _gap(self, gpus: tuple[Gpu, ...]) -> str | None:
        if len(gpus) < 2:
            return "only one GPU"
        if self._ways:
            return None
        out_s = 0.0 if self._slot is None else self._slot.out_for_s()
        return f"driver not answering for {out_s:.0f} s (NVML call {_FUNCTION})" if out_s > 1 else "not read yet"

    def _asked(self, pairs: Iterable[Pair]) -> dict[Pair, Path]:
        """The paths that the driver reports; those that it refuses now are left out, and asked for again later."""
        handles: dict[int, Any] = {}
        found = {pair: self._way(pair, handles) for pair in sorted(pairs)}
        return {pair: way for pair, way in found.items() if way is not None}

    def _way(self, pair: Pair, handles: dict[int, Any]) -> Path | None:
        try:
            for index in pair:
                if index not in handles:
                    handles[index] = timed(self.ledger, self._lib, "nvmlDeviceGetHandleByIndex", index)
            level = timed(self.ledger, self._lib, _FUNCTION, *(handles[index] for index in pair))
        except Exception as error:  # pynvml raises two unrelated classes, see codes.code_of
            return "UNKNOWN" if codes.code_of(error) in (codes.NOT_SUPPORTED, codes.FUNCTION_NOT_FOUND) else None
        return _ANCESTORS.get(level, "UNKNOWN")


def topology(gpus: tuple[Gpu, ...], ways: Mapping[Pair, Path]) -> Topology:
    """Ways over PCIe with the NVLinks that are up laid over them."""
    peers = {gpu.index: _peers(gpu) for gpu in gpus}
    links = tuple(tuple(_links(one, other, peers) for other in gpus) for one in gpus)
    paths = tuple(
        tuple(_path(one, other, count, ways) for other, count in zip(gpus, row, strict=True))
        for one, row in zip(gpus, links, strict=True)
    )
    return Topology(indexes=tuple(gpu.index for gpu in gpus), paths=paths, links=links)


def _present(gpus: tuple[Gpu, ...]) -> list[int]:
    return [gpu.index for gpu in gpus if gpu.status == "ok"]


def _peers(gpu: Gpu) -> Counter[str]:
    """How many links lead where. A GPU that is lost has none."""
    links = (gpu.nvlinks or ()) if gpu.status != "lost" else ()
    return Counter(link.peer for link in links if link.is_up and link.peer is not None)


def _links(one: Gpu, other: Gpu, peers: Mapping[int, Counter[str]]) -> int:
    """Through switches any GPU reaches any other with all the links that it has to them."""
    if one.index == other.index:
        return 0
    ours, theirs = peers[one.index], peers[other.index]
    direct = max(ours[other.pci_bus_id or ""], theirs[one.pci_bus_id or ""])
    return direct + min(ours["switch"], theirs["switch"])


def _path(one: Gpu, other: Gpu, links: int, ways: Mapping[Pair, Path]) -> Path:
    if one.index == other.index:
        return "SELF"
    if "lost" in (one.status, other.status):
        return "UNKNOWN"
    if links:
        return "NVLINK"
    return ways.get((min(one.index, other.index), max(one.index, other.index)), "UNKNOWN")

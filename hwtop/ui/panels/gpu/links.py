"""How a GPU is joined: PCIe, the CPUs near to it, and each of its links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from hwtop.fields import units
from hwtop.job.rank_set import rank_set
from hwtop.model.gpu.device import Gpu
from hwtop.model.gpu.link import NvLink
from hwtop.ui.panels.gpu.block import Block, block, fact
from hwtop.ui.panels.gpu.view import GpuRow
from hwtop.ui.widgets.line import Line


def host(row: GpuRow, width: int) -> Block:
    """The way to the host."""
    return block("Host link", _host(row), width)


def _host(row: GpuRow) -> Iterator[Line]:
    gpu = row.gpu
    if gpu.pcie_gen is not None or gpu.pcie_width is not None:
        yield _pcie(gpu)
    yield _flow(row.pcie_bytes_per_s)
    replays = row.gpu.counters.pcie_replays if row.gpu.counters else None
    if replays is not None:
        rate = row.rates.pcie_replays_per_s if row.rates else None
        yield fact("replays", units.count(replays)).add(f", {rate:.1f} a second" if rate else "", "dim")
    if gpu.pci_bus_id:
        yield fact("address", gpu.pci_bus_id)
    if gpu.numa_node is not None:
        yield fact("NUMA node", str(gpu.numa_node))
    if gpu.cpus:
        yield fact("CPU affinity", gpu.cpus.replace(",", ", "))


def _pcie(gpu: Gpu) -> Line:
    """A lower generation is normal while it idles; fewer lanes are not."""
    line = fact("PCIe", f"gen {gpu.pcie_gen if gpu.pcie_gen is not None else units.UNKNOWN}")
    is_narrow = gpu.pcie_width is not None and gpu.pcie_width_max is not None and gpu.pcie_width < gpu.pcie_width_max
    line.add(f" {'▲' if is_narrow else ''}×{gpu.pcie_width or units.UNKNOWN}", "warn" if is_narrow else "text")
    if gpu.pcie_gen_max is not None or gpu.pcie_width_max is not None:
        most = f"gen {gpu.pcie_gen_max or units.UNKNOWN} ×{gpu.pcie_width_max or units.UNKNOWN}"
        line.add(f", at most {most}", "dim")
    return line


def _flow(rates: tuple[float | None, float | None]) -> Line:
    if rates == (None, None):
        return Line()
    line = fact("traffic", f"↑ {units.rate(rates[0])}").add(" out", "dim")
    return line.add(f"  ↓ {units.rate(rates[1])}").add(" in", "dim")


def links(row: GpuRow, width: int) -> Block:
    """NVLink, or what the vendor calls it: all in a line, then those that are down or have errors."""
    name = {"amd": "xGMI", "tpu": "ICI"}.get(row.gpu.vendor, "NVLink")
    return block(name, _links(row), width)


def _links(row: GpuRow) -> Iterator[Line]:
    every = row.gpu.nvlinks
    if every is None:
        return
    if not every:
        yield fact("links", "none", "dim")
        return
    states = [link.is_up for link in every if link.is_up is not None]
    up = sum(states)
    # None up: the slot for the bridge is empty, as in most workstations.
    role = "text" if up == len(states) or not up else "bad"
    if states:
        yield fact("links up", f"{'✖ ' if role == 'bad' else ''}{up} of {len(states)}", role).extend(_kind(every))
    else:
        yield fact("links", f"{len(every)}, state not reported").extend(_kind(every))
    yield _flow(row.nvlink_bytes_per_s)
    peers = Counter(link.peer for link in every if link.peer)
    if peers:
        yield fact("lead to", ", ".join(f"{peer} ×{count}" for peer, count in peers.most_common()))
    if row.gpu.fabric:
        is_ready = row.gpu.fabric == "completed"
        yield fact("fabric", ("" if is_ready else "▲ ") + row.gpu.fabric, "text" if is_ready else "warn")
    yield from _errors(every, is_used=bool(up))


def _kind(every: Sequence[NvLink]) -> Line:
    versions = {link.version for link in every if link.version is not None}
    speeds = {link.speed_bytes_per_s for link in every if link.speed_bytes_per_s}
    line = Line()
    if len(versions) == 1:
        line.add(f", generation {versions.pop()}", "dim")
    return line.add(f", {speeds.pop() / 1e9:.1f} GB/s each way", "dim") if len(speeds) == 1 else line


def _errors(every: Sequence[NvLink], *, is_used: bool) -> Iterator[Line]:
    counted = [link for link in every if _count(link) is not None]
    odd = [link for link in every if (is_used and link.is_up is False) or _count(link)]
    for link in odd:
        is_down = link.is_up is False
        words = [f"{count:,} {word}" for word, count in _counts(link) if count]
        text = ", ".join(["down", *words] if is_down else words)
        role = "bad" if is_down else "warn" if link.recovery_errors else "text"
        mark = {"bad": "✖ ", "warn": "▲ "}.get(role, "")
        yield fact(f"link {link.link}", mark + text, role)
    if counted and len(odd) < len(counted):
        clean = rank_set(link.link for link in counted if link not in odd)
        yield fact("no errors on", f"links {clean}", "dim")


def _counts(link: NvLink) -> tuple[tuple[str, int | None], ...]:
    return (
        ("replays", link.replay_errors),
        ("recoveries", link.recovery_errors),
        ("CRC errors", link.crc_errors),
        ("ECC errors", link.ecc_errors),
        ("bad packets", link.packet_errors),
    )


def _count(link: NvLink) -> int | None:
    known = [count for _, count in _counts(link) if count is not None]
    return sum(known) if known else None

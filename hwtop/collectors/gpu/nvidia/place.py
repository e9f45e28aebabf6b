"""Where in the host an NVIDIA GPU is: the NUMA node and the CPUs near to it.

nvmlDeviceGetNumaNodeId is not asked: it "only applies to platforms where the GPUs are NUMA nodes" (nvml.h), and then reports the node
of the GPU's own memory. nvidia-smi topo -m takes its "NUMA Affinity" from nvmlDeviceGetMemoryAffinity, as is done here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hwtop.collectors.gpu.nvidia.ask import Ask, Question, Refused
from hwtop.collectors.gpu.nvidia.identity import pci_bus_id

_WORD_BITS = 64
_CPU_WORDS, _NODE_WORDS = 128, 16
"""Room for 8192 CPUs and 1024 nodes, the most that Linux is built for (CONFIG_NR_CPUS, MAX_NUMNODES)."""
_SCOPE_NODE = 0  # nvmlAffinityScope_t


def place(sys: str) -> Question:
    """Fills `numa_node` and `cpus`, from sysfs where NVML does not know."""

    def read(ask: Ask, handle: Any) -> Mapping[str, Any]:
        node, cpus = _node(ask, handle), _cpus(ask, handle)
        if isinstance(node, Refused) or isinstance(cpus, Refused):
            device = f"{sys}/bus/pci/devices/{pci_bus_id(ask('nvmlDeviceGetPciInfo', handle))}"
            node = _sysfs_node(device, node) if isinstance(node, Refused) else node
            cpus = _text(f"{device}/local_cpulist") or cpus if isinstance(cpus, Refused) else cpus
        return {"numa_node": node, "cpus": cpus}

    return Question(("numa_node", "cpus"), read)


def _node(ask: Ask, handle: Any) -> int | Refused:
    try:
        nodes = _set_bits(ask("nvmlDeviceGetMemoryAffinity", handle, _NODE_WORDS, _SCOPE_NODE))
    except Refused as refused:
        return refused
    if len(nodes) == 1:
        return nodes[0]
    return Refused("nvmlDeviceGetMemoryAffinity", 0, "", reason="the driver names no single NUMA node")


def _cpus(ask: Ask, handle: Any) -> str | Refused:
    try:
        cpus = _set_bits(ask("nvmlDeviceGetCpuAffinity", handle, _CPU_WORDS))
    except Refused as refused:
        return refused
    return cpu_list(cpus) or Refused("nvmlDeviceGetCpuAffinity", 0, "", reason="the driver names no CPUs")


def _sysfs_node(device: str, refused: Refused) -> int | Refused:
    text = _text(f"{device}/numa_node")
    return int(text) if text and text.isdigit() else refused  # -1: the kernel knows of none


def _text(path: str) -> str | None:
    try:
        with open(path) as file:
            return file.read().strip() or None
    except OSError:
        return None


def _set_bits(words: Iterable[int]) -> list[int]:
    return [
        place * _WORD_BITS + bit
        for place, word in enumerate(words)
        if word
        for bit in range(_WORD_BITS)
        if word >> bit & 1
    ]


def cpu_list(cpus: Iterable[int]) -> str:
    """Numbers as the kernel writes lists: "0-47,96-143"."""
    runs: list[list[int]] = []
    for cpu in sorted(cpus):
        if runs and cpu == runs[-1][1] + 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)

"""Why a number of a GPU is not there, in words: each reason once, with all that it holds for. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from hwtop.job.rank_set import rank_set
from hwtop.model.gpu.device import Gpu

_UNITS = ("_bytes_per_s", "_bytes", "_per_s", "_pct", "_mhz", "_w", "_c", "_mj", "_ns")
_NAMES = {
    "util": "utilization",
    "mem_util": "memory utilization",
    "sm": "SM use of processes",
    "sm_active": "SM activity",
    "sm_occupancy": "SM occupancy",
    "tensor_active": "tensor activity",
    "dram_bw": "DRAM bandwidth",
    "activity": "SM and tensor activity",
    "temp": "temperature",
    "mem_temp": "memory temperature",
    "temp_slowdown": "slowdown temperature",
    "temp_shutdown": "shutdown temperature",
    "pstate": "performance state",
    "throttle": "throttle reasons",
    "ecc": "ECC errors",
    "remapped": "remapped rows",
    "retired": "retired pages",
    "nvlinks": "links",
    "mig": "MIG instances",
    "cpus": "CPU affinity",
    "numa_node": "NUMA node",
    "pci_bus_id": "address",
    "uuid": "UUID",
    "xids": "Xid errors",
}
_SPELLED = {
    "pcie": "PCIe",
    "nvlink": "NVLink",
    "mig": "MIG",
    "sm": "SM",
    "mem": "memory",
    "bar1": "BAR1",
    "tx": "out",
    "rx": "in",
}


class Reason(Struct, frozen=True):
    """One reason and what it keeps from being known."""

    fields: tuple[str, ...]
    reason: str
    gpus: tuple[int, ...]
    """Devices with the same reason for any of these fields."""


def field_words(field: str) -> str:
    """ "mem_temp_c" -> "memory temperature": the field of the model as a person says it."""
    last = field.rsplit(".", 1)[-1]
    for unit in _UNITS:
        if last.endswith(unit):
            last = last[: -len(unit)]
            break
    return _NAMES.get(last) or " ".join(_SPELLED.get(word, word) for word in last.split("_"))


def reasons(gpu: Gpu, gpus: Sequence[Gpu]) -> list[Reason]:
    """Of one device; each with all devices that share it. That it does not answer comes first, then what concerns most fields."""
    fields: dict[str, dict[str, None]] = {}
    for field, reason in _reported(gpu):
        fields.setdefault(reason, {})[field] = None
    found = []
    for reason, names in fields.items():
        shared = tuple(each.index for each in gpus if each is gpu or any(why == reason for _, why in _reported(each)))
        found.append(Reason(tuple(names), reason, shared))
    return sorted(found, key=lambda item: ("new numbers" not in item.fields, -len(item.fields)))


def _reported(gpu: Gpu) -> Iterator[tuple[str, str]]:
    if gpu.status != "ok" and gpu.reason:
        yield "new numbers", gpu.reason
    for field, reason in gpu.missing.items():
        yield field_words(field), reason
    for link in gpu.nvlinks or ():
        for field, reason in link.missing.items():
            yield f"{field_words(field)} of links", reason
    for part in gpu.mig:
        for field, reason in part.missing.items():
            yield f"{field_words(field)} of MIG instances", reason


def who(reason: Reason, count: int) -> str:
    """Which devices share it: "all 8 GPUs", "GPUs 0-3", or nothing where it is this one alone."""
    if len(reason.gpus) < 2:
        return ""
    return (
        ("both GPUs" if count == 2 else f"all {count} GPUs")
        if len(reason.gpus) == count
        else f"GPUs {rank_set(reason.gpus)}"
    )

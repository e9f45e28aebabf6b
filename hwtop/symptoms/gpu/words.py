"""GPUs in a finding: which they are, whose they are, what their newest samples were."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from hwtop.job.rank_set import rank_set
from hwtop.model.gpu.device import Gpu
from hwtop.model.rank import Rank
from hwtop.model.reported.log import Severity
from hwtop.seconds import clock
from hwtop.symptoms.history import History
from hwtop.symptoms.severity import SEVERITIES
from hwtop.symptoms.text import SHOWN, Fact


class Fault(Struct, frozen=True):
    """What is wrong with one GPU or its links."""

    gpu: int
    severity: Severity
    words: str
    """After "GPU 3: "."""
    step: str | None = None


def named_gpus(indexes: Iterable[int]) -> str:
    """ "GPU 3" or "GPUs 0-3"."""
    numbers = set(indexes)
    return f"GPU{'' if len(numbers) == 1 else 's'} {rank_set(numbers)}"


def ranks_on(history: History, indexes: Iterable[int]) -> tuple[int, ...]:
    """The live ranks that use one of these GPUs."""
    wanted = set(indexes)
    return tuple(rank.rank for rank in history.live_ranks if not wanted.isdisjoint(rank.gpus))


def has_gpu(history: History, ranks: Iterable[Rank]) -> bool:
    """One of these ranks uses a GPU, or may use one of the machine."""
    return any(rank.gpus for rank in ranks) or bool(history.now.gpus)


def own_severity(history: History, indexes: Iterable[int], severity: Severity) -> Severity:
    """One step less where ranks have GPUs and none of these is among them: it is somebody else's trouble, or tomorrow's."""
    has_gpus = any(rank.gpus for rank in history.live_ranks)
    if not has_gpus or ranks_on(history, indexes):
        return severity
    return "info" if severity == "info" else SEVERITIES[SEVERITIES.index(severity) + 1]


def since_words(history: History, index: int, is_held: Callable[[Gpu], bool]) -> str:
    """Since when every reading shows it; "before" the first that is known, where that one does."""
    from_s = history.now.time_s
    for derived in reversed(history.derived_states):
        gpu = next((each for each in derived.gpus if each.index == index and each.throttle is not None), None)
        if gpu is not None and not is_held(gpu):
            return f", since {clock(from_s)}"
        from_s = from_s if gpu is None else derived.time_s
    return f", since {clock(from_s)} or before"


def fault_lines(faults: Sequence[Fault]) -> tuple[str, ...]:
    """A line of evidence each, the gravest first."""
    ordered = sorted(faults, key=lambda fault: SEVERITIES.index(fault.severity))
    more = len(faults) - SHOWN
    lines = tuple(f"GPU {fault.gpu}: {fault.words}" for fault in ordered[:SHOWN])
    return (*lines, f"and {more} more") if more > 0 else lines


def not_ours(history: History, indexes: Iterable[int]) -> tuple[str, ...]:
    """A line of evidence where no rank uses these GPUs though ranks have GPUs."""
    numbers = set(indexes)
    if not any(rank.gpus for rank in history.live_ranks) or ranks_on(history, numbers):
        return ()
    return (f"no rank of this job uses {named_gpus(numbers)}",)


def samples(history: History, seconds: float) -> dict[int, list[Gpu]]:
    """The readings of each GPU over the newest `seconds`, oldest first; only those of GPUs that answered."""
    found: dict[int, list[Gpu]] = {}
    for derived in history.over(seconds):
        for gpu in derived.gpus:
            if gpu.status == "ok":
                found.setdefault(gpu.index, []).append(gpu)
    return found


def peers_of(gpu: Gpu, history: History) -> list[Gpu]:
    """The other GPUs of its kind that answer now."""
    return [
        each
        for each in history.now.gpus
        if each.index != gpu.index and each.name == gpu.name and each.vendor == gpu.vendor and each.status == "ok"
    ]


def gpu_facts(gpu: Gpu) -> dict[str, Fact]:
    """For the steps: {gpu} is known for NVIDIA's only, whose tools take it; {own_tool} is the command of another vendor."""
    is_nvidia = gpu.vendor == "nvidia"
    own_tool = None if is_nvidia else _TOOLS[gpu.vendor].replace("BUS", gpu.pci_bus_id or "BUS")
    return {"gpu": gpu.index if is_nvidia else None, "bus": gpu.pci_bus_id, "own_tool": own_tool}


def fit_to_vendors(lines: Iterable[str], gpus: Sequence[Gpu]) -> tuple[str, ...]:
    """Lines without those that name NVIDIA's tools, on a machine whose GPUs are all of others."""
    is_without = bool(gpus) and all(gpu.vendor != "nvidia" for gpu in gpus)
    return tuple(line for line in lines if not (is_without and _NVIDIAS.search(line)))


_NVIDIAS = re.compile(r"nvidia|\b(?:dcgmi|nsys|nvbandwidth|bandwidthTest|compute-sanitizer|nccl-tests)\b|\bnv\*")
_TOOLS = {
    "amd": "amd-smi metric -g BUS   # all that it reports",
    "intel": "xpu-smi stats -d BUS   # all that it reports",
    "tpu": "tpu-info   # all that it reports",
}


def clock_words(gpu: Gpu) -> str:
    """How fast it runs, as the end of a sentence; empty where that is not known."""
    if gpu.sm_clock_mhz is None or gpu.sm_clock_max_mhz is None:
        return ""
    return f", SM clock {gpu.sm_clock_mhz:.0f} of {gpu.sm_clock_max_mhz:.0f} MHz"

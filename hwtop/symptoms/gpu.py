"""gpu-lost, gpu-driver-hang, driver-mismatch: the driver itself says, or no longer says, what is wrong."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hwtop.job.patterns.registry import builtin_file
from hwtop.model.frame import Moment
from hwtop.model.gpu import Gpu, Vendor
from hwtop.symptoms.gpu_words import named_gpus, ranks_on, with_log
from hwtop.symptoms.history import History
from hwtop.symptoms.log import check_pattern
from hwtop.symptoms.playbooks import playbooks
from hwtop.symptoms.rule import Observation, Rule

HANG_S = 5.0
"""One NVML call takes milliseconds; k8s-device-plugin gives its event wait 5 s. Engineering default."""
_SOURCE = "gpu"
_SILENT = re.compile(r"not answering")
_MISMATCH = re.compile(r"version mismatch", re.IGNORECASE)
"""Words of hwtop's own sources (`collectors/lane.py`, `collectors/nvml.py`)."""
_DRIVERS: dict[Vendor, str] = {
    "nvidia": "NVIDIA driver",
    "amd": "AMD driver",
    "intel": "Intel driver",
    "tpu": "TPU runtime",
}


def check_lost(history: History) -> Observation | None:
    """A GPU of this box is gone, or the log says so."""
    lost = [gpu for gpu in history.now.gpus if gpu.status == "lost"]
    if not lost:
        return check_pattern("gpu-lost", history)
    indexes = [gpu.index for gpu in lost]
    verb = "has" if len(lost) == 1 else "have"
    is_nvidia = lost[0].vendor == "nvidia"
    return Observation(
        severity="critical",
        confidence=0.97,
        title=f"{named_gpus(indexes)} {verb} {'fallen off the bus' if is_nvidia else 'gone'}",
        evidence=tuple(line for gpu in lost for line in (_line(gpu), *_xids(gpu, history))),
        next_steps=(
            "sudo dmesg -T | grep -iE 'xid|fallen off the bus'   # Xid 79 and what came before it"
            if is_nvidia
            else "sudo dmesg -T | grep -iE 'amdgpu|xe |i915|pcie|aer' | tail -n 50   # what came before it",
            "The rank on it will not recover: stop the job, reboot the node, restart from the last checkpoint",
            "If it happens again on the same GPU: reseat it, check power, report it to the vendor",
        ),
        ranks=ranks_on(history, indexes),
    )


def check_driver_hang(history: History) -> Observation | None:
    """The driver has not answered for some GPU, or at all, for a while; or the kernel's log says that it hangs."""
    hung = [gpu for gpu in history.now.gpus if gpu.status == "stale" and gpu.age_s >= HANG_S]
    seen = _hung(history, hung) if hung else None
    if seen is None and (reason := _silence(history)) is not None:
        seen = _silent(history, reason)
    return with_log("gpu-driver-hang", history, seen)


def check_mismatch(history: History) -> Observation | None:
    """NVML refuses because driver and library differ, or a program does."""
    reason = _told(history.now, _MISMATCH)
    if reason is None:
        return check_pattern("driver-mismatch", history)
    seen = Observation(
        severity="warning",
        confidence=0.95,
        title="NVIDIA driver and library versions differ: programs that start now get no GPU",
        evidence=(reason, "what had a GPU open before goes on; hwtop cannot read the GPUs"),
        next_steps=playbooks()["driver-mismatch"].steps,
    )
    return with_log("driver-mismatch", history, seen)


def _hung(history: History, hung: Sequence[Gpu]) -> Observation:
    indexes = [gpu.index for gpu in hung]
    return Observation(
        severity="critical" if len(hung) == len(history.now.gpus) else "warning",
        confidence=0.9,
        title=f"The {_DRIVERS[hung[0].vendor]} does not answer for {named_gpus(indexes)}",
        evidence=(
            *dict.fromkeys(gpu.reason or "no answer" for gpu in hung),
            f"the numbers of {named_gpus(indexes)} are up to {max(gpu.age_s for gpu in hung):.0f} s old",
        ),
        next_steps=_hang_steps(hung[0].vendor),
        ranks=ranks_on(history, indexes),
    )


def _silent(history: History, reason: str) -> Observation:
    """Not one GPU was ever read, or all of them went silent together."""
    vendors = {gpu.vendor for gpu in history.now.gpus} or {
        vendor for vendor, name in _DRIVERS.items() if name in reason
    }
    vendor = vendors.pop() if len(vendors) == 1 else None
    return Observation(
        severity="critical",
        confidence=0.9,
        title=f"The {_DRIVERS[vendor] if vendor else 'GPU driver'} does not answer",
        evidence=(reason,),
        next_steps=_hang_steps(vendor or "nvidia"),
        ranks=tuple(rank.rank for rank in history.live_ranks if rank.gpus),
    )


def _hang_steps(vendor: str) -> tuple[str, ...]:
    if vendor != "nvidia":
        return ("sudo dmesg -T | tail -n 50   # a ring timeout, a reset that failed", "Drain the node and reboot it")
    return (
        "sudo dmesg -T | grep -iE 'xid|nvrm' | tail   # Xid 119 or 120: the GPU's own processor hangs",
        "timeout 10 nvidia-smi; echo $?   # 124: it hangs for everybody",
        "Drain the node, then nvidia-smi --gpu-reset or reboot",
    )


def _silence(history: History) -> str | None:
    """Why no GPU can be read, where the driver has been silent for `HANG_S`."""
    window = history.over(HANG_S)
    if not history.covers(HANG_S) or any(_told(moment, _SILENT) is None for moment in window):
        return None
    return _told(history.now, _SILENT)


def _told(moment: Moment, words: re.Pattern[str]) -> str | None:
    reasons = (source.reason for source in moment.sources if source.name == _SOURCE and source.reason is not None)
    return next((reason for reason in reasons if words.search(reason)), None)


def _line(gpu: Gpu) -> str:
    return f"GPU {gpu.index} ({gpu.pci_bus_id or 'bus id unknown'}): {gpu.reason}"


def _xids(gpu: Gpu, history: History) -> tuple[str, ...]:
    table = builtin_file("xid.toml").xids
    return tuple(
        f"GPU {gpu.index}: Xid {event.code}{f' ({table[event.code].meaning})' if event.code in table else ''}, "
        f"{max(0.0, history.now.at_s - event.at_s):.0f} s ago"
        for event in gpu.xids[-2:]
    )


RULES = (
    Rule(
        symptom="gpu-lost",
        category="stability",
        threshold="NVML says GPU_IS_LOST, or a log line does",
        raise_s=0.0,
        clear_s=5.0,
        check=check_lost,
    ),
    Rule(
        symptom="gpu-driver-hang",
        category="stability",
        threshold=f"no answer of the driver for {HANG_S:.0f} s, or a log line says so (Xid 119, 120)",
        raise_s=0.0,
        clear_s=5.0,
        check=check_driver_hang,
    ),
    Rule(
        symptom="driver-mismatch",
        category="stability",
        threshold="NVML says LIB_RM_VERSION_MISMATCH, or a log line tells of versions that differ",
        raise_s=0.0,
        clear_s=30.0,
        check=check_mismatch,
    ),
)

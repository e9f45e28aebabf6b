"""gpu-lost, gpu-driver-hang, driver-mismatch: the driver itself says, or no longer says, what is wrong."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hwtop.job.patterns.registry import builtin_file
from hwtop.model.frame import Moment
from hwtop.model.gpu import Gpu, Vendor
from hwtop.symptoms.gpu_words import named_gpus, not_ours, ranks_on, with_log
from hwtop.symptoms.history import History
from hwtop.symptoms.log import check_pattern
from hwtop.symptoms.playbooks import playbooks
from hwtop.symptoms.rule import Hold, Limits, Observation, Rule

_SOURCE = "gpu"
_SILENT = re.compile(r"not answering")
_SLOW = re.compile(r"driver slow")
_MISMATCH = re.compile(r"version mismatch", re.IGNORECASE)
_RESET = re.compile(r"needs a reset")
"""Words of hwtop's own sources (`collectors/lane.py`, `collectors/nvml.py`, `collectors/nvml_device.py`)."""
_DRIVERS: dict[Vendor, str] = {
    "nvidia": "NVIDIA driver",
    "amd": "AMD driver",
    "intel": "Intel driver",
    "tpu": "TPU runtime",
}


class LostLimits(Limits, frozen=True, kw_only=True):
    """Of gpu-lost."""

    refuses_s: Hold = 15.0
    """A GPU that answered and then refuses every number for so long is ill: the library is made ready again every 10 s.
    Engineering default."""


LOST = LostLimits()


class SilenceLimits(Limits, frozen=True, kw_only=True):
    """Of gpu-driver-hang."""

    silent_s: Hold = 5.0
    """One NVML call takes milliseconds; k8s-device-plugin gives its event wait 5 s. Engineering default."""


SILENCE = SilenceLimits()


def check_lost(history: History, limits: LostLimits = LOST) -> Observation | None:
    """A GPU of this box is gone, waits for a reset or no longer tells anything, or the log says that one is gone."""
    gpus = history.now.gpus
    lost = [gpu for gpu in gpus if gpu.status == "lost"]
    to_reset = [gpu for gpu in gpus if gpu.status == "error" and _RESET.search(gpu.reason or "")]
    failing = [gpu for gpu in gpus if gpu not in to_reset and _is_failing(gpu, history, limits)]
    told = lost or to_reset or failing
    if not told:
        return check_pattern("gpu-lost", history)
    indexes = [gpu.index for gpu in told]
    is_one, is_nvidia = len(told) == 1, told[0].vendor == "nvidia"
    if lost:
        what = f"{'has' if is_one else 'have'} {'fallen off the bus' if is_nvidia else 'gone'}"
    elif to_reset:
        what = f"{'needs' if is_one else 'need'} a reset: nothing can run there"
    else:
        what = f"{'refuses' if is_one else 'refuse'} every number"
    # A rank without a GPU may be the one that has lost it: then nobody knows.
    elsewhere = not_ours(history, indexes) if all(rank.gpus for rank in history.live_ranks) else ()
    return Observation(
        severity="critical" if (lost or to_reset) and not elsewhere else "warning",
        confidence=0.97 if lost or to_reset else 0.8,
        title=f"{named_gpus(indexes)} {what}",
        evidence=(
            *(line for gpu in (*lost, *to_reset, *failing) for line in (_line(gpu), *_xids(gpu, history))),
            *elsewhere,
        ),
        next_steps=_lost_steps(is_nvidia, is_gone=bool(lost)),
        ranks=ranks_on(history, indexes),
    )


def _lost_steps(is_nvidia: bool, is_gone: bool) -> tuple[str, ...]:
    return (
        "sudo dmesg -T | grep -iE 'xid|fallen off the bus'   # Xid 79 and what came before it"
        if is_nvidia
        else "sudo dmesg -T | grep -iE 'amdgpu|xe |i915|pcie|aer' | tail -n 50   # what came before it",
        "The rank on it will not recover: stop the job, reboot the node, restart from the last checkpoint"
        if is_gone
        else "Look whether the rank on it still makes steps; if not, stop the job, reset the GPU or reboot, restart from the last checkpoint",
        "If it happens again on the same GPU: reseat it, check power, report it to the vendor",
    )


def _is_failing(gpu: Gpu, history: History, limits: LostLimits) -> bool:
    """It answered, and has now refused everything for a while. What is the whole driver's trouble is told elsewhere."""
    if gpu.status != "error" or _MISMATCH.search(gpu.reason or "") or not history.covers(limits.refuses_s):
        return False
    statuses = [
        (moment.at_s, each.status) for moment in history.moments for each in moment.gpus if each.index == gpu.index
    ]
    since_s = history.now.at_s - limits.refuses_s
    return any(status == "ok" for _, status in statuses) and all(
        status == "error" for at_s, status in statuses if at_s >= since_s
    )


def check_driver_hang(history: History, limits: SilenceLimits = SILENCE) -> Observation | None:
    """The driver has not answered for some GPU, or at all, for a while, or answers slowly; or the kernel's log says that it hangs."""
    late = [gpu for gpu in history.now.gpus if gpu.status == "stale" and gpu.age_s >= limits.silent_s]
    hung = [gpu for gpu in late if not _SLOW.search(gpu.reason or "")]
    seen = _hung(history, hung) if hung else _slow(history, late) if late else None
    if seen is None and (reason := _silence(history, limits)) is not None:
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


def _slow(history: History, slow: Sequence[Gpu]) -> Observation:
    """Its calls return, but the numbers are old when the last one is there."""
    indexes = [gpu.index for gpu in slow]
    return Observation(
        severity="warning",
        confidence=0.7,
        title=f"The {_DRIVERS[slow[0].vendor]} answers slowly for {named_gpus(indexes)}",
        evidence=(
            *dict.fromkeys(gpu.reason or "slow" for gpu in slow),
            f"the numbers of {named_gpus(indexes)} are up to {max(gpu.age_s for gpu in slow):.0f} s old",
        ),
        next_steps=(
            *(("hwtop snapshot --costs   # which calls take so long",) if slow[0].vendor == "nvidia" else ()),
            "Who else asks the driver all the time? Exporters and monitors wait for each other there",
            "sudo dmesg -T | grep -iE 'xid|nvrm|amdgpu|xe |i915' | tail   # a driver on its way to hang",
        ),
        ranks=ranks_on(history, indexes),
    )


def _silent(history: History, reason: str) -> Observation:
    """Not one GPU was ever read, or all of them went silent together."""
    vendors = {vendor for vendor, name in _DRIVERS.items() if name in reason} or {
        gpu.vendor for gpu in history.now.gpus
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


def _silence(history: History, limits: SilenceLimits) -> str | None:
    """Why no GPU can be read, where the driver has been silent for long."""
    window = history.over(limits.silent_s)
    if not history.covers(limits.silent_s) or any(_told(moment, _SILENT) is None for moment in window):
        return None
    return _told(history.now, _SILENT)


def _told(moment: Moment, words: re.Pattern[str]) -> str | None:
    """What the source of all GPUs says, or a row that has no number because of it."""
    reasons = (
        *(source.reason for source in moment.sources if source.name == _SOURCE),
        *(gpu.reason for gpu in moment.gpus if gpu.status == "error"),
    )
    return next((reason for reason in reasons if reason is not None and words.search(reason)), None)


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
        threshold=lambda limits: (
            "NVML says GPU_IS_LOST or GPU_RESET_REQUIRED, or a log line does; "
            f"a warning: a GPU that answered refuses every number for {limits.refuses_s:g} s"
        ),
        raise_s=0.0,
        clear_s=5.0,
        check=check_lost,
        limits=LOST,
    ),
    Rule(
        symptom="gpu-driver-hang",
        category="stability",
        threshold=lambda limits: (
            f"no answer of the driver for {limits.silent_s:g} s (a warning where it only answers slowly), or a log line (Xid 119, 120)"
        ),
        raise_s=0.0,
        clear_s=5.0,
        check=check_driver_hang,
        limits=SILENCE,
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

"""gpu-lost, gpu-driver-hang, driver-mismatch: the driver itself says, or no longer says, what is wrong."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hwtop.job.patterns.registry import builtin_file
from hwtop.model.frame import DerivedState
from hwtop.model.gpu.device import Gpu, Vendor
from hwtop.seconds import span
from hwtop.symptoms.gpu.words import named_gpus, not_ours, ranks_on
from hwtop.symptoms.history import History
from hwtop.symptoms.log import check_pattern
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed
from hwtop.symptoms.text import Fact

_SOURCE = "gpu"
_SILENT = re.compile(r"not answering")
_SLOW = re.compile(r"driver slow")
MISMATCH = re.compile(r"version mismatch", re.IGNORECASE)
_RESET = re.compile(r"needs a reset")
"""Words of hwtop's own sources (`collectors/runner.py`, `collectors/nvml.py`, `collectors/nvml_device.py`)."""
_DRIVERS: dict[Vendor, str] = {
    "nvidia": "NVIDIA driver",
    "amd": "AMD driver",
    "intel": "Intel driver",
    "tpu": "TPU runtime",
}


LOST = limits_of("gpu-lost")


SILENCE = limits_of("gpu-driver-hang")


def check_lost(history: History, limits: Limits = LOST) -> Observation | None:
    """A GPU of this box is gone, waits for a reset or no longer tells anything, or the log says that one is gone."""
    gpus = history.now.gpus
    lost = [gpu for gpu in gpus if gpu.status == "lost"]
    to_reset = [gpu for gpu in gpus if gpu.status == "error" and _RESET.search(gpu.reason or "")]
    failing = [gpu for gpu in gpus if gpu not in to_reset and _is_failing(gpu, history, limits)]
    reported = lost or to_reset or failing
    if not reported:
        return check_pattern("gpu-lost", history)
    indexes = [gpu.index for gpu in reported]
    is_nvidia = reported[0].vendor == "nvidia"
    # A rank without a GPU may be the one that has lost it: then nobody knows.
    elsewhere = not_ours(history, indexes) if all(rank.gpus for rank in history.live_ranks) else ()
    return observed(
        "gpu-lost",
        severity="critical" if (lost or to_reset) and not elsewhere else "warning",
        facts={
            "gpus": named_gpus(indexes),
            "is_lost": bool(lost),
            "is_to_reset": bool(to_reset),
            "is_here": not lost,
            "is_nvidia": is_nvidia,
        },
        confidence=0.97 if lost or to_reset else 0.8,
        evidence=(
            *(line for gpu in (*lost, *to_reset, *failing) for line in (_line(gpu), *_xids(gpu, history))),
            *elsewhere,
        ),
        ranks=ranks_on(history, indexes),
    )


def _is_failing(gpu: Gpu, history: History, limits: Limits) -> bool:
    """It answered, and has now refused everything for a while. What is the whole driver's trouble is told elsewhere."""
    if gpu.status != "error" or MISMATCH.search(gpu.reason or "") or not history.covers(limits.refuses_s):
        return False
    statuses = [
        (derived.at_s, each.status)
        for derived in history.derived_states
        for each in derived.gpus
        if each.index == gpu.index
    ]
    since_s = history.now.at_s - limits.refuses_s
    return any(status == "ok" for _, status in statuses) and all(
        status == "error" for at_s, status in statuses if at_s >= since_s
    )


def check_driver_hang(history: History, limits: Limits = SILENCE) -> Observation | None:
    """The driver has not answered for some GPU, or at all, for a while, or answers slowly; or the kernel's log says that it hangs."""
    late = [gpu for gpu in history.now.gpus if gpu.status == "stale" and gpu.age_s >= limits.silent_s]
    hung = [gpu for gpu in late if not _SLOW.search(gpu.reason or "")]
    seen = _hung(history, hung) if hung else _slow(history, late) if late else None
    if seen is None and (reason := _silence(history, limits)) is not None:
        seen = _silent(history, reason)
    return seen


def check_mismatch(history: History) -> Observation | None:
    """NVML refuses because driver and library differ, or a program does."""
    reason = _reported(history.now, MISMATCH)
    if reason is None:
        return None
    return observed(
        "driver-mismatch",
        confidence=0.95,
        evidence=(reason, "what had a GPU open before goes on; hwtop cannot read the GPUs"),
    )


def _hung(history: History, hung: Sequence[Gpu]) -> Observation:
    indexes = [gpu.index for gpu in hung]
    return observed(
        "gpu-driver-hang",
        severity="critical" if len(hung) == len(history.now.gpus) else "warning",
        facts={"driver": _DRIVERS[hung[0].vendor], "hung": named_gpus(indexes), **_vendor_facts(hung[0].vendor)},
        confidence=0.9,
        evidence=(
            *dict.fromkeys(gpu.reason or "no answer" for gpu in hung),
            f"the numbers of {named_gpus(indexes)} are up to {span(max(gpu.age_s for gpu in hung))} old",
        ),
        ranks=ranks_on(history, indexes),
    )


def _slow(history: History, slow: Sequence[Gpu]) -> Observation:
    """Its calls return, but the numbers are old when the last one is there."""
    indexes = [gpu.index for gpu in slow]
    return observed(
        "gpu-driver-hang",
        confidence=0.7,
        facts={
            "driver": _DRIVERS[slow[0].vendor],
            "slow": named_gpus(indexes),
            **_vendor_facts(slow[0].vendor, is_hung=False),
        },
        evidence=(
            *dict.fromkeys(gpu.reason or "slow" for gpu in slow),
            f"the numbers of {named_gpus(indexes)} are up to {span(max(gpu.age_s for gpu in slow))} old",
        ),
        ranks=ranks_on(history, indexes),
    )


def _silent(history: History, reason: str) -> Observation:
    """Not one GPU was ever read, or all of them went silent together."""
    vendors = {vendor for vendor, name in _DRIVERS.items() if name in reason} or {
        gpu.vendor for gpu in history.now.gpus
    }
    vendor = vendors.pop() if len(vendors) == 1 else None
    return observed(
        "gpu-driver-hang",
        severity="critical",
        facts={"driver": _DRIVERS[vendor] if vendor else "GPU driver", **_vendor_facts(vendor or "nvidia")},
        confidence=0.9,
        evidence=(reason,),
        ranks=tuple(rank.rank for rank in history.live_ranks if rank.gpus),
    )


def _vendor_facts(vendor: str, *, is_hung: bool = True) -> dict[str, Fact]:
    return {"is_hung": is_hung, "is_nvidia": vendor == "nvidia"}


def _silence(history: History, limits: Limits) -> str | None:
    """Why no GPU can be read, where the driver has been silent for long."""
    has_answered = any(gpu.status != "error" for gpu in history.now.gpus)
    least_s = limits.silent_s if has_answered else limits.init_s
    window = history.over(least_s)
    if not history.covers(least_s) or any(_reported(derived, _SILENT) is None for derived in window):
        return None
    return _reported(history.now, _SILENT)


def _reported(derived: DerivedState, words: re.Pattern[str]) -> str | None:
    """What the source of all GPUs says, or a row that has no number because of it."""
    reasons = (
        *(source.reason for source in derived.sources if source.name == _SOURCE),
        *(gpu.reason for gpu in derived.gpus if gpu.status == "error"),
    )
    return next((reason for reason in reasons if reason is not None and words.search(reason)), None)


def _line(gpu: Gpu) -> str:
    return f"GPU {gpu.index} ({gpu.pci_bus_id or 'bus id unknown'}): {gpu.reason}"


def _xids(gpu: Gpu, history: History) -> tuple[str, ...]:
    table = builtin_file("xid.toml").xids
    return tuple(
        f"GPU {gpu.index}: Xid {event.code}{f' ({table[event.code].meaning})' if event.code in table else ''}, "
        f"{span(max(0.0, history.now.at_s - event.at_s))} ago"
        for event in gpu.xids[-2:]
    )

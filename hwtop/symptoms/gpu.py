"""gpu-lost, gpu-driver-hang: the driver itself says, or no longer says, what is wrong."""

from __future__ import annotations

from hwtop.job.rank_set import rank_set
from hwtop.model.gpu import Gpu
from hwtop.symptoms.history import History
from hwtop.symptoms.log import check_pattern
from hwtop.symptoms.rule import Observation, Rule

HANG_S = 5.0
"""One NVML call takes milliseconds; k8s-device-plugin gives its event wait 5 s. Engineering default."""


def check_lost(history: History) -> Observation | None:
    """A GPU of this box is gone, or the log says so."""
    lost = [gpu for gpu in history.now.gpus if gpu.status == "lost"]
    if not lost:
        return check_pattern("gpu-lost", history)
    return Observation(
        severity="critical",
        confidence=0.97,
        title=f"{_named(lost)} {'has' if len(lost) == 1 else 'have'} fallen off the bus",
        evidence=tuple(f"GPU {gpu.index} ({gpu.pci_bus_id or 'bus id unknown'}): {gpu.reason}" for gpu in lost),
        next_steps=(
            "sudo dmesg -T | grep -iE 'xid|fallen off the bus'   # Xid 79 and what came before it",
            "The rank on it will not recover: stop the job, reboot the node, restart from the last checkpoint",
            "If it happens again on the same GPU: reseat it, check power, report it to the vendor",
        ),
        ranks=_ranks_on(history, lost),
    )


def check_driver_hang(history: History) -> Observation | None:
    """The driver has not answered for some GPU for a while."""
    hung = [gpu for gpu in history.now.gpus if gpu.status == "stale" and gpu.age_s >= HANG_S]
    if not hung:
        return None
    return Observation(
        severity="critical" if len(hung) == len(history.now.gpus) else "warning",
        confidence=0.9,
        title=f"The NVIDIA driver does not answer for {_named(hung)}",
        evidence=(
            *dict.fromkeys(gpu.reason or "no answer" for gpu in hung),
            f"the numbers of {_named(hung)} are up to {max(gpu.age_s for gpu in hung):.0f} s old",
        ),
        next_steps=(
            "sudo dmesg -T | grep -iE 'xid|nvrm' | tail   # Xid 119 or 120: the GPU's own processor hangs",
            "timeout 10 nvidia-smi; echo $?   # 124: it hangs for everybody",
            "Drain the node, then nvidia-smi --gpu-reset or reboot",
        ),
        ranks=_ranks_on(history, hung),
    )


def _named(gpus: list[Gpu]) -> str:
    return ("GPU " if len(gpus) == 1 else "GPUs ") + rank_set(gpu.index for gpu in gpus)


def _ranks_on(history: History, gpus: list[Gpu]) -> tuple[int, ...]:
    indexes = {gpu.index for gpu in gpus}
    return tuple(rank.rank for rank in history.live_ranks if not indexes.isdisjoint(rank.gpus))


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
        threshold=f"no answer of NVML for {HANG_S:.0f} s",
        raise_s=0.0,
        clear_s=5.0,
        check=check_driver_hang,
    ),
)

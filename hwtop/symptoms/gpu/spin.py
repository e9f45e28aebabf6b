"""gpu-busy-low-power: a GPU that says 100 % and does nothing. A collective's kernel spins while it waits for a peer.

Not calibrated: the signature is taken from what is known of such kernels (they poll a few addresses from a few SMs), and its
thresholds are engineering defaults that no hardware has confirmed yet. So the confidence stays below that of what stacks or
the Flight Recorder tell, and a step that was told while it "spins" ends the suspicion.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, median

from msgspec import Struct

from hwtop.job.hang.liveness import LEVEL, phi_of_silence
from hwtop.job.hang.stall import newest_step_s
from hwtop.job.rank_set import do, named
from hwtop.model.evidence import LEVEL_VALUES, NEARLY_ALL
from hwtop.model.frame import DerivedState
from hwtop.model.gpu.device import Gpu, ThrottleReason
from hwtop.model.rank import Rank
from hwtop.seconds import span
from hwtop.symptoms.gpu.load import AWAY, at_work, gpus_at
from hwtop.symptoms.gpu.words import named_gpus
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed
from hwtop.symptoms.text import SHOWN, percent

MEM_UTIL_PCT = 5.0
TENSOR_PCT = 1.0
"""A kernel that computes reads memory or uses tensor cores for more than that. Engineering defaults."""
QUIET_BYTES_PER_S = 100e6
"""Over NVLink, PCIe or (of a job on several machines) the network: less does not come from training. Engineering
default."""
CLOCK_SHARE = 0.7
"""Of the highest SM clock: a GPU that was slowed down takes less power for that reason. Engineering default."""
TRAINING_S = 30.0
"""Shortest training that makes a median of the power. Engineering default."""
MOST_CONFIDENCE = 0.85
"""Power and traffic let a spin be inferred, and do not prove it. Engineering default."""
_SLOWED: frozenset[ThrottleReason] = frozenset(
    {"hw_slowdown", "sw_thermal", "hw_thermal", "hw_power_brake", "hw_current"}
)


SPIN = limits_of("gpu-busy-low-power")


class Spin(Struct, frozen=True, kw_only=True):
    """One GPU that seems to spin."""

    gpu: Gpu
    power_w: float
    share: float
    """Of its own median in training, else of the limit."""
    is_own: bool
    is_measured: bool
    """The hardware's own counters (GPM) show that its tensor cores and its memory rest."""


def check_spin(history: History, limits: Limits = SPIN) -> Observation | None:
    """GPUs of the job that are full, cool and silent, while no step is told."""
    ranks = [rank for rank in history.live_ranks if rank.gpus]
    if (
        not ranks
        or not history.covers(limits.window_s)
        or any(_moves(rank, limits) or rank.state in AWAY for rank in ranks)
    ):
        return None
    if _host_traffic(history) > QUIET_BYTES_PER_S:
        return None
    spins = [
        spin for rank in ranks for gpu in gpus_at(history.now, rank) if (spin := spin_of(history, rank, gpu, limits))
    ]
    spins = list({spin.gpu.index: spin for spin in spins}.values())
    if not spins:
        return None
    others = {gpu.index for rank in ranks for gpu in gpus_at(history.now, rank)} - {spin.gpu.index for spin in spins}
    changes = [rank for rank in ranks if others.issuperset(rank.gpus)] if 0 < len(others) <= len(spins) else []
    return _observation(history, ranks, spins, changes, limits.window_s)


def spin_of(history: History, rank: Rank, gpu: Gpu, limits: Limits = SPIN) -> Spin | None:
    """This GPU, if every moment of the window shows a kernel that is resident and does nothing."""
    if not looks_idle_inside(gpu, limits):
        return None  # the newest look decides most of them
    window = [seen for derived in history.over(limits.window_s) for seen in derived.gpus if seen.index == gpu.index]
    alike = sum(looks_idle_inside(seen, limits) for seen in window)
    if len(window) < 3 or alike < NEARLY_ALL * len(window) or _linked(history, gpu.index, limits):
        return None
    powers = [seen.power_w for seen in window if seen.power_w is not None]
    usual_w = usual_power_w(history, rank, gpu.index, limits.window_s)
    own, of_limit = limits.own_power_share, limits.limit_power_share
    reference_w, most = (usual_w, own) if usual_w is not None else (gpu.power_limit_w, of_limit)
    if not powers or not reference_w or fmean(powers) >= most * reference_w:
        return None
    is_measured = gpu.activity is not None and gpu.activity.tensor_active_pct is not None
    power_w = fmean(powers)
    return Spin(
        gpu=gpu, power_w=power_w, share=power_w / reference_w, is_own=usual_w is not None, is_measured=is_measured
    )


def usual_power_w(history: History, rank: Rank, index: int, window_s: float) -> float | None:
    """Median power of this GPU while its rank trained and it did not look like this; None where too little was seen."""
    before_s = history.now.at_s - window_s
    powers = [
        gpu.power_w
        for derived in at_work(history, rank, history.watched_s)
        if derived.at_s < before_s
        for gpu in derived.gpus
        if gpu.index == index and gpu.power_w is not None and _works(gpu)
    ]
    is_enough = len(powers) >= max(LEVEL_VALUES, TRAINING_S / history.now.interval_s)
    return median(powers) if is_enough else None


def _works(gpu: Gpu) -> bool:
    return (gpu.util_pct or 0.0) >= 50.0 and (gpu.mem_util_pct or 0.0) >= MEM_UTIL_PCT


def looks_idle_inside(gpu: Gpu, limits: Limits = SPIN) -> bool:
    """Full, at full clocks, and neither memory, tensor cores nor PCIe are used. What is not told does not speak against it,
    but memory must be told."""
    if gpu.status != "ok" or (gpu.util_pct or 0.0) < limits.gpu_pct or not _SLOWED.isdisjoint(gpu.throttle or ()):
        return False
    if gpu.sm_clock_mhz is not None and gpu.sm_clock_max_mhz and gpu.sm_clock_mhz < CLOCK_SHARE * gpu.sm_clock_max_mhz:
        return False
    activity = gpu.activity
    memory = [gpu.mem_util_pct, activity.dram_bw_pct if activity else None]
    known = [value for value in memory if value is not None]
    tensor = activity.tensor_active_pct if activity else None
    if not known or max(known) >= MEM_UTIL_PCT or (tensor or 0.0) >= TENSOR_PCT:
        return False
    return max(gpu.pcie_tx_bytes_per_s or 0.0, gpu.pcie_rx_bytes_per_s or 0.0) <= QUIET_BYTES_PER_S


def _linked(history: History, index: int, limits: Limits) -> bool:
    """Bytes go over its NVLinks."""
    rates = [
        rate
        for derived in history.over(limits.window_s)
        for each in derived.gpu_rates
        if each.index == index
        for rate in (each.nvlink_tx_bytes_per_s, each.nvlink_rx_bytes_per_s)
        if rate is not None
    ]
    return bool(rates) and fmean(rates) > QUIET_BYTES_PER_S


def _host_traffic(history: History) -> float:
    """Through the busiest physical network port, where other machines take part in the job."""
    job, network = history.job, history.now.network
    is_here = job is None or (job.world_size or 0) <= len(job.ranks)
    nics = network.nics if network is not None and not is_here else ()
    rates = [rate for nic in nics if not nic.is_virtual for rate in (nic.rx_bytes_per_s, nic.tx_bytes_per_s)]
    return max((rate for rate in rates if rate is not None), default=0.0)


def _moves(rank: Rank, limits: Limits) -> bool:
    """It told a step of late: whatever its GPU does, it gets on."""
    age_s = rank.progress.step_age_s
    return age_s is not None and (age_s < limits.window_s or phi_of_silence(age_s, rank.log.interval_s) < LEVEL)


def _observation(
    history: History, ranks: Sequence[Rank], spins: Sequence[Spin], changes: Sequence[Rank], window_s: float
) -> Observation:
    spinning = {spin.gpu.index for spin in spins}
    numbers = tuple(rank.rank for rank in changes)
    share = median(spin.share for spin in spins)
    first = changes[0] if changes else ranks[0]
    is_silent = newest_step_s(ranks) is not None  # steps were told, and are no longer
    return observed(
        "gpu-busy-low-power",
        severity="warning" if changes or is_silent or any(_waits(rank) for rank in ranks) else "info",
        facts={
            "gpus": named_gpus(spinning),
            "util_pct": spins[0].gpu.util_pct or 0.0,
            "share": share,
            "of": "usual power" if spins[0].is_own else "power limit",
            "others": named(numbers) if changes else None,
            "pid": first.pid,
            "numbers": ",".join(map(str, sorted(spinning))),
        },
        confidence=_confidence(ranks, spins, changes),
        evidence=_evidence(history, ranks, spins, changes, window_s),
        ranks=numbers or tuple(rank.rank for rank in ranks if not spinning.isdisjoint(rank.gpus)),
    )


def _confidence(ranks: Sequence[Rank], spins: Sequence[Spin], changes: Sequence[Rank]) -> float:
    known = 0.45
    known += 0.2 if changes else 0.1 if len(spins) > 1 else 0.0
    known += 0.1 if all(spin.is_own for spin in spins) else 0.0
    known += 0.1 if all(spin.is_measured for spin in spins) else 0.0
    known += 0.15 if any(_waits(rank) for rank in ranks) else 0.0
    return min(MOST_CONFIDENCE, known)


def _waits(rank: Rank) -> bool:
    return bool(rank.stack.is_waiting) or rank.state in ("collective-wait", "stuck")


def _evidence(
    history: History, ranks: Sequence[Rank], spins: Sequence[Spin], changes: Sequence[Rank], window_s: float
) -> tuple[str, ...]:
    lines: list[str] = [
        f"GPU {spin.gpu.index}: {spin.power_w:.0f} W over {window_s:g} s, {percent(spin.share)} of "
        + (f"its median in training ({spin.power_w / spin.share:.0f} W)" if spin.is_own else "its limit")
        for spin in spins[:SHOWN]
    ]
    memory = [spin.gpu.mem_util_pct for spin in spins if spin.gpu.mem_util_pct is not None]
    lines += [f"memory in use {max(memory):.0f} % of the time, next to nothing over PCIe"] if memory else []
    lines += [
        "NVLink carries nothing" if any(_knows_nvlink(history.now, spin) for spin in spins) else "NVLink: not reported"
    ]
    lines += ["tensor cores and memory rest by the hardware's own counters"] if spins[0].is_measured else []
    for rank in changes[:SHOWN]:
        used = [f"GPU {gpu.index} {gpu.util_pct or 0.0:.0f} % busy" for gpu in gpus_at(history.now, rank)]
        lines.append(f"rank {rank.rank}: {', '.join(used)}, state {rank.state}")
    waiting = [rank.rank for rank in ranks if _waits(rank)]
    lines += [f"stacks: {named(waiting)} {do(waiting, 'wait')} for others"] if waiting else []
    age_s = newest_step_s(ranks)
    lines += ["no step in any log" if age_s is None else f"last step {span(age_s)} ago"]
    return (*lines, "this signature is not calibrated on hardware")


def _knows_nvlink(derived: DerivedState, spin: Spin) -> bool:
    rates = [each for each in derived.gpu_rates if each.index == spin.gpu.index]
    return any(each.nvlink_tx_bytes_per_s is not None for each in rates)

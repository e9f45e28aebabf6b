"""gpu-idle-network-busy: the GPUs wait, and the network is what works."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from hwtop.job.hang.rank_state import share_of
from hwtop.model.frame import Moment
from hwtop.model.rank import Rank
from hwtop.symptoms.gpu_idle import GPU_IDLE_PCT
from hwtop.symptoms.gpu_load import busy_pct, gpus_at
from hwtop.symptoms.gpu_words import named_gpus
from hwtop.symptoms.history import History
from hwtop.symptoms.loading import DATA_SHARE, MIN_SAMPLES
from hwtop.symptoms.rule import Limits, Observation, Percent, Rule, Share, Window
from hwtop.symptoms.statistics import share_at_least

_BYTES_PER_MBIT = 125_000.0
COLLECTIVE_SHARE = 0.3
"""Of the samples, proven. Engineering default."""


class NetworkLimits(Limits, frozen=True, kw_only=True):
    """Of gpu-idle-network-busy."""

    gpu_pct: Percent = GPU_IDLE_PCT
    link_share: Share = 0.5
    """Of the link's speed, in one direction. Engineering default."""
    window_s: Window = 10.0


NETWORK = NetworkLimits()


def check_network(history: History, limits: NetworkLimits = NETWORK) -> Observation | None:
    """GPUs are idle while the network is half full."""
    port = _busiest_port(history, limits)
    if port is None:
        return None
    name, share, rate = port
    found = [(rank, util) for rank in history.live_ranks if (util := _util(history, rank, limits.window_s)) is not None]
    idle = [rank for rank, util in found if util < limits.gpu_pct]
    if not idle:
        return None
    what, is_fault = _carried(idle)
    numbers = [rank.rank for rank in idle]
    gpus = named_gpus(index for rank in idle for index in rank.gpus)
    return Observation(
        severity="warning" if is_fault else "info",
        confidence=0.7 if is_fault else 0.5,
        title=f"{gpus} idle while {name} is {share:.0%} full: {what}",
        evidence=(
            f"{gpus}: {fmean(util for _, util in found if util < limits.gpu_pct):.0f} % busy over {limits.window_s:g} s",
            f"{name}: {rate / 1e6:.0f} MB/s in its busier direction, {share:.0%} of the link",
            *(
                f"rank {rank.rank}: state {rank.state}, "
                + (
                    ", ".join(f"{entry.share:.0%} {entry.phase}" for entry in rank.phase_shares[:3])
                    or "no stack is known"
                )
                for rank in idle[:4]
            ),
        ),
        next_steps=(
            "ss -tinp state established | head -40   # which peers and which process: file server, object store, other ranks",
            "Data: keep a copy on a local disk, larger shards, compression; more loader workers only help with latency",
            "Between ranks: NCCL_DEBUG=INFO shows the interface it took; gradient accumulation or larger buckets send less",
        ),
        ranks=tuple(numbers),
    )


def _carried(ranks: Sequence[Rank]) -> tuple[str, bool]:
    """What goes over the network by all that is known, and whether training waits for it."""
    samples = min(rank.samples for rank in ranks)
    data = fmean(share_of(rank, "data", "data-main") for rank in ranks)
    together = fmean(share_of(rank, "collective") for rank in ranks)
    if any(rank.state == "checkpoint" for rank in ranks):
        return "a checkpoint is written or read", False
    if any(rank.state == "starting" for rank in ranks):
        return "the job starts: weights, data or the first parameters", False
    if samples >= MIN_SAMPLES and share_at_least(data, samples) >= DATA_SHARE:
        return f"data loading, {data:.0%} of the ranks' time", True
    if samples >= MIN_SAMPLES and share_at_least(together, samples) >= COLLECTIVE_SHARE:
        return f"communication between ranks, {together:.0%} of their time", True
    return "what for is not known", False


def _busiest_port(history: History, limits: NetworkLimits) -> tuple[str, float, float] | None:
    """Name, share of its speed, bytes per second of the physical port that is fullest over the window."""
    now = history.now.network
    found = [
        (nic.name, rate / (nic.link_mbit_per_s * _BYTES_PER_MBIT), rate)
        for nic in (now.nics if now else ())
        if nic.link_mbit_per_s
        and not nic.is_virtual
        and (rate := _port_rate(history, nic.name, limits.window_s)) is not None
    ]
    fullest = max(found, key=lambda port: port[1], default=None)
    return fullest if fullest is not None and fullest[1] > limits.link_share else None


def _port_rate(history: History, name: str, window_s: float) -> float | None:
    def rate(moment: Moment) -> float | None:
        nic = next((nic for nic in moment.network.nics if nic.name == name), None) if moment.network else None
        known = [each for each in ((nic.rx_bytes_per_s, nic.tx_bytes_per_s) if nic else ()) if each is not None]
        return max(known, default=None)

    return history.mean(window_s, rate)


def _util(history: History, rank: Rank, window_s: float) -> float | None:
    """Whatever the rank does: a checkpoint or a start counts as well."""

    def util(moment: Moment) -> float | None:
        known = [busy for gpu in gpus_at(moment, rank) if (busy := busy_pct(gpu)) is not None]
        return fmean(known) if known else None

    return history.mean(window_s, util)


RULES = (
    Rule(
        symptom="gpu-idle-network-busy",
        category="performance",
        threshold=lambda limits: (
            f"GPU under {limits.gpu_pct:g} % and a physical port over {100 * limits.link_share:.3g}% of its speed for {limits.window_s:g} s; a warning where stacks show "
            "data loading or collectives"
        ),
        raise_s=2.0,
        clear_s=15.0,
        check=check_network,
        limits=NETWORK,
    ),
)

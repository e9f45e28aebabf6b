"""gpu-idle-network-busy: the GPUs wait, and the network is what works."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from hwtop.job.hang.rank_state import MIN_SAMPLES, share_of
from hwtop.job.stacks.samples import EXPLAINS
from hwtop.model.frame import DerivedState
from hwtop.model.rank import Rank
from hwtop.symptoms.gpu.load import busy_pct, gpus_at
from hwtop.symptoms.gpu.words import named_gpus
from hwtop.symptoms.history import History
from hwtop.symptoms.input.loading import DATA, loading_share
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed
from hwtop.symptoms.statistics import share_at_least
from hwtop.symptoms.text import SHOWN, percent

NETWORK = limits_of("gpu-idle-network-busy")


def check_network(history: History, limits: Limits = NETWORK) -> Observation | None:
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
    return observed(
        "gpu-idle-network-busy",
        severity="warning" if is_fault else "info",
        facts={"gpus": gpus, "port": name, "share": share, "what": what},
        confidence=0.7 if is_fault else 0.5,
        evidence=(
            f"{gpus}: {fmean(util for _, util in found if util < limits.gpu_pct):.0f} % busy over {limits.window_s:g} s",
            f"{name}: {rate / 1e6:.0f} MB/s in its busier direction, {percent(share)} of the link",
            *(
                f"rank {rank.rank}: state {rank.state}, "
                + (
                    ", ".join(f"{percent(entry.share)} {entry.phase}" for entry in rank.stack.shares[:3])
                    or "no stack is known"
                )
                for rank in idle[:SHOWN]
            ),
        ),
        ranks=tuple(numbers),
    )


def _carried(ranks: Sequence[Rank]) -> tuple[str, bool]:
    """What goes over the network by all that is known, and whether training waits for it."""
    samples = min(rank.stack.samples for rank in ranks)
    data = fmean(loading_share(rank) for rank in ranks)
    together = fmean(share_of(rank, "collective") for rank in ranks)
    if any(rank.state == "checkpoint" for rank in ranks):
        return "a checkpoint is written or read", False
    if any(rank.state == "starting" for rank in ranks):
        return "the job starts: weights, data or the first parameters", False
    if samples >= MIN_SAMPLES and share_at_least(data, samples) >= DATA.data_share:
        return f"data loading, {percent(data)} of the ranks' time", True
    if samples >= MIN_SAMPLES and share_at_least(together, samples) >= EXPLAINS:
        return f"communication between ranks, {percent(together)} of their time", True
    return "what for is not known", False


def _busiest_port(history: History, limits: Limits) -> tuple[str, float, float] | None:
    """Name, share of its speed, bytes per second of the physical port that is fullest over the window."""
    now = history.now.network
    found = [
        (nic.name, rate / limit, rate)
        for nic in (now.nics if now else ())
        if (limit := nic.link_bytes_per_s) is not None
        and not nic.is_virtual
        and (rate := _port_rate(history, nic.name, limits.window_s)) is not None
    ]
    fullest = max(found, key=lambda port: port[1], default=None)
    return fullest if fullest is not None and fullest[1] > limits.link_share else None


def _port_rate(history: History, name: str, window_s: float) -> float | None:
    def rate(derived: DerivedState) -> float | None:
        nic = next((nic for nic in derived.network.nics if nic.name == name), None) if derived.network else None
        known = [each for each in ((nic.rx_bytes_per_s, nic.tx_bytes_per_s) if nic else ()) if each is not None]
        return max(known, default=None)

    return history.mean(window_s, rate)


def _util(history: History, rank: Rank, window_s: float) -> float | None:
    """Whatever the rank does: a checkpoint or a start counts as well."""

    def util(derived: DerivedState) -> float | None:
        known = [busy for gpu in gpus_at(derived, rank) if (busy := busy_pct(gpu)) is not None]
        return fmean(known) if known else None

    return history.mean(window_s, util)

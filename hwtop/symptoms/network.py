"""network-saturated, network-retransmits, rdma-errors: what carries gradients and data between machines."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from msgspec import Struct

from hwtop.job.rank_set import named
from hwtop.model.network import NicRates
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Count, Limits, Observation, Percent, Rule, Share, Window


class LinkLimits(Limits, frozen=True, kw_only=True):
    """Of network-saturated."""

    link_share: Share = 0.9
    """Of the negotiated speed, in one direction: headers and the gaps between packets take most of the rest."""
    wait_share: Share = 0.3
    """Ranks that spend so much of their samples in collectives or waiting for data wait for the network: a warning.
    Engineering default."""
    window_s: Window = 15.0


LINK = LinkLimits()


class PortLimits(Limits, frozen=True, kw_only=True):
    """Of rdma-errors."""

    looks: Count = 3
    """A port that counts errors in so many looks of a minute has not only flickered once. Engineering default."""
    window_s: Window = 60.0


PORT = PortLimits()


class RetransmitLimits(Limits, frozen=True, kw_only=True):
    """Of network-retransmits: percent of all TCP segments."""

    sent_again_pct: Percent = 0.1
    """Engineering default; a sound datacentre network stays far below it."""
    warning_pct: Percent = 1.0
    """From here on TCP slows down visibly (Mathis et al. 1997: throughput falls with the square root of the loss)."""
    window_s: Window = 30.0


RETRANSMITS = RetransmitLimits()


class _Full(Struct, frozen=True):
    nic: NicRates
    share: float
    direction: str


def check_saturated(history: History, limits: LinkLimits = LINK) -> Observation | None:
    """A real interface carries as much as its link can."""
    full = max(_full(history, limits), key=lambda each: each.share, default=None)
    if full is None:
        return None
    waiting = [rank.rank for rank in history.live_ranks if _wait_share(history, rank.rank) >= limits.wait_share]
    gbit = (full.nic.link_mbit_per_s or 0.0) / 1000
    return Observation(
        severity="warning" if waiting else "info",
        confidence=0.8 if waiting else 0.6,
        title=f"{full.nic.name} is at its limit: {full.share:.0%} of {gbit:g} Gbit/s {full.direction}",
        evidence=(
            f"mean over {limits.window_s:g} s: {full.share * gbit / 8:.2f} GB/s {full.direction}",
            *(
                (
                    f"{named(waiting)}: over {100 * limits.wait_share:.3g}% of the time waiting for data or in collectives",
                )
                if waiting
                else ()
            ),
        ),
        next_steps=(
            "ss -tnp   # which connections carry it: file server, object store, other ranks",
            "Data and gradients over different networks: NCCL_SOCKET_IFNAME, NCCL_IB_HCA",
            "Fewer bytes: gradient accumulation, bf16 gradients, cached data",
        ),
        ranks=tuple(waiting),
    )


def check_retransmits(history: History, limits: RetransmitLimits = RETRANSMITS) -> Observation | None:
    """TCP has to send a lot again."""
    share = history.mean(limits.window_s, lambda moment: moment.network.tcp_retransmit_pct if moment.network else None)
    if share is None or share < limits.sent_again_pct:
        return None
    job = history.job
    here = sum(rank.is_alive for rank in job.ranks) if job else 0
    spans_machines = (
        job is not None and job.world_size is not None and job.world_size > max(here, job.local_world_size or 0)
    )
    if share < limits.warning_pct and not spans_machines:
        return None  # others' connections, or its data's: not worth a word
    drops = [
        f"{nic.name}: {nic.drops_per_s:.1f} packets dropped a second"
        for nic in (history.now.network.nics if history.now.network else ())
        if nic.drops_per_s
    ]
    return Observation(
        severity="warning" if share >= limits.warning_pct and spans_machines else "info",
        confidence=0.75 if spans_machines else 0.5,
        title=f"TCP sends {share:.1f} % of its segments again",
        evidence=(
            f"mean over {limits.window_s:g} s, all connections of the machine",
            *drops,
            *(("the job spans several machines",) if spans_machines else ()),
        ),
        next_steps=(
            "ss -ti | grep -B1 retrans   # which peers",
            "ethtool -S DEVICE | grep -E 'drop|err|discard|pause'   # where packets are lost",
            "Cable, switch port, one MTU on all hops",
        ),
    )


def check_rdma(history: History, limits: PortLimits = PORT) -> Observation | None:
    """An InfiniBand or RoCE port counts errors again and again, or went down."""
    window = history.over(limits.window_s)
    for port in _ports(history):
        seen = [
            nic for moment in window for nic in (moment.network.nics if moment.network else ()) if nic.name == port.name
        ]
        errors = [nic.errors_per_s for nic in seen if nic.errors_per_s]
        has_fallen = not port.is_up and any(nic.is_up for nic in seen)
        if len(errors) < limits.looks and not has_fallen:
            continue
        device, _, number = port.name.partition(":")
        what = "went down" if has_fallen else f"counts {fmean(errors):.1f} errors a second"
        return Observation(
            severity="critical" if has_fallen else "warning",
            confidence=0.9,
            title=f"InfiniBand port {port.name} {what}",
            evidence=(
                f"in {len(errors)} of {len(seen)} looks over {limits.window_s:g} s its error counters grew",
                *(("it was active, and is not any more",) if has_fallen else ()),
            ),
            next_steps=(
                f"ibstat {device} {number}; perfquery -x -C {device} -P {number}   # state and counters",
                "rdma statistic show   # out_of_sequence, local_ack_timeout_err, roce_slow_restart",
                "Clean or swap the cable, check the switch port; take the node out until then",
            ),
        )
    return None


def _full(history: History, limits: LinkLimits) -> Iterator[_Full]:
    if history.now.network is None or not history.covers(limits.window_s):
        return
    for nic in history.now.network.nics:
        if nic.is_virtual or not nic.link_mbit_per_s:
            continue
        limit = nic.link_mbit_per_s * 1e6 / 8
        for direction in ("in", "out"):
            known = [
                rate
                for each in _over(history, nic.name, limits.window_s)
                if (rate := _rate(each, direction)) is not None
            ]
            if len(known) >= 3 and fmean(known) >= limits.link_share * limit:
                yield _Full(nic, fmean(known) / limit, direction)


def _over(history: History, name: str, window_s: float) -> Iterator[NicRates]:
    for moment in history.over(window_s):
        yield from (nic for nic in (moment.network.nics if moment.network else ()) if nic.name == name)


def _rate(nic: NicRates, direction: str) -> float | None:
    return nic.rx_bytes_per_s if direction == "in" else nic.tx_bytes_per_s


def _wait_share(history: History, number: int) -> float:
    for rank in history.live_ranks:
        if rank.rank == number:
            return sum(each.share for each in rank.phase_shares if each.phase in ("data", "data-main", "collective"))
    return 0.0


def is_rdma_port(name: str) -> bool:
    """As `NicRates` names them: "mlx5_0:1"."""
    device, _, port = name.partition(":")
    return bool(device) and port.isdigit()


def _ports(history: History) -> list[NicRates]:
    network = history.now.network
    return [nic for nic in network.nics if is_rdma_port(nic.name) and not nic.is_virtual] if network else []


RULES = (
    Rule(
        symptom="rdma-errors",
        category="performance",
        threshold=lambda limits: (
            f"an InfiniBand port's error counters grow in {limits.looks} looks of {limits.window_s:g} s, or an active port goes down"
        ),
        raise_s=0.0,
        clear_s=60.0,
        check=check_rdma,
        limits=PORT,
    ),
    Rule(
        symptom="network-saturated",
        category="performance",
        threshold=lambda limits: (
            f"over {100 * limits.link_share:.3g}% of the link's speed over {limits.window_s:g} s; a warning when ranks wait {100 * limits.wait_share:.3g}% of the time for data or in collectives meanwhile"
        ),
        raise_s=2.0,
        clear_s=15.0,
        check=check_saturated,
        limits=LINK,
    ),
    Rule(
        symptom="network-retransmits",
        category="performance",
        threshold=lambda limits: (
            f"over {limits.warning_pct:g} % of the TCP segments sent again over {limits.window_s:g} s; where the job spans several "
            f"machines from {limits.sent_again_pct:g} % on, and then a warning over {limits.warning_pct:g} %"
        ),
        raise_s=0.0,
        clear_s=30.0,
        check=check_retransmits,
        limits=RETRANSMITS,
    ),
)

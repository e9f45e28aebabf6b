"""network-saturated, network-retransmits, rdma-errors: what carries gradients and data between machines."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from msgspec import Struct

from hwtop.job.rank_set import named
from hwtop.model.host.network import NicRates
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed

LINK = limits_of("network-saturated")


PORT = limits_of("rdma-errors")


RETRANSMITS = limits_of("network-retransmits")


class _Full(Struct, frozen=True):
    nic: NicRates
    share: float
    direction: str


def check_saturated(history: History, limits: Limits = LINK) -> Observation | None:
    """A real interface carries as much as its link can."""
    full = max(_full(history, limits), key=lambda each: each.share, default=None)
    if full is None:
        return None
    waiting = [rank.rank for rank in history.live_ranks if _wait_share(history, rank.rank) >= limits.wait_share]
    gbit = (full.nic.link_mbit_per_s or 0.0) / 1000
    return observed(
        "network-saturated",
        severity="warning" if waiting else "info",
        facts={"nic": full.nic.name, "share": full.share, "gbit": gbit, "direction": full.direction},
        confidence=0.8 if waiting else 0.6,
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
        ranks=tuple(waiting),
    )


def check_retransmits(history: History, limits: Limits = RETRANSMITS) -> Observation | None:
    """TCP has to send a lot again."""
    share = history.mean(
        limits.window_s, lambda derived: derived.network.tcp_retransmit_pct if derived.network else None
    )
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
    return observed(
        "network-retransmits",
        severity="warning" if share >= limits.warning_pct and spans_machines else "info",
        facts={"share": share},
        confidence=0.75 if spans_machines else 0.5,
        evidence=(
            f"mean over {limits.window_s:g} s, all connections of the machine",
            *drops,
            *(("the job spans several machines",) if spans_machines else ()),
        ),
    )


def check_rdma(history: History, limits: Limits = PORT) -> Observation | None:
    """An InfiniBand or RoCE port counts errors again and again, or went down."""
    window = history.over(limits.window_s)
    for port in _ports(history):
        seen = [
            nic
            for derived in window
            for nic in (derived.network.nics if derived.network else ())
            if nic.name == port.name
        ]
        errors = [nic.errors_per_s for nic in seen if nic.errors_per_s]
        has_fallen = not port.is_up and any(nic.is_up for nic in seen)
        if len(errors) < limits.looks and not has_fallen:
            continue
        device, _, number = port.name.partition(":")
        errors_per_s = None if has_fallen else fmean(errors)
        return observed(
            "rdma-errors",
            severity="critical" if has_fallen else "warning",
            facts={"port": port.name, "device": device, "number": number, "errors_per_s": errors_per_s},
            confidence=0.9,
            evidence=(
                f"its error counters grew in {len(errors)} of {len(seen)} samples over {limits.window_s:g} s",
                *(("it was active, and is not any more",) if has_fallen else ()),
            ),
        )
    return None


def _full(history: History, limits: Limits) -> Iterator[_Full]:
    if history.now.network is None or not history.covers(limits.window_s):
        return
    for nic in history.now.network.nics:
        limit = nic.link_bytes_per_s
        if nic.is_virtual or limit is None:
            continue
        for direction in ("in", "out"):
            known = [
                rate
                for each in _over(history, nic.name, limits.window_s)
                if (rate := _rate(each, direction)) is not None
            ]
            if len(known) >= 3 and fmean(known) >= limits.link_share * limit:
                yield _Full(nic, fmean(known) / limit, direction)


def _over(history: History, name: str, window_s: float) -> Iterator[NicRates]:
    for derived in history.over(window_s):
        yield from (nic for nic in (derived.network.nics if derived.network else ()) if nic.name == name)


def _rate(nic: NicRates, direction: str) -> float | None:
    return nic.rx_bytes_per_s if direction == "in" else nic.tx_bytes_per_s


def _wait_share(history: History, number: int) -> float:
    for rank in history.live_ranks:
        if rank.rank == number:
            return sum(each.share for each in rank.stack.shares if each.phase in ("data", "data-main", "collective"))
    return 0.0


def is_rdma_port(name: str) -> bool:
    """As `NicRates` names them: "mlx5_0:1"."""
    device, _, port = name.partition(":")
    return bool(device) and port.isdigit()


def _ports(history: History) -> list[NicRates]:
    network = history.now.network
    return [nic for nic in network.nics if is_rdma_port(nic.name) and not nic.is_virtual] if network else []

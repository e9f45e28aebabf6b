"""GPUs of one model on several nodes that do the same work: which of them run slower than the rest, and what holds them down. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from hwtop.job.rank_set import named
from hwtop.model.gpu.device import Gpu
from hwtop.symptoms.gpu.peers import FEW, ROBUST_Z
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Observation, observed
from hwtop.symptoms.statistics import spread
from hwtop.symptoms.text import SHOWN

LEAST_GPUS = 4
"""Fewer that are comparable are no majority. Engineering default."""
BUSY_PCT = 50.0
"""Utilization from which on clocks are compared: idle GPUs lower theirs. Engineering default."""
LEAST_SHARE = 0.10
"""Of the usual clock that must be missing to be worth a word. Engineering default."""


def check_gpus(history: History) -> Observation | None:
    """A few GPUs run at a lower clock than all others of their model, under the same load."""
    by_model: dict[str, list[Gpu]] = {}
    for gpu in history.now.gpus:
        if gpu.status == "ok" and gpu.sm_clock_mhz is not None and (gpu.util_pct or 0.0) >= BUSY_PCT:
            by_model.setdefault(gpu.name, []).append(gpu)
    for peers in by_model.values():
        slow = _slow(peers)
        if slow:
            return _observation(history, slow, peers)
    return None


def _slow(peers: Sequence[Gpu]) -> list[Gpu]:
    if len(peers) < LEAST_GPUS or len({gpu.node for gpu in peers}) < 2:
        return []
    clocks = [gpu.sm_clock_mhz or 0.0 for gpu in peers]
    usual = median(clocks)
    least = max(ROBUST_Z * spread(clocks), LEAST_SHARE * usual)
    slow = [gpu for gpu in peers if usual - (gpu.sm_clock_mhz or 0.0) > least]
    return slow if len(slow) <= max(1.0, FEW * len(peers)) else []


def _observation(history: History, slow: Sequence[Gpu], peers: Sequence[Gpu]) -> Observation:
    ranks = [rank for rank in history.live_ranks if set(rank.gpus) & {gpu.index for gpu in slow}]
    numbers = tuple(rank.rank for rank in ranks)
    lines = [_line(gpu, peers) for gpu in slow]
    return observed(
        "multi-gpu-imbalance",
        confidence=0.7,
        facts={
            "outlier": lines[0],
            "more": ", ".join(f"{gpu.local_index} of node {gpu.node}" for gpu in slow[1:SHOWN]) or None,
            "ranks": named(numbers) if numbers else None,
            "numbers": ",".join(str(gpu.local_index) for gpu in slow if gpu.node == slow[0].node),
        },
        evidence=tuple(
            line for gpu, line in zip(slow[:SHOWN], lines, strict=False) for line in (line, *_reasons(gpu, peers))
        ),
        ranks=numbers,
    )


def _line(gpu: Gpu, peers: Sequence[Gpu]) -> str:
    usual = median(peer.sm_clock_mhz or 0.0 for peer in peers)
    return (
        f"GPU {gpu.local_index} of node {gpu.node}: SM clock {gpu.sm_clock_mhz or 0.0:.0f} MHz; "
        f"the median of {len(peers)} GPUs: {usual:.0f} MHz"
    )


def _reasons(gpu: Gpu, peers: Sequence[Gpu]) -> tuple[str, ...]:
    """What differs with it."""
    lines = []
    if gpu.throttle:
        lines.append(f"its clocks are held down by: {', '.join(gpu.throttle)}")
    for name, unit, own, others in (
        ("power limit", "W", gpu.power_limit_w, [peer.power_limit_w for peer in peers]),
        ("temperature", "°C", gpu.temp_c, [peer.temp_c for peer in peers]),
        ("power", "W", gpu.power_w, [peer.power_w for peer in peers]),
    ):
        known = [other for other in others if other is not None]
        if own is not None and known and abs(own - median(known)) > LEAST_SHARE * median(known):
            lines.append(f"its {name} is {own:.0f} {unit}, the median {median(known):.0f} {unit}")
    return tuple(lines)

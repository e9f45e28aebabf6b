"""host-memory-leak: the job's own memory only ever grows."""

from __future__ import annotations

from itertools import pairwise
from math import inf

from msgspec import Struct

from hwtop.job.hang.rank_state import STARTING
from hwtop.job.rank_set import do, named
from hwtop.job.size import MIB, size
from hwtop.model.evidence import MINOR
from hwtop.model.rank import Rank
from hwtop.seconds import span
from hwtop.symptoms.history import History
from hwtop.symptoms.host.resources import MEMORIES, SLICE_SHARE, SLICES, Rise, known, rise_of
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed
from hwtop.symptoms.text import roughly

MIN_WINDOW_S = 12.0
"""Shortest window of a rise: start-up and caches rise as well. Engineering default."""
LEAK_S = 600.0
"""The longest window of a rise; one nearly so long is more certain. Engineering default."""
GAP_S = 5.0
"""Without a reading for so long, another rise begins. Engineering default."""
_NOTED_SHARE = 0.4
"""Of the growth that may be a warning: as much is noted. Engineering default."""
_ODD_SHARE = 0.15
"""And so much is a warning of a rank whose peers do not grow. Engineering default."""
_READ_LOOKS = 40
"""Of the moments of a slice: every fourth or fifth of the longest. Bounds only how much is read."""

_FEWEST = 2
"""With more ranks than that one of them is the odd one out. Engineering default."""

LEAK = limits_of("host-memory-leak")


class Growth(Struct, frozen=True):
    """A straight rise of one rank's memory, in bytes."""

    rank: Rank
    rise: Rise


def check_leak(history: History, limits: Limits = LEAK) -> Observation | None:
    """Anonymous memory of a rank with its workers rises in a straight line after start-up."""
    rises = [growth for rank in history.live_ranks if (growth := growth_of(history, rank, limits)) is not None]
    if not rises:
        return None
    total = sum(growth.rise.per_s for growth in rises)
    room = min((outlook.room for _, outlook in known(history, MEMORIES)), default=inf)
    left_s = room / total
    worst = max(rises, key=lambda growth: growth.rise.per_s)
    is_straight = worst.rise.fit >= limits.straight
    is_soon = left_s < 3600 * limits.warning_h and is_straight and worst.rise.gained >= MIB * limits.gained_mb
    is_long = worst.rise.seconds >= 0.9 * LEAK_S
    peers = _flat_peers(history, worst.rank, worst.rise) if is_straight and len(rises) == 1 else ()
    return observed(
        "host-memory-leak",
        severity="warning" if is_soon or is_long or peers else "info",
        facts={
            "rank": worst.rank.rank,
            "pid": worst.rank.pid,
            "mb_per_min": worst.rise.per_s * 60 / MIB,
            "left": roughly(left_s) if left_s < 48 * 3600 else None,
        },
        confidence=0.9 if is_long else 0.75,
        evidence=(
            *(
                f"rank {growth.rank.rank} (PID {growth.rank.pid}): +{size(growth.rise.gained)} in {span(growth.rise.seconds)}, "
                f"a straight line (R² {growth.rise.fit:.2f}), now {size(growth.rank.process.tree_anon_bytes or 0)} of its own"
                for growth in rises
            ),
            *((f"{named(peers)} {do(peers, 'do')} the same work and {do(peers, 'do')} not grow",) if peers else ()),
            *((f"{size(room)} left until the limit",) if room < inf else ()),
        ),
        ranks=tuple(growth.rank.rank for growth in rises),
    )


def growth_of(history: History, rank: Rank, limits: Limits = LEAK) -> Growth | None:
    """The rise of this rank's memory over the longest window since it trains, if it is a straight one."""
    least = (_ODD_SHARE if _has_peers(history, rank) else _NOTED_SHARE) * MIB * limits.gained_mb
    if not _may_have_gained(history, rank, least):
        return None
    points = history.rank_series(LEAK_S, rank.rank, _memory_while_training)
    begins = (index for index, (before, now) in enumerate(pairwise(points), 1) if now[0] - before[0] > GAP_S)
    points = points[max(begins, default=0) :]
    if len(points) < 8 or points[-1][0] - points[0][0] < MIN_WINDOW_S or points[-1][1] - points[0][1] < least:
        return None
    rise = rise_of(points)
    if rise is None or rise.per_s < MIB * limits.mb_per_min / 60:
        return None
    is_odd = rise.gained < _NOTED_SHARE * MIB * limits.gained_mb
    return Growth(rank, rise) if not is_odd or _flat_peers(history, rank, rise) else None


def _has_peers(history: History, rank: Rank) -> bool:
    """Several ranks do the same. The lowest one often does more: it evaluates, and keeps what is logged."""
    numbers = [each.rank for each in history.live_ranks]
    return len(numbers) > _FEWEST and rank.rank != min(numbers)


def _flat_peers(history: History, rank: Rank, rise: Rise) -> tuple[int, ...]:
    """All the other ranks, where none of them grows as this one does."""
    if not _has_peers(history, rank):
        return ()
    others = [each.rank for each in history.live_ranks if each is not rank]
    for number in others:
        points = history.rank_series(rise.seconds, number, _memory_while_training)
        if len(points) < 2 or points[-1][1] - points[0][1] > MINOR * rise.gained:
            return ()
    return tuple(others)


def _may_have_gained(history: History, rank: Rank, least: float) -> bool:
    """False where the last slice of even the longest window up to now holds too little: most ranks, at a tenth of the reading."""
    now, lowest = _memory_while_training(rank), history.once(_lowest_lately)
    return now is None or now - lowest.get(rank.rank, now) >= SLICE_SHARE * least / SLICES


def _lowest_lately(history: History) -> dict[int, float]:
    """The least memory of each rank in the last slice of the longest window, at `_READ_LOOKS` of its moments: what rises in a straight line
    has gained most of it since the moment before."""
    window, lowest = history.over(LEAK_S / SLICES + GAP_S), dict[int, float]()
    for derived in window[:: max(1, len(window) // _READ_LOOKS)]:
        for rank in derived.job.ranks if derived.job is not None else ():
            value = _memory_while_training(rank) if rank.is_alive else None
            if value is not None and value < lowest.get(rank.rank, inf):
                lowest[rank.rank] = value
    return lowest


def _memory_while_training(rank: Rank) -> float | None:
    if rank.stack.phase in STARTING or rank.state == "starting" or rank.process.tree_anon_bytes is None:
        return None
    return float(rank.process.tree_anon_bytes)

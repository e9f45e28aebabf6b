"""The state of one rank, from what is known of it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from hwtop.model.job import Phase, Rank, RankState

STUCK_S = 10.0
"""Two identical dumps at least this far apart, and no work in between, are called stuck (ByteRobust,
arXiv 2509.16293, compares stacks taken 10 s apart)."""

STARTING: frozenset[Phase] = frozenset({"startup", "rendezvous", "compile"})
"""Phases before the first step in which nothing visible moves for minutes."""

_MOSTLY = 0.5


def is_stuck(rank: Rank) -> bool:
    """Same stack and no step told for `STUCK_S`, and no work by rank or workers.

    A rank that spins in a collective counts as well. Without the silence a rank that is looked at once in a while, always
    in the same collective, would be called stuck.
    """
    if rank.step_age_s is not None and rank.step_age_s < STUCK_S:
        return False
    if not rank.is_alive or rank.phase is None or rank.phase in STARTING:
        return False
    if (rank.same_stack_for_s or 0.0) < STUCK_S:
        return False
    is_idle = (rank.idle_for_s or 0.0) >= STUCK_S
    return is_idle or (rank.phase in ("collective", "sync") and bool(rank.is_waiting))


def share_of(rank: Rank, *phases: Phase) -> float:
    """Share of its samples that the rank spent in these phases, 0 to 1."""
    return sum(entry.share for entry in rank.phase_shares if entry.phase in phases)


def rank_state(rank: Rank) -> RankState:
    """What to call what the rank does now; steady over the sampling window, not the last sample."""
    if not rank.is_alive:
        return "dead"
    if rank.os_state in ("T", "t"):
        return "stopped"
    if rank.phase is None:
        return "training" if rank.progress and rank.progress.step is not None else "unknown"
    if rank.phase in STARTING:
        return "starting"
    if is_stuck(rank):
        return "stuck"
    if rank.phase == "checkpoint":
        return "checkpoint"
    if rank.phase == "eval":
        return "eval"
    if share_of(rank, "data", "data-main") >= _MOSTLY:
        return "data-wait"
    return "collective-wait" if (rank.wait_share or 0.0) >= _MOSTLY else "training"


def settled(ranks: Sequence[Rank]) -> tuple[Rank, ...]:
    """The ranks with states that take the others into account: who only waits for a rank that still works is not stuck."""
    works = any(rank.is_alive and rank.state not in ("stuck", "stopped") for rank in ranks)
    if not works:
        return tuple(ranks)
    return tuple(
        replace(rank, state="collective-wait") if rank.state == "stuck" and rank.is_waiting else rank for rank in ranks
    )

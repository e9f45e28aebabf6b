"""Where the collectors should look next."""

from __future__ import annotations

from collections.abc import Sequence

from hwtop.job.hang.rank_state import share_of
from hwtop.job.launch.spawner import is_joining
from hwtop.model.evidence import MINOR
from hwtop.model.frame import DerivedState
from hwtop.model.job import Job
from hwtop.model.plan import SamplingPlan, UserFocus
from hwtop.model.rank import Rank

_SHARED = 0.2
"""Of the cores: programs outside the job that use so many are looked for by name. Engineering default."""
_FULL = 0.8
"""Of the memory in use: who holds it is looked for. Engineering default."""
_ASLEEP_S = 3.0
"""Longer than most steps: then one of the ranks would have been woken. Engineering default."""
_READ_WORKERS = 2
"""Workers of one rank do the same thing: two tell the story ..."""
_READ_WORKERS_OF_A_STILL_RANK = 32
_STILL_S = 5.0
"""More loader workers are sampled when a rank has waited so long for the same batch: any of them may be stuck. Engineering
default."""


def plan_of(derived: DerivedState, user_focus: UserFocus) -> SamplingPlan | None:
    """The focused rank first, then all ranks, then workers of those that wait for data."""
    job = derived.job
    if job is None:
        return None
    ranks = [rank for rank in job.ranks if rank.is_alive]
    focus = next((rank.pid for rank in ranks if rank.rank == user_focus.rank), None)
    pids = [rank.pid for rank in ranks] or _waiting_launcher(job)
    if focus is not None:
        pids.remove(focus)
        pids.insert(0, focus)
    waiting = [rank for rank in ranks if _waits_for_data(rank) or _waits_for_children(rank)]
    workers = [worker for rank in waiting for worker in rank.workers[: _most_workers(rank)]]
    return SamplingPlan(
        target_pid=job.target_pid,
        stack_pids=(*pids, *(worker.pid for worker in workers if worker.state not in ("Z", "X"))),
        asleep_since_s=_asleep_since_s(ranks, derived.at_s),
        focus_pid=focus,
        logs=job.logs.targets,
        detail_pid=user_focus.detail_pid,
        request=user_focus.request,
        stack_budget_pct=user_focus.stack_budget_pct,
        flight=job.flight.targets,
        metrics=job.metrics.targets,
        ras_pids=job.ras.pids,
        scans=_is_shared(derived, job),
    )


def _is_shared(derived: DerivedState, job: Job) -> bool:
    """Programs outside the job may use so much of the CPU or the memory that their names matter."""
    used = [each.cpu_pct for each in job.processes if each.cpu_pct is not None]
    if derived.cpu is not None and derived.cpu.util_pct is not None and used:
        outside = derived.cpu.count * derived.cpu.util_pct / 100 - (sum(used) + (derived.own_cpu_pct or 0.0)) / 100
        if outside >= _SHARED * derived.cpu.count or outside >= _SHARED * derived.cores:
            return True
    memory = derived.memory
    return memory is not None and memory.used_bytes >= _FULL * memory.total_bytes


def _asleep_since_s(ranks: Sequence[Rank], now_s: float) -> dict[int, float]:
    """Of all ranks, where every one sleeps for so long that nothing may be going on."""
    since = {rank.pid: rank.stall.asleep_since_s for rank in ranks if rank.stall.asleep_since_s is not None}
    is_whole = len(since) == len(ranks) and all(now_s - since_s >= _ASLEEP_S for since_s in since.values())
    return since if is_whole else {}


def _waiting_launcher(job: Job) -> list[int]:
    """torchrun before it has started a rank: it waits for the other nodes, which only its own stack tells."""
    launcher = job.launcher
    is_torchrun = launcher is not None and launcher.is_alive and launcher.kind in ("torchrun", "accelerate")
    return [launcher.pid] if launcher is not None and is_torchrun and not job.ranks else []


def _most_workers(rank: Rank) -> int:
    is_still = rank.stack.phase == "data" and (rank.stall.same_stack_for_s or 0.0) >= _STILL_S
    return _READ_WORKERS_OF_A_STILL_RANK if is_still else _READ_WORKERS


def _waits_for_data(rank: Rank) -> bool:
    return rank.stack.phase == "data" or share_of(rank, "data") >= MINOR


def _waits_for_children(rank: Rank) -> bool:
    """They may be the ranks, which only their stacks tell."""
    return rank.stack.dump is not None and is_joining(rank.stack.dump)

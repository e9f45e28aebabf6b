"""hang, collective-mismatch: nothing moves any more."""

from __future__ import annotations

from collections.abc import Sequence

from hwtop.job.frames import place
from hwtop.job.rank_set import do, named
from hwtop.job.rank_state import STUCK_S, is_stuck
from hwtop.job.stack_groups import call_site, sentence
from hwtop.model.frame import Moment
from hwtop.model.job import Phase, Rank, StackGroup
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Observation, Rule

QUIET_INTERVALS = 3.0
"""A job that logs every T seconds is silent when nothing came for 3 T (and at least `STUCK_S`)."""
UNKNOWN_INTERVAL_S = 15.0
"""Silence that is asked of a job whose logging interval nobody knows. Engineering default."""
BUSY_GPU_QUIET_S = 60.0
"""While a GPU of the job is busy a long kernel explains a still stack: then only this much silence counts
(engineering default; production systems wait 300 s (xpu_timer, NVRx) to 600 s (NCCL))."""
SPIN_QUIET_S = 20.0
SPIN_QUIET_INTERVALS = 20.0
"""A rank that computes may have a long step: silence must be far longer than usual. Engineering defaults."""
_GPU_BUSY_PCT = 10.0
_BUSY_PCT = 10.0
_LONG_BY_NATURE: frozenset[Phase | None] = frozenset({None, "checkpoint", "eval", "compile", "startup", "rendezvous"})


def check_hang(history: History) -> Observation | None:
    """All ranks stand still, outside one common explanation."""
    job, ranks = history.job, history.live_ranks
    if job is None or not is_standing_still(history.now, ranks):
        return None
    groups = job.stack_groups
    waiting = [group for group in groups if _waits(group, ranks)]
    suspects = [group for group in groups if not _waits(group, ranks)]
    still_s = min(rank.same_stack_for_s or 0.0 for rank in ranks)
    title = f"Stuck for {still_s:.0f} s: {sentence((*waiting, *suspects))}"
    culprits = [rank for group in suspects for rank in group.ranks] if waiting else []
    return Observation(
        severity="critical",
        confidence=0.95 if waiting and suspects else 0.8,
        title=title,
        evidence=(*_stillness(ranks, still_s), *_suspicion(ranks, culprits)),
        next_steps=_hang_steps(ranks, culprits),
        ranks=tuple(culprits) or tuple(rank.rank for rank in ranks),
    )


def check_mismatch(history: History) -> Observation | None:
    """All ranks wait in a collective, but not in the same one."""
    job, ranks = history.job, history.live_ranks
    if job is None or len(ranks) < 2 or not is_standing_still(history.now, ranks):
        return None
    groups = job.stack_groups
    if len(groups) < 2 or not all(_waits(group, ranks) for group in groups):
        return None
    minority = groups[-1]
    still_s = min(rank.same_stack_for_s or 0.0 for rank in ranks)
    return Observation(
        severity="critical",
        confidence=0.9,
        title=f"Ranks wait in different collectives: {sentence(groups)}",
        evidence=_stillness(ranks, still_s),
        next_steps=(
            f"Compare {' and '.join(_site(group) for group in groups[:2])}: all ranks must call the same collectives in order",
            "Look for `if rank == 0:` or data-dependent branches around them",
            "hwtop stacks " + str(job.target_pid),
            "Next run: TORCH_FR_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1, then compare the flight recorder dumps",
        ),
        ranks=minority.ranks if len(groups[0].ranks) > len(minority.ranks) else tuple(rank.rank for rank in ranks),
    )


def is_standing_still(moment: Moment, ranks: Sequence[Rank]) -> bool:
    """Every live rank is stuck (or spins on one line while others wait), and the logs are silent for unusually long."""
    spinning = [rank for rank in ranks if not is_stuck(rank)]
    if not ranks or len(spinning) == len(ranks) or not all(_spins(rank) for rank in spinning):
        return False
    gpus = {index for rank in ranks for index in rank.gpus}
    busy = any(gpu.index in gpus and (gpu.util_pct or 0.0) >= _GPU_BUSY_PCT for gpu in moment.gpus)
    quiet_s = BUSY_GPU_QUIET_S if busy else STUCK_S
    intervals = [rank.log_interval_s for rank in ranks if rank.log_interval_s is not None]
    quiet_s = max(quiet_s, QUIET_INTERVALS * min(intervals) if intervals else UNKNOWN_INTERVAL_S)
    if spinning:
        quiet_s = max(quiet_s, SPIN_QUIET_S, SPIN_QUIET_INTERVALS * min(intervals, default=0.0))
    silences = [age for rank in ranks for age in (rank.step_age_s, rank.log_age_s) if age is not None]
    silence_s = min(silences) if silences else min(rank.same_stack_for_s or 0.0 for rank in ranks)
    return silence_s >= quiet_s


def _spins(rank: Rank) -> bool:
    """Computes, and has not left its line for long: an endless loop, or a call that does not return."""
    return (rank.same_stack_for_s or 0.0) >= STUCK_S and rank.phase not in _LONG_BY_NATURE


def _waits(group: StackGroup, ranks: Sequence[Rank]) -> bool:
    """Waits for other ranks: in a collective, or asleep in backward or sync."""
    return any(rank.is_waiting for rank in ranks if rank.rank in group.ranks)


def _site(group: StackGroup) -> str:
    frame = call_site(group) or group.leaf
    return "an unknown place" if frame is None else place(frame)


def _stillness(ranks: Sequence[Rank], still_s: float) -> tuple[str, ...]:
    dumps = min(rank.samples for rank in ranks)
    lines = [f"no live rank's stack has changed for {still_s:.0f} s ({len(ranks)} ranks, {dumps} looks at each)"]
    idle = [rank.idle_for_s for rank in ranks if rank.idle_for_s is not None]
    if idle and min(idle) >= STUCK_S:
        lines.append(
            f"no CPU time (under 2 % of a core) and no disk traffic in any rank or worker for {min(idle):.0f} s"
        )
    ages = [rank.log_age_s for rank in ranks if rank.log_age_s is not None]
    if ages:
        usual = [rank.log_interval_s for rank in ranks if rank.log_interval_s is not None]
        tail = f" (usually every {min(usual):.1f} s)" if usual else ""
        lines.append(f"last log line {min(ages):.0f} s ago{tail}")
    steps = {rank.progress.step for rank in ranks if rank.progress and rank.progress.step is not None}
    if steps:
        lines.append(f"last step seen: {max(steps)}")
    return tuple(lines)


def _suspicion(ranks: Sequence[Rank], culprits: Sequence[int]) -> tuple[str, ...]:
    lines = []
    asleep = [rank.rank for rank in ranks if rank.phase == "backward" and rank.is_waiting]
    if asleep:
        lines.append(
            f"{named(asleep)} {do(asleep, 'sleep')} in backward: {do(asleep, 'wait')} for the others' gradients"
        )
    for rank in ranks:
        if rank.rank not in culprits:
            continue
        wchan = f", sleeps in the kernel's {rank.wchan}" if rank.wchan not in (None, "0") else ""
        load = f", {rank.cpu_pct:.0f} % of a core" if rank.cpu_pct is not None and rank.cpu_pct >= _BUSY_PCT else ""
        lines.append(
            f"rank {rank.rank} (PID {rank.pid}) never reached the collective: state {rank.os_state}{wchan}{load}"
        )
        blocked = [worker for worker in rank.workers if worker.state == "D"]
        if blocked:
            lines.append(
                f"{len(blocked)} of its {len(rank.workers)} loader workers are in D state ({blocked[0].wchan})"
            )
    return tuple(lines)


def _hang_steps(ranks: Sequence[Rank], culprits: Sequence[int]) -> tuple[str, ...]:
    pid = next((rank.pid for rank in ranks if rank.rank in culprits), ranks[0].pid)
    return (
        f"hwtop stacks {pid}   # every rank's stack, grouped",
        f"py-spy dump --native --pid {pid}   # C++ frames as well; pauses the process for about a second",
        f"Look at the last lines of {named(culprits) if culprits else 'every rank'} in the Logs tab",
        "If it does not come back: kill the job, restart from the last checkpoint with TORCH_NCCL_DUMP_ON_TIMEOUT=1",
    )


RULES = (
    Rule(
        symptom="hang",
        category="stability",
        threshold=(
            f"every live rank: same stack for {STUCK_S:.0f} s and no work; no log line for {QUIET_INTERVALS:.0f} of its usual "
            f"intervals, at least {STUCK_S:.0f} s ({BUSY_GPU_QUIET_S:.0f} s while a GPU is busy)"
        ),
        raise_s=1.0,
        clear_s=3.0,
        check=lambda history: None if check_mismatch(history) else check_hang(history),
    ),
    Rule(
        symptom="collective-mismatch",
        category="stability",
        threshold="as hang, and all ranks wait in a collective at two or more places",
        raise_s=1.0,
        clear_s=3.0,
        check=check_mismatch,
    ),
)

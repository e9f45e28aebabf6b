"""hang, collective-mismatch, rank-missing-from-collective: nothing moves any more.

All three ask the same tree (`hwtop.job.hang.tree`), so at most one of them is raised; `hang` is what is left when no rank
can be blamed. A cause that has a symptom of its own (a dead rank, D state, a lock, ...) folds them: `hwtop.symptoms.cascade`.
"""

from __future__ import annotations

from collections.abc import Sequence

from hwtop.job.hang.collective_timeout import says
from hwtop.job.hang.prompt import prompt_of
from hwtop.job.hang.rank_state import STUCK_S, is_still
from hwtop.job.hang.standstill import waits
from hwtop.job.hang.tree import HangCause, collective_groups
from hwtop.job.kernel.wait import waits_for
from hwtop.job.rank_set import do, named
from hwtop.job.stacks.conclusion import conclusion, workers_do
from hwtop.job.stacks.frames import place
from hwtop.job.stacks.groups import call_site, parting
from hwtop.model.job import Job, StackGroup
from hwtop.model.rank import Rank
from hwtop.model.stack import StackFrame
from hwtop.symptoms.history import History
from hwtop.symptoms.ranks import check_dead
from hwtop.symptoms.rule import ONE_MORE_LOOK_S, Observation, Rule
from hwtop.symptoms.standing import HANG, HangLimits, standing

ALLOWED_S = 60.0
"""An evaluation or a checkpoint that does nothing visible for so long is worth a word. Engineering default."""
_BUSY_PCT = 10.0
_ANSWER = "Answer in the terminal that the job was started from; next time give the answer by a flag, or start with < /dev/null"
_ALLOWED: dict[str | None, str] = {"checkpoint": "saves a checkpoint", "eval": "evaluates"}


def check_hang(history: History, limits: HangLimits = HANG) -> Observation | None:
    """All ranks stand still, and no rank can be blamed; as information where one only takes its time."""
    cause, job = standing(history, limits), history.job
    if job is None:
        return None
    if cause is None:
        return _check_long_wait(history, job)
    if _is_mismatch(job, cause) or _is_missing(cause) or (cause.kind == "unknown" and check_dead(history)):
        return None
    ranks = history.live_ranks
    return Observation(
        severity="critical",
        confidence=0.8,
        title=f"Stuck for {cause.still_s:.0f} s: {_asks(ranks) or conclusion(job)}",
        evidence=(*_evidence(history, job, cause), *_of_the_wait(job)),
        next_steps=_hang_steps(ranks, cause),
        ranks=cause.culprits or tuple(rank.rank for rank in ranks),
    )


def check_mismatch(history: History, limits: HangLimits = HANG) -> Observation | None:
    """All ranks wait in a collective, but not in the same one; or the job's own log says so."""
    cause, job = standing(history, limits), history.job
    if job is None:
        return None
    if cause is None or not _is_mismatch(job, cause):
        return _logged_mismatch(job)
    groups = collective_groups(job)
    sites = " and ".join(dict.fromkeys(_site(group) for group in groups[:2]))
    return Observation(
        severity="critical",
        confidence=0.97 if job.flight is not None else 0.9,
        title=f"Ranks wait in different collectives: {conclusion(job)}",
        evidence=(*_evidence(history, job, cause), *_of_the_wait(job)),
        next_steps=(
            f"Compare {sites}: all ranks must call the same collectives in the same order and with the same sizes",
            "Look for `if rank == 0:`, data-dependent branches or an early `break` around them",
            f"hwtop stacks {job.target_pid}   # every rank's stack, grouped",
            _flight_step(job),
        ),
        ranks=cause.culprits,
    )


def check_missing(history: History, limits: HangLimits = HANG) -> Observation | None:
    """Some ranks wait in a collective that others never reached."""
    cause, job = standing(history, limits), history.job
    if job is None or cause is None or _is_mismatch(job, cause) or not _is_missing(cause):
        return None
    ranks = history.live_ranks
    who = named(cause.culprits).capitalize()
    return Observation(
        severity="critical",
        confidence=0.97 if job.flight is not None else 0.93,
        title=f"{who} {do(cause.culprits, 'be')} missing from the collective for {cause.still_s:.0f} s: {conclusion(job)}",
        evidence=(*_evidence(history, job, cause), *_of_culprits(ranks, cause.culprits), *_of_the_wait(job)),
        next_steps=_missing_steps(job, ranks, cause),
        ranks=cause.culprits,
    )


def stillness(ranks: Sequence[Rank], still_s: float, now_s: float) -> tuple[str, ...]:
    """What proves that nothing moves."""
    looks = min((rank.samples for rank in ranks), default=0)
    lines = [f"no live rank's stack has changed for {still_s:.0f} s ({len(ranks)} ranks, {looks} looks at each)"]
    idle = [rank.idle_for_s for rank in ranks if rank.idle_for_s is not None]
    if idle and min(idle) >= STUCK_S:
        lines.append(
            f"no CPU time (under 2 % of a core) and no disk traffic in any rank or worker for {min(idle):.0f} s"
        )
    asleep = {rank.rank: rank.asleep_since_s for rank in ranks if rank.asleep_since_s is not None}
    for_s = min(still_s, now_s - max(asleep.values(), default=now_s))
    if for_s >= STUCK_S:
        lines.append(f"the kernel has not woken the main thread of {named(asleep)} once in {for_s:.0f} s")
    ages = [rank.log_age_s for rank in ranks if rank.log_age_s is not None]
    if ages:
        usual = [rank.log_interval_s for rank in ranks if rank.log_interval_s is not None and rank.told_by is None]
        tail = f" (usually every {min(usual):.1f} s)" if usual else ""
        lines.append(f"last log line {min(ages):.0f} s ago{tail}")
    beats = [
        age for rank in ranks if (rank.told_by or "").startswith("heartbeat") and (age := rank.step_age_s) is not None
    ]
    if beats:
        lines.append(f"last step by heartbeat {min(beats):.0f} s ago")
    steps = {rank.progress.step for rank in ranks if rank.progress and rank.progress.step is not None}
    if steps:
        lines.append(f"last step seen: {max(steps)}")
    return tuple(lines)


def _is_mismatch(job: Job, cause: HangCause) -> bool:
    return cause.kind == "mismatch" and len(job.ranks) > 1


def _is_missing(cause: HangCause) -> bool:
    """Whatever keeps it away: that has its own symptom, and where that is not raised this one must not be silent."""
    return bool(cause.culprits and cause.waiting) and cause.kind not in ("dead", "event", "mismatch")


def _check_long_wait(history: History, job: Job) -> Observation | None:
    """Others wait long for a rank that saves or evaluates: worth knowing, no fault yet."""
    ranks = history.live_ranks
    chores = [rank for rank in ranks if rank.phase in _ALLOWED and (rank.phase_for_s or 0.0) >= ALLOWED_S]
    others = [rank for rank in ranks if rank not in chores]
    if not chores or not others or not all(waits(rank) and is_still(rank) for rank in others):
        return None
    is_idle = all((rank.idle_for_s or 0.0) >= ALLOWED_S for rank in chores)
    still_s = min(rank.same_stack_for_s or 0.0 for rank in others)
    numbers = [rank.rank for rank in chores]
    return Observation(
        severity="info",
        confidence=0.4,
        title=f"{named(numbers).capitalize()} {_ALLOWED[chores[0].phase]} for {chores[0].phase_for_s or 0.0:.0f} s"
        f"{' without CPU time or disk traffic' if is_idle else ''}, the others wait: {conclusion(job)}",
        evidence=(f"no stack of {named(rank.rank for rank in others)} has changed for {still_s:.0f} s",),
        next_steps=(f"hwtop stacks {chores[0].pid}   # does it move?",),
        ranks=tuple(numbers),
    )


def _logged_mismatch(job: Job) -> Observation | None:
    """torch itself says so: with TORCH_DISTRIBUTED_DEBUG=DETAIL, or when DDP compares its parameters."""
    events = [event for event in job.events if event.pattern == "collective-mismatch" and event.role == "root"]
    if not events:
        return None
    first = events[0]
    return Observation(
        severity="critical",
        confidence=0.95,
        title=f"Ranks called different collectives: {first.text[:160]}",
        evidence=(f"{first.path}: {first.text[:240]}", first.explanation),
        next_steps=(
            "Compare what the named ranks called: same order, same sizes, same parameters on every rank",
            "Look for `if rank == 0:` or data-dependent branches around it",
        ),
        ranks=tuple(sorted({event.rank for event in events if event.rank is not None})),
        log_line=first.text,
    )


def _evidence(history: History, job: Job, cause: HangCause) -> tuple[str, ...]:
    ranks = history.live_ranks
    kind = "communication" if cause.is_communication else "non-communication"
    lines = [f"rank {rank.rank} asks: {frame.code} ({place(frame)})" for rank, frame in _questions(ranks)[:2]]
    lines.append(f"{cause.why} ({kind} hang)" if cause.trail[-1].is_it else f"a {kind} hang")
    if parting(job.stack_groups):
        lines.append(parting(job.stack_groups))
    if job.flight is not None:
        lines += job.flight.evidence
    lines += stillness(ranks, cause.still_s, history.now.at_s)
    return (*lines, *((cause.ruled_out,) if len(cause.trail) > 1 else ()))


def _questions(ranks: Sequence[Rank]) -> list[tuple[Rank, StackFrame]]:
    """Who waits for an answer, and the line that asks."""
    return [(rank, frame) for rank in ranks if (frame := prompt_of(rank)) is not None]


def _asks(ranks: Sequence[Rank]) -> str:
    """The first of them in words; "" where nobody does."""
    return next(
        (f"rank {rank.rank} waits for somebody to type ({place(frame)})" for rank, frame in _questions(ranks)), ""
    )


def _answer_step(ranks: Sequence[Rank]) -> tuple[str, ...]:
    return (_ANSWER,) if _questions(ranks) else ()


def _of_the_wait(job: Job) -> tuple[str, ...]:
    told = says(job.timeout)
    return (told,) if told else ()


def _of_culprits(ranks: Sequence[Rank], culprits: Sequence[int]) -> tuple[str, ...]:
    lines = []
    asleep = [rank.rank for rank in ranks if rank.phase == "backward" and rank.is_waiting]
    if asleep:
        lines.append(
            f"{named(asleep)} {do(asleep, 'sleep')} in backward: {do(asleep, 'wait')} for the others' gradients"
        )
    for rank in ranks:
        if rank.rank not in culprits:
            continue
        meaning = f": it waits for {what}" if (what := waits_for(rank.wchan)) else ""
        wchan = f", sleeps in the kernel's {rank.wchan}{meaning}" if rank.wchan not in (None, "0") else ""
        load = f", {rank.cpu_pct:.0f} % of a core" if rank.cpu_pct is not None and rank.cpu_pct >= _BUSY_PCT else ""
        lines.append(
            f"rank {rank.rank} (PID {rank.pid}) never reached the collective: state {rank.os_state}{wchan}{load}"
        )
        if rank.workers:
            lines.append(f"rank {rank.rank}: {workers_do(rank.workers, 'its')}")
    return tuple(lines)


def _site(group: StackGroup) -> str:
    frame = call_site(group) or group.leaf
    return "an unknown place" if frame is None else place(frame)


def _flight_step(job: Job) -> str:
    if job.flight is not None:
        return "The Flight Recorder's dumps above name the call of each rank"
    return "Next run: TORCH_FR_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1, then `hwtop stacks --flight-recorder DIR`"


def _missing_steps(job: Job, ranks: Sequence[Rank], cause: HangCause) -> tuple[str, ...]:
    first = next((rank for rank in ranks if rank.rank in cause.culprits), ranks[0])
    log = f"tail -n 50 {first.log}" if first.log else f"the log of rank {first.rank}"
    return (
        *_answer_step(ranks),
        f"hwtop stacks {first.pid}   # where rank {first.rank} stands, and the others",
        f"py-spy dump --native --pid {first.pid}   # C++ frames as well; pauses the process for about a second",
        f"{log}   # what it did last",
        _flight_step(job),
        "If it does not come back: kill the job, restart from the last checkpoint",
    )


def _hang_steps(ranks: Sequence[Rank], cause: HangCause) -> tuple[str, ...]:
    first = next((rank for rank in ranks if rank.rank in cause.culprits), ranks[0])
    steps = [*_answer_step(ranks), f"hwtop stacks {first.pid}   # every rank's stack, grouped"]
    if cause.kind == "transport":
        steps.append("NCCL_DEBUG=INFO; ibstat; sudo dmesg -T | grep -iE 'xid|nvlink|mlx5'   # link, adapter or GPU")
    if cause.kind == "elsewhere":
        steps.append("hwtop diagnose on the other machines   # which rank is not in this collective?")
    return (
        *steps,
        f"py-spy dump --native --pid {first.pid}   # C++ frames as well; pauses the process for about a second",
        "If it does not come back: kill the job, restart from the last checkpoint"
        + (" with TORCH_NCCL_DUMP_ON_TIMEOUT=1" if len(ranks) > 1 else ""),
    )


RULES = (
    Rule(
        symptom="collective-mismatch",
        category="stability",
        threshold=lambda limits: (
            f"{limits.says}; all ranks wait in a collective at two or more places, or the Flight Recorder shows it"
        ),
        raise_s=ONE_MORE_LOOK_S,
        clear_s=3.0,
        check=check_mismatch,
        limits=HANG,
    ),
    Rule(
        symptom="rank-missing-from-collective",
        category="stability",
        threshold=lambda limits: f"{limits.says}; some wait in a collective and others are outside of any",
        raise_s=ONE_MORE_LOOK_S,
        clear_s=3.0,
        check=check_missing,
        limits=HANG,
    ),
    Rule(
        symptom="hang",
        category="stability",
        threshold=lambda limits: f"{limits.says}; no rank can be blamed",
        raise_s=ONE_MORE_LOOK_S,
        clear_s=3.0,
        check=check_hang,
        limits=HANG,
    ),
)

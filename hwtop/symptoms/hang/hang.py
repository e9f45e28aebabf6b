"""hang, collective-mismatch, rank-missing-from-collective: nothing moves any more.

All three ask the same tree (`hwtop.job.hang.tree`), so at most one of them is raised; `hang` is what is left when no rank
can be blamed. A cause that has a symptom of its own (a dead rank, D state, a lock, ...) folds them: `hwtop.symptoms.cascade`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hwtop.job.exit_code import exit_words
from hwtop.job.hang.collective_timeout import says
from hwtop.job.hang.liveness import PRIOR_S, STANDSTILL_S, confidence, is_improbable, newest_report_s
from hwtop.job.hang.prompt import prompt_of
from hwtop.job.hang.rank_state import waits
from hwtop.job.hang.tree import HangCause, collective_groups
from hwtop.job.rank_set import do, named
from hwtop.job.stacks.conclusion import conclusion, kernel_wait, workers_do
from hwtop.job.stacks.frames import place
from hwtop.job.stacks.groups import call_site, parting
from hwtop.model.frame import DerivedState
from hwtop.model.job import Job, StackGroup
from hwtop.model.liveness import LivenessState
from hwtop.model.rank import Rank
from hwtop.model.reported.ras import RasProcess
from hwtop.model.stack import StackFrame
from hwtop.seconds import clock, span
from hwtop.symptoms.hang.dead import check_dead
from hwtop.symptoms.hang.locks import BUSY_PCT
from hwtop.symptoms.hang.stall import HANG, stall_cause
from hwtop.symptoms.history import History
from hwtop.symptoms.input.workers import failed_children
from hwtop.symptoms.rule import Limits, Observation, observed
from hwtop.symptoms.text import SHOWN, Fact, counted, quoted

_SHOWN_RANKS = 8
"""Ranks of which the evidence has a line each."""
_DOES: dict[LivenessState, str] = {
    "stuck asleep": "it sleeps",
    "stuck polling": "it wakes up again and again and stays in one function",
    "stuck spinning": "it computes and stays in one function",
}
_ALLOWED: dict[str | None, str] = {"checkpoint": "saves a checkpoint", "eval": "evaluates"}


def check_hang(history: History, limits: Limits = HANG) -> Observation | None:
    """All ranks stand still, and no rank can be blamed; as information where one only takes its time."""
    cause, job = stall_cause(history, limits), history.job
    if job is None:
        return None
    if cause is None:
        return _check_long_wait(history, job)
    if _is_mismatch(job, cause) or _is_missing(cause) or (cause.kind == "unknown" and check_dead(history)):
        return None
    ranks = history.live_ranks
    return observed(
        "hang",
        confidence=min(0.9, confidence(cause.phi)),
        facts=_facts(history, job, cause),
        evidence=(
            *_evidence(history, job, cause),
            *(f"rank {rank.rank} (PID {rank.pid}): {_state(rank)}" for rank in ranks[:_SHOWN_RANKS] if not waits(rank)),
            *_of_the_wait(job),
        ),
        ranks=cause.culprits or tuple(rank.rank for rank in ranks),
    )


def check_mismatch(history: History, limits: Limits = HANG) -> Observation | None:
    """All ranks wait in a collective, but not in the same one; or the job's own log says so."""
    cause, job = stall_cause(history, limits), history.job
    if job is None:
        return None
    if cause is None or not _is_mismatch(job, cause):
        return _logged_mismatch(job)
    groups = collective_groups(job)
    sites = " and ".join(dict.fromkeys(_site(group) for group in groups[:2]))
    facts = _facts(history, job, cause)
    return observed(
        "collective-mismatch",
        confidence=_sure(job, cause, 0.9),
        facts={**facts, "sites": sites},
        evidence=(*_evidence(history, job, cause), *_of_the_wait(job)),
        ranks=cause.culprits,
    )


def check_missing(history: History, limits: Limits = HANG) -> Observation | None:
    """Some ranks wait in a collective that others never reached."""
    cause, job = stall_cause(history, limits), history.job
    if job is None or cause is None or _is_mismatch(job, cause) or not _is_missing(cause):
        return None
    ranks = history.live_ranks
    return observed(
        "rank-missing-from-collective",
        confidence=_sure(job, cause, 0.93),
        facts={
            **_facts(history, job, cause),
            "culprits": named(cause.culprits).capitalize(),
            "be": do(cause.culprits, "be"),
            "what": awaited_in(ranks, cause.culprits),
        },
        evidence=(*_evidence(history, job, cause, _of_culprits(ranks, cause.culprits)), *_of_the_wait(job)),
        ranks=cause.culprits,
    )


def awaited_in(ranks: Sequence[Rank], culprits: Collection[int]) -> str:
    """What the others wait in."""
    phases = {rank.stack.phase for rank in ranks if rank.rank not in culprits}
    return "rendezvous" if phases == {"rendezvous"} else "collective"


def stillness(ranks: Sequence[Rank], still_s: float, now: DerivedState) -> tuple[str, ...]:
    """What proves that nothing moves, and since what time of day."""
    since = clock(now.time_s - still_s)
    looks = min((rank.stack.samples for rank in ranks), default=0)
    is_same = all((rank.stall.same_stack_for_s or 0.0) >= still_s for rank in ranks)
    what = "'s stack has changed" if is_same else " has left the function that it is in"
    seen = (
        f"{counted(len(ranks), 'rank')}, {counted(looks, 'sample')} of each" if looks else counted(len(ranks), "rank")
    )
    is_unread = all(rank.stack.phase is None for rank in ranks)
    lines = [
        f"nothing since {since} by the kernel and the log: no stack of a live rank can be read"
        if is_unread
        else f"no live rank{what} for {span(still_s)}, since {since} ({seen})"
    ]
    idle = [rank.stall.idle_for_s for rank in ranks if rank.stall.idle_for_s is not None]
    if idle and min(idle) >= STANDSTILL_S:
        lines.append(
            f"no CPU time (under 2 % of a core) and no disk traffic in any rank or worker for {span(min(idle))}"
        )
    asleep = {rank.rank: rank.stall.asleep_since_s for rank in ranks if rank.stall.asleep_since_s is not None}
    for_s = min(still_s, now.at_s - max(asleep.values(), default=now.at_s))
    if for_s >= STANDSTILL_S:
        lines.append(f"the kernel has not woken the main thread of {named(asleep)} once in {span(for_s)}")
    ages = [rank.log.age_s for rank in ranks if rank.log.age_s is not None]
    if ages:
        usual = [
            rank.log.interval_s for rank in ranks if rank.log.interval_s is not None and rank.progress.reporter is None
        ]
        tail = f" (usually every {min(usual):.1f} s)" if usual else ""
        lines.append(f"last log line {span(min(ages))} ago{tail}")
    beats = [
        age
        for rank in ranks
        if (rank.progress.reporter or "").startswith("heartbeat") and (age := rank.progress.step_age_s) is not None
    ]
    if beats:
        lines.append(f"last step by heartbeat {span(min(beats))} ago")
    steps = {
        rank.progress.newest.step for rank in ranks if rank.progress.newest and rank.progress.newest.step is not None
    }
    if steps:
        lines.append(f"last step seen: {max(steps)}")
    return tuple(lines)


def _sure(job: Job, cause: HangCause, most: float) -> float:
    """That it stands still, and of this cause: the Flight Recorder knows it, stacks let it be inferred."""
    surprise = confidence(cause.phi)
    return surprise if job.flight.verdict is not None else min(most, surprise)


def _is_mismatch(job: Job, cause: HangCause) -> bool:
    return cause.kind == "mismatch" and len(job.ranks) > 1


def _is_missing(cause: HangCause) -> bool:
    """Whatever keeps it away: that has its own symptom, and where that is not raised this one must not be silent."""
    return bool(cause.culprits and cause.waiting) and cause.kind not in ("dead", "event", "mismatch")


def _check_long_wait(history: History, job: Job) -> Observation | None:
    """Others wait long for a rank that saves or evaluates: worth knowing, no fault yet."""
    ranks = history.live_ranks
    chores = [
        rank
        for rank in ranks
        if rank.stack.phase in _ALLOWED and (rank.stack.phase_for_s or 0.0) >= PRIOR_S["training", "moving"]
    ]
    others = [rank for rank in ranks if rank not in chores]
    if not chores or not others or not all(waits(rank) and is_improbable(rank) for rank in others):
        return None
    still_s = min(rank.stall.same_stack_for_s or 0.0 for rank in others)
    numbers = [rank.rank for rank in chores]
    return observed(
        "hang",
        severity="info",
        facts={
            "late_busy": named(numbers).capitalize(),
            "doing": _ALLOWED[chores[0].stack.phase],
            "for_s": chores[0].stack.phase_for_s or 0.0,
            "waiting": conclusion(job),
            "pid": chores[0].pid,
        },
        confidence=0.4,
        evidence=(f"no stack of {named(rank.rank for rank in others)} has changed for {span(still_s)}",),
        ranks=tuple(numbers),
    )


def _logged_mismatch(job: Job) -> Observation | None:
    """torch itself says so: with TORCH_DISTRIBUTED_DEBUG=DETAIL, or when DDP compares its parameters."""
    events = [event for event in job.logs.events if event.pattern == "collective-mismatch" and event.role == "root"]
    if not events:
        return None
    first = events[0]
    return observed(
        "collective-mismatch",
        confidence=0.95,
        facts={"line": quoted(first.text, 160)},
        evidence=(f"{quoted(first.path)}: {quoted(first.text)}", first.explanation),
        ranks=tuple(sorted({event.rank for event in events if event.rank is not None})),
        log_line=first.text,
    )


def _evidence(history: History, job: Job, cause: HangCause, culprits: Sequence[str] = ()) -> tuple[str, ...]:
    """What proves it, the most telling first; `culprits`: what those do that are to blame."""
    ranks = history.live_ranks
    kind = "communication" if cause.is_communication else "non-communication"
    lines = [f"rank {rank.rank} asks: {frame.code} ({place(frame)})" for rank, frame in _questions(ranks)[:2]]
    lines.append(f"{cause.why} ({kind} hang)" if cause.trail[-1].is_it else f"a {kind} hang")
    lines += culprits
    absent = (job.world_size or 0) - len(job.ranks)
    if absent > 0 and cause.kind != "elsewhere":
        lines.append(f"{absent} of {job.world_size} ranks not seen: on another machine, or ended before hwtop looked")
    if parting(job.stacks.groups):
        lines.append(parting(job.stacks.groups))
    if job.flight.verdict is not None:
        lines += job.flight.verdict.evidence
    if job.ras.verdict is not None:
        lines += job.ras.verdict.evidence
    lines += [
        f"rank {rank.rank}: its child PID {child.pid} has ended, {exit_words(child.exit_code)}"
        for rank in ranks
        for child in failed_children(history, rank)[:SHOWN]
    ]
    lines += stillness(ranks, cause.still_s, history.now)
    return (*lines, *((cause.ruled_out,) if len(cause.trail) > 1 else ()))


def _questions(ranks: Sequence[Rank]) -> list[tuple[Rank, StackFrame]]:
    """Who waits for an answer, and the line that asks."""
    return [(rank, frame) for rank in ranks if (frame := prompt_of(rank)) is not None]


def _asks(ranks: Sequence[Rank]) -> str:
    """The first of them in words; "" where nobody does."""
    return next(
        (f"rank {rank.rank} waits for somebody to type ({place(frame)})" for rank, frame in _questions(ranks)), ""
    )


def _of_the_wait(job: Job) -> tuple[str, ...]:
    reported = says(job.timeout)
    return (reported,) if reported else ()


def _of_culprits(ranks: Sequence[Rank], culprits: Sequence[int]) -> tuple[str, ...]:
    lines = []
    asleep = [rank.rank for rank in ranks if rank.stack.phase == "backward" and rank.stack.is_waiting]
    if asleep:
        lines.append(
            f"{named(asleep)} {do(asleep, 'sleep')} in backward: {do(asleep, 'wait')} for the others' gradients"
        )
    for rank in ranks:
        if rank.rank not in culprits:
            continue
        lines.append(
            f"rank {rank.rank} (PID {rank.pid}) never reached the {awaited_in(ranks, culprits)}: {_state(rank)}"
        )
        if rank.log.last_line:
            age = f" ({span(rank.log.age_s)} ago)" if rank.log.age_s is not None else ""
            lines.append(f"its last log line{age}: {quoted(rank.log.last_line)}")
        if rank.workers:
            lines.append(f"rank {rank.rank}: {workers_do(rank.workers, 'its')}")
    return tuple(lines)


def _state(rank: Rank) -> str:
    """What it does instead of going on: "it computes, state R, 99 % of a core"."""
    does = _DOES.get(rank.liveness.state) if rank.liveness is not None else None
    what = kernel_wait(rank)
    meaning = f": it waits for {what}" if what else ""
    wchan = f", kernel wait {rank.process.wchan}{meaning}" if rank.process.wchan not in (None, "0") else meaning
    pct = rank.process.cpu_pct
    load = f", {pct:.0f} % of a core" if pct is not None and pct >= BUSY_PCT else ""
    return f"{does + ', ' if does else ''}state {rank.process.os_state}{wchan}{load}"


def _site(group: StackGroup) -> str:
    frame = call_site(group) or group.leaf
    return "an unknown place" if frame is None else place(frame)


def _for_time(history: History, cause: HangCause) -> str:
    """For how long there was no progress: "20 s"; "7 min (watched 16 s)" where the reports of the job had ended before hwtop came."""
    silent_s = newest_report_s(history.live_ranks) or 0.0
    has_moved = cause.still_s + STANDSTILL_S < history.watched_s
    if has_moved or silent_s - cause.still_s < STANDSTILL_S:
        return span(cause.still_s)
    return f"{span(silent_s)} (watched {span(cause.still_s)})"


def _facts(history: History, job: Job, cause: HangCause) -> dict[str, Fact]:
    ranks = history.live_ranks
    first = next((rank for rank in ranks if rank.rank in cause.culprits), ranks[0])
    far = _elsewhere(job, cause)
    return {
        "for_time": _for_time(history, cause),
        "conclusion": conclusion(job),
        "asks": _asks(ranks) or None,
        "rank": first.rank,
        "pid": first.pid,
        "awaits": _awaits(job, first) if len(ranks) == 1 or cause.culprits else None,
        "awaits_pid": first.stall.awaits.pid if first.stall.awaits is not None else None,
        "log": first.log.path,
        "is_here": far is None,
        "far_node": far.host if far is not None else None,
        "far_pid": far.pid if far is not None else None,
        "target_pid": job.target_pid,
        "has_flight": job.flight.verdict is not None,
        "is_of_link": cause.kind == "transport",
        "is_elsewhere": cause.kind == "elsewhere",
    }


def _awaits(job: Job, rank: Rank) -> str | None:
    """ "rank 0 waits for PID 77 (sim.py)"; None where the conclusion says so, or the kernel does not."""
    other = rank.stall.awaits
    if other is None or other.pid in {each.pid for each in job.ranks}:
        return None
    return f"rank {rank.rank} waits for PID {other.pid} ({other.program})"


def _elsewhere(job: Job, cause: HangCause) -> RasProcess | None:
    """The process to look at on another machine, where none of the culprits is on this one."""
    ras, here = job.ras.verdict, {rank.rank for rank in job.ranks}
    if ras is None or cause.why != ras.text or here & set(cause.culprits):
        return None
    return next(iter(ras.processes), None)

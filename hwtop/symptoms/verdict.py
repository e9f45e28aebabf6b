"""The one line that answers "what is wrong"."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from hwtop.job.hang.liveness import evidence_s
from hwtop.job.hang.liveness import silent_s as silent_of
from hwtop.job.hang.rank_state import share_of, waits
from hwtop.job.hang.stall import gap_s, is_unmoved, late_ranks, newest_step_s, silence_s
from hwtop.job.rank_set import do, named
from hwtop.job.stacks.conclusion import conclusion, conclusion_after_colon
from hwtop.model.evidence import MOSTLY
from hwtop.model.frame import DerivedState
from hwtop.model.job import Job
from hwtop.model.rank import Rank, RankState
from hwtop.model.rank_stack import Phase
from hwtop.model.symptom import Episode, Finding, StallClass, Verdict, VerdictLevel
from hwtop.seconds import span
from hwtop.symptoms import own_signal
from hwtop.symptoms.blind import ANSWERED_S
from hwtop.symptoms.records import records
from hwtop.symptoms.severity import weightiest
from hwtop.symptoms.text import percent

EARLY_S = 10.0
"""Time of watching from which "nothing wrong found" means something: most rules need so much of samples and rates.
Engineering default."""
VERDICT_S = EARLY_S + 1.0
"""Long enough for a verdict without a finding. Engineering default."""

_BEFORE_S = 600.0
"""For so long after it was cleared a finding is still named. Engineering default."""
SILENT_TIMES, SILENT_S = 5, 5.0
"""A log is late after so many of its usual intervals and these seconds. Engineering default."""
INSTEAD_S = 10.0
"""An evaluation or a save that takes longer is named in the verdict. Engineering default."""
_INSTEAD: dict[RankState, str] = {"eval": "has been evaluating", "checkpoint": "has been saving"}
_BESIDE: dict[Phase, str] = {"compile": "compiles", "checkpoint": "saves", "logging": "logs", "eval": "evaluates"}
_QUIET: frozenset[RankState] = frozenset({"starting", "checkpoint", "eval"})


def verdict_of(
    derived: DerivedState,
    findings: Sequence[Finding],
    watched_s: float,
    before_signal: str | None = None,
    episodes: Sequence[Episode] = (),
) -> Verdict:
    """The first finding that matters, or what is known to go well; first of all, what the user did to the job.

    `before_signal`: the worst finding before that. `episodes`: what was raised so far, and when it was cleared.
    """
    if (sent := own_signal.acting(derived.job)) is not None and derived.job is not None:
        level: VerdictLevel = "ended" if derived.job.has_ended else "info"
        return Verdict(level=level, text=own_signal.sentence(sent, derived, before_signal))
    serious = [finding for finding in findings if finding.severity != "info"]
    if serious:
        more = len(serious) - 1
        first = serious[0]
        tail = f" (and {more} more)" if more else _before_the_end(first, derived.job, episodes)
        stall = (
            "non-communication hang"
            if first.symptom == "hang" and not _waits_among_ranks(derived.job)
            else stall_of(first.symptom)
        )
        return Verdict(level=first.severity, text=first.title + tail, category=first.category, stall=stall)
    job = derived.job
    if job is None:
        return _without_job(derived)
    if job.has_ended:
        return Verdict(level="ended", text=f"The job has ended{_exit_codes(job)}")
    if not job.ranks and job.rendezvous is not None:
        return Verdict(level="info", text="Starting: the launcher waits in the rendezvous")
    if not job.ranks:
        return Verdict(level="unknown", text=f"No training rank found under PID {job.target_pid}{_other_program(job)}")
    if all(rank.state == "starting" for rank in job.ranks):
        return Verdict(
            level="info", text=f"Starting: {named(rank.rank for rank in job.ranks)} in {job.ranks[0].stack.phase}"
        )
    if (late := _overdue(job, derived.at_s) or _silent(job, derived.at_s, watched_s)) is not None:
        return late
    if findings:
        return Verdict(level="info", text=f"Nothing proven wrong in {span(watched_s)}; {findings[0].title}")
    return _suspected(job, watched_s) or Verdict(level="ok", text=_well(job, watched_s, episodes))


def _other_program(job: Job) -> str:
    """What runs below a script that the user named: a training in another language is only known by being named."""
    others = [each for each in job.processes if each.role == "other" and each.state != "Z"]
    if not others:
        return ""
    largest = max(others, key=lambda each: each.rss_bytes or 0)
    name = largest.command.partition(" ")[0].rpartition("/")[2]
    return f": if {name} trains, name it: hwtop {largest.pid}"


def _before_the_end(first: Finding, job: Job | None, episodes: Sequence[Episode]) -> str:
    """How ranks ended is named by `first`; what kept them before that is no less important."""
    if job is None or not job.has_ended:
        return ""
    over = weightiest(each for each in episodes if each.cleared_s is not None and each.raised_s < first.first_seen_s)
    return f"; before: {over.title}" if over is not None else ""


def _well(job: Job, watched_s: float, episodes: Sequence[Episode]) -> str:
    """Since when nothing is wrong, and what was before."""
    pace = _pace(job, watched_s)
    cleared = [each for each in episodes if each.severity != "info" and each.cleared_s is not None]
    if not cleared:
        return f"Nothing wrong found in {span(watched_s)}{pace}"
    last = max(cleared, key=lambda each: each.cleared_s or 0.0)
    since_s = watched_s - (last.cleared_s or 0.0)
    before = f"; before: {last.title}" if since_s < _BEFORE_S else ""
    return f"Nothing wrong found for {span(since_s)}{pace}{before}"


def stall_of(symptom: str) -> StallClass | None:
    """The class of a finding by which ranks wait for each other."""
    record = records().get(symptom)
    return record.stall if record else None


def _waits_among_ranks(job: Job | None) -> bool:
    """There is somebody it could wait for, and one of the ranks does."""
    if job is None or (job.world_size or len(job.ranks)) == 1:
        return False
    return any(waits(rank) for rank in job.ranks if rank.is_alive)


def _without_job(derived: DerivedState) -> Verdict:
    if derived.candidates is None:
        return Verdict(level="unknown", text="Looking for the job")
    training = sum(candidate.kind == "training" for candidate in derived.candidates)
    loaded = [candidate.framework for candidate in derived.candidates if candidate.framework]
    if training:
        what = f"{training} training job{'s' if training != 1 else ''} found"
    elif loaded:
        what = f"{len(loaded)} process{'es' if len(loaded) != 1 else ''} found with {', '.join(dict.fromkeys(loaded))} loaded"
    else:
        what = "No training job found"
    return Verdict(level="info", text=f"{what}: choose a process to watch")


def _suspected(job: Job, watched_s: float) -> Verdict | None:
    """Nothing is proven, but too little was seen to call it well, or what the ranks do does not look well."""
    if watched_s < EARLY_S:
        return Verdict(level="unknown", text=f"Too early for a verdict after {span(watched_s)}{_pace(job, watched_s)}")
    live = [rank for rank in job.ranks if rank.is_alive]
    if is_unmoved(live):
        text = (
            f"Nothing proven wrong in {span(watched_s)}; nothing has moved for {span(gap_s(live))}: {conclusion(job)}"
        )
        return Verdict(level="info", text=text)
    if not any(_has_moved(rank, watched_s) for rank in live):
        stacks = "" if any(rank.stack.phase for rank in live) else ", and no stacks are read"
        text = f"No progress seen in {span(watched_s)}: no step, no log line{stacks}{conclusion_after_colon(job)}"
        return Verdict(level="unknown", text=text)
    waiting = [rank.rank for rank in job.ranks if rank.state == "data-wait"]
    what = (
        f"{named(waiting)} {do(waiting, 'wait')} mostly for data"
        if waiting
        else _awaited(live) or _slow(live) or _interrupted(live)
    )
    return None if what is None else Verdict(level="info", text=f"Nothing proven wrong in {span(watched_s)}; {what}")


def _has_moved(rank: Rank, watched_s: float) -> bool:
    """It reported something since the watch began, or was seen at another place in the second half of it."""
    reported_s = silent_of(rank)
    if reported_s is not None and reported_s < watched_s:
        return True
    return rank.stack.phase is not None and max(evidence_s(rank, "idle"), evidence_s(rank, "busy")) < watched_s / 2


def _awaited(live: Sequence[Rank]) -> str | None:
    """Some wait for others for improbably long, who seem to go on."""
    waiting = [rank for rank in live if rank.liveness is not None and rank.liveness.state == "waiting"]
    known = [rank.liveness for rank in waiting if rank.liveness is not None and rank.liveness.waits_for]
    if not known:
        return None
    numbers = [rank.rank for rank in waiting]
    gap_s = min(each.gap_s or 0.0 for each in known)
    return f"{named(numbers)} {do(numbers, 'wait')} for {named(known[0].waits_for)}, for {span(gap_s)} so far"


def _slow(live: Sequence[Rank]) -> str | None:
    """Others seem to wait for one rank; too few samples prove it."""
    slow = next((rank for rank in live if rank.state == "slow"), None)
    if slow is None:
        return None
    others = [rank for rank in live if rank is not slow]
    shares = [rank.stack.wait_share for rank in others if rank.stack.wait_share is not None]
    if not shares:
        return None
    numbers = [rank.rank for rank in others]
    return (
        f"{named(numbers)} {do(numbers, 'wait')} {percent(median(shares))} of the time, it seems for rank {slow.rank}"
    )


def _interrupted(live: Sequence[Rank]) -> str | None:
    """Something beside the training takes long, which it may; or takes most of the time."""
    for rank in live:
        if rank.state in _INSTEAD and (rank.stack.phase_for_s or 0.0) >= INSTEAD_S:
            return f"rank {rank.rank} {_INSTEAD[rank.state]} for {span(rank.stack.phase_for_s or 0.0)}"
        for phase, verb in _BESIDE.items():
            if rank.progress.step_time_s is not None and share_of(rank, phase) >= MOSTLY:
                return f"rank {rank.rank} {verb} {percent(share_of(rank, phase))} of the time"
    return None


def _where(job: Job, since_s: float) -> str:
    """Where all stand, to end a sentence about what has not come since then; "" where a stack is older: it shows what was before."""
    read_s = [rank.stack.dump.at_s for rank in job.ranks if rank.is_alive and rank.stack.dump is not None]
    return conclusion_after_colon(job) if min(read_s, default=since_s) >= since_s else ""


def _overdue(job: Job, now_s: float) -> Verdict | None:
    """A step should have come by now."""
    late = late_ranks(job.ranks)
    age_s = newest_step_s(late)
    if age_s is None:
        return None
    times = [rank.progress.step_time_s for rank in late if rank.progress.step_time_s is not None]
    usual = f", usually {median(times):.3g} s" if times else ""
    who = named(rank.rank for rank in late)
    text = f"No step of {who} for {span(age_s)}{usual}{_where(job, now_s - age_s)}"
    return Verdict(level="info", text=text)


def _silent(job: Job, now_s: float, watched_s: float) -> Verdict | None:
    """No log line where several should have come; who evaluates, saves or starts may be silent for long."""
    live = [rank for rank in job.ranks if rank.is_alive]
    telling = [rank for rank in live if rank.log.age_s is not None and rank.log.interval_s]
    if not telling or any(rank.state in _QUIET for rank in telling):
        return None
    age_s = silence_s(live)
    usual_s = median(rank.log.interval_s or 0.0 for rank in telling)
    if age_s <= SILENT_TIMES * usual_s + SILENT_S:
        return None
    text = f"Nothing proven wrong in {span(watched_s)}; no log line for {span(age_s)}, usually every {usual_s:.2g} s"
    text += _where(job, now_s - age_s)
    return Verdict(level="info", text=text)


def _pace(job: Job, watched_s: float) -> str:
    steps = [
        rank.progress.newest.step
        for rank in job.ranks
        if rank.progress.newest and rank.progress.newest.step is not None
    ]
    times = [rank.progress.step_time_s for rank in job.ranks if rank.progress.step_time_s is not None]
    parts = [f"step {max(steps)}"] if steps else []
    if times:
        parts.append(f"{median(times):.3g} s/step")
    if not parts and not any(rank.progress.newest for rank in job.ranks) and watched_s >= ANSWERED_S:
        return "; no step or loss in a log"
    return ": " + ", ".join(parts) if parts else ""


def _exit_codes(job: Job) -> str:
    codes = {rank.rank: rank.exit_code for rank in job.ranks if rank.exit_code is not None}
    return ": " + ", ".join(f"rank {rank} exit code {code}" for rank, code in codes.items()) if codes else ""

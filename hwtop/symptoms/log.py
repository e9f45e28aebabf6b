"""Symptoms that the job's own log tells: loss-nan, cuda-oom, nccl-timeout, rank-crash and the other pattern ids."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import isfinite

from hwtop.job.kernel.event import PATH
from hwtop.job.rank_set import named
from hwtop.model.job import Job
from hwtop.model.log import LogEvent
from hwtop.model.rank import Rank
from hwtop.model.symptom import Category
from hwtop.symptoms.history import History
from hwtop.symptoms.log_evidence import ranks_behind, sentences, steps
from hwtop.symptoms.playbooks import playbooks
from hwtop.symptoms.ranks import check_dead
from hwtop.symptoms.rule import Observation, Rule

_WIDTH = 240
_ENDS_A_RANK = frozenset({"rank-crash", "segfault", "device-side-assert", "illegal-memory-access"})
"""After which no rank trains on: its process is gone, or its CUDA context can no longer be used."""
_HOLDS_A_RANK = frozenset(
    {"host-oom-kill", "cuda-oom", "nccl-timeout", "nccl-error", "collective-mismatch", "rendezvous-timeout"}
)
"""After which a rank trains on only if the error was caught."""
_CAUGHT = "its process lives: the exception may have been caught"
_TALK = "the training goes on: the error was caught, or the line is a text about such an error"
_LOOSE = "common wording"
"""Source of the patterns that know no program's own message: a sample that a language model wrote may read like it."""
DOUBT_S = 30.0
"""... so its rank gets two of its usual intervals, and so long at most, to tell another step. Engineering default."""
CAUGHT_S = 6.0
"""An exception in the log of a rank that lives may have been caught and logged: two of its usual intervals may pass without a step,
or so long where nobody knows them, and so long at most twice. Engineering default."""
DISPROVED_S = 2.0
"""A crash that is not observed any more was none: its rank has told a step since."""
CRASH_RAISE_S = 2.0
"""A launcher tells in its log that a rank failed a moment before one can see how: by an exception, or by a signal."""


TOLD = (
    "loss-nan",
    "cuda-oom",
    "nccl-timeout",
    "nccl-error",
    "rank-crash",
    "device-side-assert",
    "illegal-memory-access",
    "segfault",
    "host-oom-kill",
    "shm-full",
    "disk-full",
    "too-many-open-files",
    "port-in-use",
    "rendezvous-timeout",
    "import-or-version-error",
    "checkpoint-error",
    "preemption",
    "filesystem-hang",
    "network-link",
    "hub-network",
    "dataloader-worker-killed",
    "dataloader-oversubscribed",
    "recompile-storm",
    "loss-scale-overflow",
    "grad-explosion",
    "loss-spike",
    "driver-mismatch",
    "ecc-error",
    "gpu-lost",
    "gpu-driver-hang",
    "xid",
    "row-remap-pending",
    "nvlink-errors",
    "pcie-degraded",
    "kernel-stall",
    "process-limit",
    "gpu-thermal-throttle",
    "gpu-power-cap",
    "gpu-hw-slowdown",
    "cpu-thermal-throttle",
)
"""Symptoms that a line of a log raises, in the order in which findings of one severity are shown."""


def check_pattern(symptom: str, history: History) -> Observation | None:
    """The earliest line that tells this symptom. Context never raises; a cascade only where no root is known."""
    job = history.job
    if job is None:
        return None
    events: list[LogEvent] = []
    beside: list[LogEvent] = []
    for event in job.events:
        if event.pattern == symptom:
            (events if _counts(job, event) else beside).append(event)
    is_summary = symptom == "rank-crash" and not any(event.role == "root" for event in events)
    if is_summary and check_dead(history) is not None:
        return None  # of a launcher, or what the others felt of it: rank-dead tells who went first
    if not events:
        return None
    events.sort(key=lambda event: event.role != "root")  # a launcher's summary may be read before the traceback itself
    has_root = any(event.role == "root" for event in job.events)
    telling = [event for event in events if event.role != "cascade"] or ([] if has_root else events)
    if not telling:
        return None
    first = telling[0]
    is_doubted = all(_is_doubted(job, event, history.now.at_s) for event in telling)
    doubt = (_CAUGHT if symptom in _ENDS_A_RANK else _TALK,)
    return Observation(
        severity="info" if is_doubted else first.severity,
        confidence=0.3 if is_doubted else {"root": 0.95, "confirmation": 0.8}.get(first.role, 0.6),
        title=_title(first, events),
        evidence=(*sentences([*events, *beside]), *_evidence(events), *(doubt if is_doubted else ())),
        next_steps=tuple(dict.fromkeys((*steps(telling), *_next_steps(symptom)))),
        ranks=ranks_behind(events)
        or tuple(sorted({event.rank for event in _causes(telling) if event.rank is not None})),
        log_line=first.text,
    )


def check_loss_nan(history: History) -> Observation | None:
    """The newest loss is not a number. A single bad value that went away again is not raised."""
    job = history.job
    if job is None:
        return None
    bad = [
        rank
        for rank in job.ranks
        if rank.progress and rank.progress.loss is not None and not isfinite(rank.progress.loss)
    ]
    if not bad:
        return check_pattern("loss-nan", history) if not _has_finite_loss(job) else None
    event = next((event for event in job.events if event.pattern == "loss-nan"), None)
    step = bad[0].progress.step if bad[0].progress else None
    return Observation(
        severity="critical",
        confidence=0.97,
        title=f"Loss is {bad[0].progress.loss if bad[0].progress else 'nan'} on {named(rank.rank for rank in bad)}"
        + (f" at step {step}" if step is not None else ""),
        evidence=tuple(f"rank {rank.rank}: {(rank.last_line or '')[:_WIDTH]}" for rank in bad[:4])
        + ((f"a bad line: {event.text[:_WIDTH]}",) if event else ()),
        next_steps=playbooks()["loss-nan"].steps,
        ranks=tuple(rank.rank for rank in bad),
        log_line=event.text if event else bad[0].last_line,
    )


def _has_finite_loss(job: Job) -> bool:
    return any(rank.progress and rank.progress.loss is not None for rank in job.ranks)


def _counts(job: Job, event: LogEvent) -> bool:
    return event.role != "context" and not (event.pattern in _ENDS_A_RANK and _went_on(job, event))


def _went_on(job: Job, event: LogEvent) -> bool:
    """Its rank lives, and told a step after that: the exception was caught, or the line is a text about such an error."""
    concerned = _concerned(job, event)
    return all(rank.is_alive for rank in concerned) and any(
        rank.step_told_at_s is not None and rank.step_told_at_s > event.at_s for rank in concerned
    )


def _is_doubted(job: Job, event: LogEvent, now_s: float) -> bool:
    """It reads like an error that holds a rank, but nothing proves that it does: a step came after it, or may still come."""
    may_be_caught = event.pattern in _ENDS_A_RANK
    if not may_be_caught and (event.pattern not in _HOLDS_A_RANK or _LOOSE not in event.source):
        return False
    concerned = _concerned(job, event)
    if not all(rank.is_alive for rank in concerned) or not any(rank.progress for rank in concerned):
        return False
    usual_s = [rank.log_interval_s for rank in concerned if rank.log_interval_s is not None]
    unknown_s, most_s = (CAUGHT_S, 2 * CAUGHT_S) if may_be_caught else (DOUBT_S / 2, DOUBT_S)
    wait_s = max(CRASH_RAISE_S, 2 * max(usual_s)) if usual_s else unknown_s
    return _went_on(job, event) or now_s - event.at_s < min(most_s, wait_s)


def _concerned(job: Job, event: LogEvent) -> list[Rank]:
    return [rank for rank in job.ranks if event.rank in (None, rank.rank)]


def _causes(telling: Sequence[LogEvent]) -> Sequence[LogEvent]:
    """Those whose ranks are to blame: roots where there are any; nobody whom a launcher merely ended (SIGTERM)."""
    roots = [event for event in telling if event.role == "root"]
    return roots or [event for event in telling if event.groups.get("exit") != "-15"]


def _title(first: LogEvent, events: Sequence[LogEvent]) -> str:
    if first.path == PATH and first.title:
        return first.title  # who was killed, and which limit was reached
    who = f" on rank {first.rank}" if first.rank is not None else ""
    more = f" ({len(events)} lines)" if len(events) > 1 else ""
    known = playbooks().get(first.pattern)
    return f"{known.title if known else first.title or first.pattern}{who}{more}"


def _next_steps(symptom: str) -> tuple[str, ...]:
    known = playbooks().get(symptom)
    return known.steps if known else ()


def _evidence(events: Sequence[LogEvent]) -> tuple[str, ...]:
    lines = []
    for event in events[:3]:
        number = f":{event.line_no}" if event.line_no is not None else ""
        past = ", written before hwtop attached" if event.is_past else ""
        lines.append(f"{event.path}{number}{past}: {event.text[:_WIDTH]}")
    lines.append(events[0].explanation)
    return tuple(lines)


def _rule(symptom: str, category: Category) -> Rule:
    return Rule(
        symptom=symptom,
        category=category,
        threshold="a line of the job's log matches (`hwtop scan` tells which)",
        raise_s=CRASH_RAISE_S if symptom in _ENDS_A_RANK else 0.0,
        clear_s=DISPROVED_S if symptom in _ENDS_A_RANK else 60.0,
        check=partial(check_pattern, symptom),
    )


_MORE_WITNESSES = frozenset(
    {
        "dataloader-oversubscribed",
        "dataloader-worker-killed",
        "driver-mismatch",
        "ecc-error",
        "gpu-driver-hang",
        "gpu-hw-slowdown",
        "gpu-lost",
        "gpu-power-cap",
        "gpu-thermal-throttle",
        "grad-explosion",
        "loss-nan",
        "loss-scale-overflow",
        "loss-spike",
        "nvlink-errors",
        "pcie-degraded",
        "recompile-storm",
        "row-remap-pending",
        "xid",
    }
)
"""Symptoms that not only the log tells: their rules stand with the GPUs, the workers, the interruptions and the curves."""

RULES = tuple(_rule(symptom, playbooks()[symptom].category) for symptom in TOLD if symptom not in _MORE_WITNESSES)

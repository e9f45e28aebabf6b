"""Symptoms that the job's own log tells: loss-nan, cuda-oom, nccl-timeout, rank-crash and the other pattern ids."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from msgspec.structs import replace

from hwtop.job.kernel.event import PATH
from hwtop.job.rank_set import named
from hwtop.model.job import Job
from hwtop.model.log import LogEvent
from hwtop.model.rank import Rank
from hwtop.symptoms.hang.ranks import check_dead
from hwtop.symptoms.history import History
from hwtop.symptoms.log_evidence import ranks_behind, sentences, steps
from hwtop.symptoms.records import Fatal, records
from hwtop.symptoms.rule import Observation, observed
from hwtop.symptoms.severity import worst

_WIDTH = 240
_CAUGHT = "its process lives: the exception may have been caught"
_TALK = "the training goes on: the error was caught, or the line is a text about such an error"
_LOOSE = "common wording"
"""Source of the patterns that know no program's own message: a sample that a language model wrote may read like it."""
DOUBT_S = 30.0
"""... so its rank gets two of its usual intervals, and so long at most, to tell another step. Engineering default."""
CAUGHT_S = 6.0
"""An exception in the log of a rank that lives may have been caught and logged: two of its usual intervals may pass without a step,
or so long where nobody knows them, and so long at most twice. Engineering default."""
CRASH_RAISE_S = 2.0
"""A launcher writes into its log that a rank failed a moment before one can see how: by an exception, or by a signal. As in the
records of what is always fatal."""


def check_pattern(symptom: str, history: History) -> Observation | None:
    """The earliest line that tells this symptom. Context never raises; a cascade only where no root is known."""
    job = history.job
    if job is None:
        return None
    events: list[LogEvent] = []
    beside: list[LogEvent] = []
    for event in job.logs.events:
        if event.pattern == symptom:
            (events if _counts(job, event) else beside).append(event)
    is_summary = symptom == "rank-crash" and not any(event.role == "root" for event in events)
    if is_summary and check_dead(history) is not None:
        return None  # of a launcher, or what the others felt of it: rank-dead tells who went first
    if not events:
        return None
    events.sort(key=lambda event: event.role != "root")  # a launcher's summary may be read before the traceback itself
    has_root = any(event.role == "root" for event in job.logs.events)
    telling = [event for event in events if event.role != "cascade"] or ([] if has_root else events)
    if not telling:
        return None
    first = telling[0]
    is_doubted = all(_is_doubted(job, event, history.now.at_s) for event in telling)
    doubt = (_CAUGHT if _is_fatal(symptom, "always") else _TALK,)
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


def joined(symptom: str, history: History, seen: Observation | None) -> Observation | None:
    """One finding of what a rule measured and of what a log says of the same symptom; the graver of the two has the title."""
    reported = check_pattern(symptom, history)
    if seen is None or reported is None:
        return seen or reported
    first, second = (seen, reported) if worst((seen.severity, reported.severity)) == seen.severity else (reported, seen)
    return replace(
        first,
        evidence=(*first.evidence, *second.evidence[:2]),
        next_steps=tuple(dict.fromkeys((*first.next_steps, *second.next_steps))),
        ranks=tuple(sorted({*seen.ranks, *reported.ranks})),
        log_line=reported.log_line,
    )


def check_loss_nan(history: History) -> Observation | None:
    """The newest loss is not a number. A single bad value that went away again is not raised."""
    job = history.job
    if job is None:
        return None
    bad = [
        rank
        for rank in job.ranks
        if rank.progress.newest and rank.progress.newest.loss is not None and not isfinite(rank.progress.newest.loss)
    ]
    if not bad:
        return check_pattern("loss-nan", history) if not _has_finite_loss(job) else None
    event = next((event for event in job.logs.events if event.pattern == "loss-nan"), None)
    newest = bad[0].progress.newest
    step = newest.step if newest else None
    return observed(
        "loss-nan",
        confidence=0.97,
        facts={"loss": str(newest.loss if newest else "nan"), "ranks": named(rank.rank for rank in bad), "step": step},
        evidence=tuple(f"rank {rank.rank}: {(rank.log.last_line or '')[:_WIDTH]}" for rank in bad[:4])
        + ((f"a bad line: {event.text[:_WIDTH]}",) if event else ()),
        ranks=tuple(rank.rank for rank in bad),
        log_line=event.text if event else bad[0].log.last_line,
    )


def _has_finite_loss(job: Job) -> bool:
    return any(rank.progress.newest and rank.progress.newest.loss is not None for rank in job.ranks)


def _counts(job: Job, event: LogEvent) -> bool:
    return event.role != "context" and not (_is_fatal(event.pattern, "always") and _went_on(job, event))


def _went_on(job: Job, event: LogEvent) -> bool:
    """Its rank lives, and told a step after that: the exception was caught, or the line is a text about such an error."""
    concerned = _concerned(job, event)
    return all(rank.is_alive for rank in concerned) and any(
        rank.progress.reported_at_s is not None and rank.progress.reported_at_s > event.at_s for rank in concerned
    )


def _is_doubted(job: Job, event: LogEvent, now_s: float) -> bool:
    """It reads like an error that holds a rank, but nothing proves that it does: a step came after it, or may still come."""
    may_be_caught = _is_fatal(event.pattern, "always")
    if not may_be_caught and (not _is_fatal(event.pattern, "unless-caught") or _LOOSE not in event.source):
        return False
    concerned = _concerned(job, event)
    if not all(rank.is_alive for rank in concerned) or not any(rank.progress.newest for rank in concerned):
        return False
    usual_s = [rank.log.interval_s for rank in concerned if rank.log.interval_s is not None]
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
    known = records().get(first.pattern)
    return f"{known.title if known else first.title or first.pattern}{who}{more}"


def _next_steps(symptom: str) -> tuple[str, ...]:
    known = records().get(symptom)
    return known.steps_with({}) if known else ()


def _evidence(events: Sequence[LogEvent]) -> tuple[str, ...]:
    lines = []
    for event in events[:3]:
        number = f":{event.line_no}" if event.line_no is not None else ""
        past = ", written before hwtop attached" if event.is_past else ""
        lines.append(f"{event.path}{number}{past}: {event.text[:_WIDTH]}")
    lines.append(events[0].explanation)
    return tuple(lines)


def _is_fatal(symptom: str, how: Fatal) -> bool:
    record = records().get(symptom)
    return record is not None and record.fatal == how

"""Symptoms that the job's own log tells: loss-nan, cuda-oom, nccl-timeout, rank-crash and the other pattern ids."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from msgspec.structs import replace

from hwtop.job.kernel.event import PATH
from hwtop.job.rank_set import named
from hwtop.model.job import Job
from hwtop.model.rank import Rank
from hwtop.model.reported.log import LogEvent, Severity
from hwtop.symptoms.hang.dead import check_dead
from hwtop.symptoms.history import History
from hwtop.symptoms.host.storage import may_be_full
from hwtop.symptoms.log_evidence import ranks_behind, sentences, steps
from hwtop.symptoms.log_support import Support, support_of, went_on
from hwtop.symptoms.records import Fatal, records
from hwtop.symptoms.rule import Observation, observed
from hwtop.symptoms.severity import SEVERITIES, worst
from hwtop.symptoms.text import SHOWN, quoted

_CONFIDENCE = {"root": 0.95, "confirmation": 0.8}
"""By role of the pattern, where something else shows it too. Engineering default."""


_SAID = 80
"""Characters of an exception in a title. Engineering default."""


def check_pattern(symptom: str, history: History) -> Observation | None:
    """The earliest line that tells this symptom. Context never raises; a cascade only where no root is known."""
    job = history.job
    if job is None:
        return None
    events: list[LogEvent] = []
    beside: list[LogEvent] = []
    for event in (*job.logs.events, *job.logs.unproven_events):
        if _kind(event, history) == symptom:
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
    support = support_of(telling, history)
    severity = _severity(first, support)
    is_alone = support.most == "info" != first.severity and severity == "info"
    return Observation(
        severity=severity,
        confidence=0.3 if is_alone else _CONFIDENCE.get(first.role, 0.6) if support.most == "critical" else 0.6,
        title=_title(first, events, is_alone=is_alone),
        evidence=(*sentences([*events, *beside]), *_evidence(events), support.words),
        next_steps=tuple(dict.fromkeys((*steps(telling), *_next_steps(symptom)))),
        ranks=ranks_behind(events)
        or tuple(sorted({event.rank for event in _causes(telling) if event.rank is not None})),
        log_line=first.text,
    )


def _kind(event: LogEvent, history: History) -> str:
    """Its symptom. A file that could not be written whole shows a full disk only where one may be full: else a limit of the size of
    files, or the storage itself, has cut it off."""
    is_cut = event.pattern == "disk-full" and "partial" in event.groups
    return "checkpoint-error" if is_cut and not may_be_full(history.now.mounts) else event.pattern


def severity_of(event: LogEvent, history: History) -> Severity:
    """Of one line, as far as something besides it shows that it is about this job."""
    return _severity(event, support_of((event,), history))


def _severity(event: LogEvent, support: Support) -> Severity:
    """What nothing else shows is a note where it would be critical, or would say that a rank is held or gone."""
    record = records().get(event.pattern)
    if record is None:  # a person's own pattern has its own severity
        return event.severity
    return max(event.severity, support.most, key=SEVERITIES.index)


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


def check_loss_nan(history: History, since: int | None = None) -> Observation | None:
    """The newest loss is not a number. A single bad value that went away again is not raised. `since`: first such step."""
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
        facts={
            "loss": str(newest.loss if newest else "nan"),
            "ranks": named(rank.rank for rank in bad),
            "step": step,
            "since_step": since,
        },
        evidence=tuple(f"rank {rank.rank}: {_bad_value(rank)}" for rank in bad[:SHOWN])
        + ((f"a bad line: {quoted(event.text)}",) if event else ()),
        ranks=tuple(rank.rank for rank in bad),
        log_line=event.text if event else bad[0].log.last_line,
    )


def _bad_value(rank: Rank) -> str:
    """Its last line where that tells of it; after an error that is another one."""
    newest, said = rank.progress.newest, rank.log.last_line or ""
    if newest is None or any(word in said.lower() for word in ("nan", "inf")):
        return quoted(said)
    return f"loss {newest.loss}" + (f" at step {newest.step}" if newest.step is not None else "")


def _has_finite_loss(job: Job) -> bool:
    return any(rank.progress.newest and rank.progress.newest.loss is not None for rank in job.ranks)


def _counts(job: Job, event: LogEvent) -> bool:
    return event.role != "context" and not (_is_fatal(event.pattern, "always") and went_on(job, event))


def _causes(telling: Sequence[LogEvent]) -> Sequence[LogEvent]:
    """Those whose ranks are to blame: roots where there are any; nobody whom a launcher merely ended (SIGTERM)."""
    roots = [event for event in telling if event.role == "root"]
    return roots or [event for event in telling if event.groups.get("exit") != "-15"]


def _title(first: LogEvent, events: Sequence[LogEvent], *, is_alone: bool) -> str:
    if first.path == PATH and first.title:
        return first.title  # who was killed, and which limit was reached
    if first.pattern == "rank-crash" and "exception" in first.groups:
        return _title_of_exception(first)
    who = f" on rank {first.rank}" if first.rank is not None else ""
    more = f" ({len(events)} lines)" if len(events) > 1 else ""
    known = records().get(first.pattern)
    return (
        f"{'Only a line says: ' if is_alone else ''}{known.title if known else first.title or first.pattern}{who}{more}"
    )


def _title_of_exception(event: LogEvent) -> str:
    """ "Rank 1 has crashed: KeyError: 'image_size' (train.py:18 in load_meta)"."""
    who = "A rank" if event.rank is None else f"Rank {event.rank}"
    said = ": ".join(filter(None, (event.groups["exception"].rsplit(".", 1)[-1], event.groups.get("message"))))
    place = event.groups.get("at", "").rsplit("/", 1)[-1]
    return f"{who} has crashed: {quoted(said, _SAID)}{f' ({place})' if place else ''}"


def _next_steps(symptom: str) -> tuple[str, ...]:
    known = records().get(symptom)
    return known.steps_with({"is_log_line": True}) if known else ()


def _evidence(events: Sequence[LogEvent]) -> tuple[str, ...]:
    lines = []
    for event in events[:3]:
        number = f":{event.line_no}" if event.line_no is not None else ""
        past = ", written before hwtop attached" if event.is_past else ""
        lines.append(f"{quoted(event.path)}{number}{past}: {quoted(event.text)}")
    lines.append(events[0].explanation)
    return tuple(lines)


def _is_fatal(symptom: str, how: Fatal) -> bool:
    record = records().get(symptom)
    return record is not None and record.fatal == how

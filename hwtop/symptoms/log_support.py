"""Log support: what besides a line shows that it is about this job, now. Pure.

A line alone proves little: a data set, a help text and the log of an earlier job hold the same words.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from hwtop.job.hang.liveness import LEVEL, SUSPECT, phi_of_prior, phi_of_silence
from hwtop.job.kernel.event import PATH
from hwtop.job.log.level import SEARCHED
from hwtop.job.rank_set import named
from hwtop.model.evidence import REPEATED
from hwtop.model.job import Job
from hwtop.model.rank import Rank
from hwtop.model.reported.log import LogEvent, LogLevel, Severity
from hwtop.symptoms.gpu.words import has_gpu
from hwtop.symptoms.history import History
from hwtop.symptoms.records import Record, records
from hwtop.symptoms.severity import SEVERITIES

_OF_KERNEL = (PATH, "memory.events", "/proc/vmstat")
_OF_DRIVER = "NVRM: "
"""Stands before what the NVIDIA driver writes into the kernel's log, which people pipe into logs of jobs."""
_LEVELS: dict[LogLevel | None, str] = {"error": "an error", "critical": "fatal"}
_HALTED = ("stuck", "stalled", "stopped", "dead")
_PRIOR_S = 12.0
"""As `liveness.PRIOR_S`, of a rank that is alive and logged an error: one in a thousand goes on after a longer gap. Engineering default."""
_NOTICED_S = 2.0
"""A launcher logs that a rank failed a moment before its end can be seen. As `raise_s` of what is always fatal. Engineering default."""
_CAUGHT = "its process lives: the exception may have been caught"
_TALK = "nothing else shows it: the error was caught, or the line is a text about such an error"
_EARLIER = (
    "it was in the file before hwtop came, and may be an earlier job's: the file may hold what is older than this job"
)


class Support(Struct, frozen=True):
    """How far a line is to be believed."""

    most: Severity
    """It is raised no higher; "info": nothing but the line says so."""
    words: str
    """What shows it, or what is missing."""


def support_of(events: Sequence[LogEvent], history: History) -> Support:
    """Of lines that say the same: the best of each, or that they come again and again."""
    best = min((_support_of(event, history) for event in events), key=lambda each: SEVERITIES.index(each.most))
    own = [event for event in events if event.writer == "job"]
    texts = {event.text for event in own}
    job = history.job
    if best.most != "info" or job is None or len(texts) < REPEATED:
        return best
    record = records().get(own[0].pattern)
    if record is not None and record.fatal is not None and any(went_on(job, event) for event in own):
        return best  # a language model that is asked about errors writes of many
    return Support("critical", f"{len(texts)} different lines say so")


def _support_of(event: LogEvent, history: History) -> Support:
    job = history.job
    assert job is not None
    if event.path in _OF_KERNEL:
        return Support("critical", "the kernel itself reports it")
    failed = [rank.rank for rank in job.ranks if not rank.is_alive and rank.exit_code != 0]
    if failed or (job.has_ended and not job.ranks):
        return Support("critical", f"{named(failed)} ended and did not exit with 0" if failed else "the job has ended")
    if event.writer == "unknown":
        return Support("info", _EARLIER)
    record = records().get(event.pattern)
    form = _form(event)
    if record is not None and record.fatal is not None and went_on(job, event):
        is_grave = form is not None and event.severity == "critical"  # a retry that is told as an error went well
        return Support("warning", f"{form}, and the training goes on") if is_grave else Support("info", _TALK)
    ranks = concerned(job, event)
    if any(_has_stopped(rank, event, history.now.at_s) for rank in ranks):
        return Support("critical", "no step since then")
    if record is not None and record.fatal == "always" and any(rank.progress.newest for rank in ranks):
        return Support(
            "info", _CAUGHT
        )  # whoever retries a download logs the traceback and goes on; the next step tells
    shown = form or _device(ranks, record, history)
    if shown is not None:
        return Support("critical", shown)
    if event.level == "warning" and (
        record is None or record.fatal is None
    ):  # no logger only warns of a rank that is gone
        return Support("warning", "its logger calls it a warning")
    return Support("info" if event.severity == "critical" else event.severity, _TALK)


def went_on(job: Job, event: LogEvent) -> bool:
    """Its rank lives, and told a step after that: the exception was caught, or the line is a text about such an error."""
    ranks = concerned(job, event)
    return all(rank.is_alive for rank in ranks) and any(
        rank.progress.reported_at_s is not None and rank.progress.reported_at_s > event.at_s for rank in ranks
    )


def concerned(job: Job, event: LogEvent) -> Sequence[Rank]:
    """The rank that the line is about, or all where nobody knows; not one that ended well."""
    ranks = [rank for rank in job.ranks if rank.is_alive or rank.exit_code != 0]
    return [rank for rank in ranks if event.rank in (None, rank.rank)]


def _form(event: LogEvent) -> str | None:
    """How it was printed: people and data sets do not write tracebacks, nor a logger's prefix."""
    if not event.source:
        return "its numbers say so"  # no pattern of words, but a value that the line tells
    if _OF_DRIVER in event.text[:SEARCHED]:
        return "the driver itself reports it"
    if event.lines > 1:
        return f"{event.lines} lines that belong together"
    return f"its logger calls it {_LEVELS[event.level]}" if event.level in _LEVELS else None


def _device(ranks: Sequence[Rank], record: Record | None, history: History) -> str | None:
    is_of_gpu = record is not None and record.of_gpu
    return "the job has such a device" if is_of_gpu and has_gpu(history, ranks) else None


def _has_stopped(rank: Rank, event: LogEvent, now_s: float) -> bool:
    """The error is evidence of its own: one healthy gap in a hundred that is longer is enough; one in a thousand where steps take long."""
    if rank.state in _HALTED:
        return True
    stepped_s = rank.progress.reported_at_s
    if rank.progress.newest is None or (stepped_s is not None and stepped_s > event.at_s):
        return False
    gap_s, usual_s = now_s - event.at_s, rank.log.interval_s
    surprise = phi_of_prior(gap_s, _PRIOR_S)
    if usual_s is None:
        return surprise >= SUSPECT
    return gap_s >= _NOTICED_S and (surprise >= LEVEL or phi_of_silence(gap_s, usual_s) >= SUSPECT)

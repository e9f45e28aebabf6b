"""Signals that the user sent through hwtop: what they did to the job is no finding. Pure."""

from __future__ import annotations

from hwtop.job.rank_set import named
from hwtop.model.frame import DerivedState
from hwtop.model.job import Job
from hwtop.model.signal import SentSignal
from hwtop.seconds import clock

_ENDS = frozenset({"SIGTERM", "SIGINT", "SIGKILL"})
_HALTS = _ENDS | {"SIGSTOP"}
"""What ends or stops a process. What SIGUSR1 and SIGUSR2 do, only the job knows."""


def acting(job: Job | None) -> SentSignal | None:
    """The newest signal that ends or stops a process of the job, until the job has reported a step after it, or was continued."""
    if job is None or not job.sent_signals or job.sent_signals[-1].signal not in _HALTS:
        return None
    sent = job.sent_signals[-1]
    reported = (rank.progress.reported_at_s for rank in job.ranks if rank.is_alive)
    return None if any(at_s is not None and at_s > sent.at_s for at_s in reported) else sent


def sentence(sent: SentSignal, derived: DerivedState, before: str | None) -> str:
    """ "Ended by you (SIGTERM to rank 3 at 08:11:44); before: rank 2 hung in train.py:7"."""
    job = derived.job
    assert job is not None
    what = "Ended" if job.has_ended else "Paused" if sent.signal == "SIGSTOP" else "Interrupted"
    time_s = derived.time_s - (derived.at_s - sent.at_s)
    tail = "" if before is None else f"; before: {before}"
    return f"{what} by you ({sent.signal} to {_whom(sent, job)} at {clock(time_s)}){tail}"


def _whom(sent: SentSignal, job: Job) -> str:
    ranks = [rank.rank for rank in job.ranks if rank.pid in sent.pids]
    if job.launcher is not None and job.launcher.pid in sent.pids:
        return "the launcher" if not ranks else "all processes"
    if ranks:
        return named(ranks)
    return f"PID {sent.pids[0]}" if len(sent.pids) == 1 else f"{len(sent.pids)} processes"

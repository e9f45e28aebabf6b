"""The process of the job that makes what a rank reads from a pipe or socket."""

from __future__ import annotations

from collections import Counter
from statistics import fmean

from hwtop.model.member import JobProcess
from hwtop.model.rank import Rank
from hwtop.symptoms.history import History
from hwtop.symptoms.host.capacity import WINDOW_S

WORKER_BUSY_PCT = 70.0
"""A loader worker that uses this much of a core is bound by the CPU. Engineering default."""


def feeder(history: History, number: int) -> tuple[JobProcess, float | None] | None:
    """The process of the job that has the other end of what the training process reads, and its use of a core in percent, mean over the
    window; None where the kernel shows none, or several."""
    looks = [derived.job for derived in history.over(WINDOW_S) if derived.job is not None]
    calls = (seen.process.call for job in looks for seen in job.ranks if seen.rank == number)
    ends = Counter(
        call.peer_pids[0] for call in calls if call is not None and call.peer_pids and len(call.peer_pids) == 1
    )
    if not ends:
        return None
    rows = [row for job in looks for row in job.processes if row.pid == ends.most_common(1)[0][0]]
    known = [row.cpu_pct for row in rows if row.cpu_pct is not None]
    return (rows[-1], fmean(known) if known else None) if rows else None


def feeder_of(history: History, rank: Rank) -> tuple[JobProcess, float | None] | None:
    """The same of a rank that loads itself: several rules ask."""
    return None if rank.workers else history.once(feeder, rank.rank)


def busy_feeder(history: History, rank: Rank) -> JobProcess | None:
    """That process, where it keeps a core busy."""
    other = feeder_of(history, rank)
    return other[0] if other is not None and (other[1] or 0.0) >= WORKER_BUSY_PCT else None

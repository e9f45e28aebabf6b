"""Waiting for answers: of a server, a store, a simulator; in code that nothing shows to load data."""

from __future__ import annotations

from hwtop.job.hang.rank_state import share_of
from hwtop.job.kernel.wait import WaitKind
from hwtop.job.stacks.series import WINDOW_S as STACKS_S
from hwtop.model.evidence import MOSTLY
from hwtop.model.frame import DerivedState
from hwtop.model.rank import Rank
from hwtop.symptoms.gpu.load import gpu_util
from hwtop.symptoms.history import History
from hwtop.symptoms.host.capacity import WINDOW_S
from hwtop.symptoms.input.loading import DATA, loading_share
from hwtop.symptoms.input.waits import wait_of

_ANSWERS: frozenset[WaitKind] = frozenset({"network", "pipe"})
"""Waits for bytes that another process sends."""


def starved_share(history: History, rank: Rank) -> float:
    """Of its time: in data loading, or waiting for answers where there is hardly any."""
    return max(loading_share(rank), _answer_share(history, rank))


def awaits_answers(history: History, rank: Rank) -> bool:
    """They keep it, and not its data."""
    return _answer_share(history, rank) > loading_share(rank)


def _answer_share(history: History, rank: Rank) -> float:
    """Share of the time that it waits for bytes of others, in code of unknown purpose, between steps. 0 where it loads data; or where the
    job works for most of the time, on cores or on its GPU: then the answer is being worked out."""
    unknown = share_of(rank, "other")
    if unknown <= DATA.data_share or loading_share(rank) > DATA.data_share:
        return 0.0
    if any(worker.is_named_loader for worker in rank.workers) or not _steps(history, rank.rank):
        return 0.0
    works_pct = history.once(_works_pct)
    if works_pct is None or max(works_pct, gpu_util(history, rank, WINDOW_S) or 0.0) > 100 * MOSTLY:
        return 0.0
    looks = [wait_of(seen) for _, seen in history.of_rank(WINDOW_S, rank.rank)]
    return min(unknown, sum(kind in _ANSWERS for kind in looks) / max(1, len(looks)))


def _steps(history: History, number: int) -> bool:
    """A step has come before hwtop's eyes: one that never comes is a hang."""
    steps = history.rank_series(
        STACKS_S, number, lambda seen: seen.progress.newest.step if seen.progress.newest else None
    )
    return len({step for _, step in steps}) > 1


def _works_pct(history: History) -> float | None:
    return history.mean(WINDOW_S, _job_pct)


def _job_pct(derived: DerivedState) -> float | None:
    """CPU of all its processes, in percent of one core."""
    known = [row.cpu_pct for row in derived.job.processes if row.cpu_pct is not None] if derived.job else []
    return sum(known) if known else None

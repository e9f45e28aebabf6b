"""fd-leak: a process of the job opens files and does not close them."""

from __future__ import annotations

from msgspec import Struct

from hwtop.model.member import JobProcess
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed
from hwtop.symptoms.statistics import line_fit

LEAST_S = 20.0
FIT = 0.9
"""On a straight line (R squared)."""
_URGENT_S = 30.0
_OWN = ("rank", "loader-worker")
"""Whose leak is the job's own: a server that it talks to holds the other end of each connection that is not closed."""
_FIRST_LOOKS = 30
"""Open files are counted every few seconds only, and not at the very first look."""


FILES = limits_of("fd-leak")


class _Rise(Struct, frozen=True):
    process: JobProcess
    gained: int
    per_s: float
    seconds: float


def check_fd_leak(history: History, limits: Limits = FILES) -> Observation | None:
    """The number of open files of a rank or worker rises in a straight line."""
    candidates = _gainers(history, limits)
    rises = [rise for process in candidates if (rise := _rise(history, process, limits)) is not None]
    if not rises:
        return None
    worst = min(rises, key=lambda rise: (rise.process.role not in _OWN, _left_s(rise)))
    process, left_s = worst.process, _left_s(worst)
    is_used = (process.fd_count or 0) >= limits.used_share * (process.fd_limit or 0)
    is_urgent = left_s < 60 * limits.urgent_min and worst.seconds >= _URGENT_S
    is_soon = is_urgent or (is_used and left_s < 3600 * limits.warning_h)
    who = (
        f"rank {process.rank}"
        if process.rank is not None and process.role == "rank"
        else f"{process.role if process.role in _OWN else 'process'} {process.pid}"
    )
    limit = f" of {process.fd_limit} allowed" if process.fd_limit is not None else ""
    return observed(
        "fd-leak",
        severity="warning" if is_soon else "info",
        facts={"who": who[0].upper() + who[1:], "per_min": worst.per_s * 60, "pid": process.pid},
        confidence=0.85,
        evidence=(
            f"PID {process.pid}: +{worst.gained} in {worst.seconds:.0f} s, now {process.fd_count}{limit}",
            *(
                (f"the limit is reached in {_left(left_s)}: then every open() and every new batch fails",)
                if is_soon
                else ()
            ),
        ),
        ranks=() if process.rank is None else (process.rank,),
    )


def _gainers(history: History, limits: Limits) -> list[JobProcess]:
    """Processes that have clearly more files open than when the window began: only those are worth a closer look."""
    now = history.job
    before: dict[tuple[int, int | None], int] = {}
    for derived in history.over(limits.window_s)[:_FIRST_LOOKS]:
        for process in derived.job.processes if derived.job else ():
            if process.fd_count is not None:
                before.setdefault((process.pid, process.start_ticks), process.fd_count)
    if now is None:
        return []
    return [
        process
        for process in now.processes
        if process.fd_count is not None
        and (count := before.get((process.pid, process.start_ticks))) is not None
        and process.fd_count - count >= limits.gained
    ]


def _rise(history: History, process: JobProcess, limits: Limits) -> _Rise | None:
    points = [
        (derived.at_s, float(seen.fd_count))
        for derived in history.over(limits.window_s)
        for seen in (derived.job.processes if derived.job else ())
        if seen.pid == process.pid and seen.fd_count is not None
    ]
    if len(points) < 4 or points[-1][0] - points[0][0] < LEAST_S:
        return None
    gained = points[-1][1] - points[0][1]
    middle = points[len(points) // 2][1]
    slope, fit = line_fit(points)
    is_steady = min(middle - points[0][1], points[-1][1] - middle) >= gained / 4
    if gained < limits.gained or fit < FIT or not is_steady:
        return None
    return _Rise(process, int(gained), slope, points[-1][0] - points[0][0])


def _left_s(rise: _Rise) -> float:
    limit, count = rise.process.fd_limit, rise.process.fd_count
    return (limit - count) / rise.per_s if limit is not None and count is not None else float("inf")


def _left(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"

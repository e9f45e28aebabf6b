"""fd-leak: a process of the job opens files and does not close them, or has nearly as many open as it may."""

from __future__ import annotations

from msgspec import Struct

from hwtop.model.member import JobProcess
from hwtop.seconds import span
from hwtop.symptoms.history import History
from hwtop.symptoms.host.resources import LEAST_S, OPEN_FILES, Outlook, outlooks
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed
from hwtop.symptoms.text import roughly

_URGENT_S = 30.0
"""A rise that was seen for so long is trusted to reach the limit. Engineering default."""
_MANY = 4
"""Times `gained`, along a straight line: who opens so many and closes none never will. Engineering default."""
_OWN = ("rank", "loader-worker")
"""Whose leak is the job's own: a server that it talks to holds the other end of each connection that is not closed."""


FILES = limits_of("fd-leak")


class _Open(Struct, frozen=True):
    process: JobProcess
    files: Outlook

    def is_full(self, limits: Limits) -> bool:
        return self.files.share >= limits.full_share

    def leaks(self, limits: Limits) -> bool:
        rise = self.files.rise
        return rise is not None and rise.gained >= limits.gained and rise.seconds >= LEAST_S

    def is_serious(self, limits: Limits) -> bool:
        left_s, rise = self.files.left_s, self.files.rise
        is_urgent = rise is not None and left_s < 60 * limits.urgent_min and rise.seconds >= _URGENT_S
        is_steady = rise is not None and rise.seconds >= _URGENT_S and rise.fit >= limits.straight
        is_many = rise is not None and rise.gained >= _MANY * limits.gained
        is_soon = left_s < 3600 * limits.warning_h
        return is_urgent or (is_steady and (is_many or is_soon)) or (is_soon and self.files.share >= limits.used_share)


def check_fd_leak(history: History, limits: Limits = FILES) -> Observation | None:
    """The number of open files of a rank or worker rises in a straight line, or is near its limit."""
    found = history.once(outlooks, OPEN_FILES, limits.window_s)
    seen = [
        _Open(process, files)
        for process in (history.job.processes if history.job else ())
        if (files := found.get((process.pid, process.start_ticks))) is not None
    ]
    hit = [each for each in seen if each.leaks(limits) or each.is_full(limits)]
    if not hit:
        return None
    worst = min(hit, key=lambda each: (each.process.role not in _OWN, not each.is_full(limits), each.files.left_s))
    process, files = worst.process, worst.files
    is_full, rise = worst.is_full(limits), files.rise if worst.leaks(limits) else None
    is_serious = rise is not None and worst.is_serious(limits)
    who = (
        f"rank {process.rank}"
        if process.rank is not None and process.role == "rank"
        else f"{process.role if process.role in _OWN else 'process'} {process.pid}"
    )
    limit = f" of {process.fd_limit} allowed" if process.fd_limit is not None else ""
    return observed(
        "fd-leak",
        severity="warning" if is_full or is_serious else "info",
        facts={
            "who": who[0].upper() + who[1:],
            "count": process.fd_count if is_full else None,
            "limit": process.fd_limit,
            "per_min": rise.per_s * 60 if rise is not None else None,
            "pid": process.pid,
        },
        confidence=0.95 if is_full else 0.92,  # 11 of 11 right in the rounds 10 to 16
        evidence=(
            f"PID {process.pid}: {f'+{rise.gained:.0f} in {span(rise.seconds)}, ' if rise else ''}now {process.fd_count}{limit}",
            *(
                (f"the limit is reached in {roughly(files.left_s)}: then every open() and every new batch fails",)
                if is_serious and files.left_s < 48 * 3600
                else ()
            ),
        ),
        ranks=() if process.rank is None else (process.rank,),
    )

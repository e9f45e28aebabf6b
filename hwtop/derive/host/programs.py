"""What other trees of processes use over the time between two scans."""

from __future__ import annotations

from collections.abc import Collection

from hwtop.derive.host.rates import elapsed_s, per_second
from hwtop.model.process import CandidateReading, ProgramRates


def program_rates(previous: CandidateReading | None, current: CandidateReading) -> tuple[ProgramRates, ...]:
    """One entry for each tree there is now; without an earlier reading of it, its CPU time is not known (see `rates`)."""
    seconds = None if previous is None else elapsed_s(previous.at_s, current.at_s)
    before = {each.pid: each.cpu_ticks for each in previous.programs} if previous else {}
    found = []
    for each in current.programs:
        ticks_per_s = per_second(before.get(each.pid), each.cpu_ticks, seconds)
        found.append(
            ProgramRates(
                pid=each.pid,
                name=each.name,
                user=each.user,
                cpu_pct=None if ticks_per_s is None else 100.0 * ticks_per_s / current.ticks_per_s,
                rss_bytes=each.rss_bytes,
                pids=each.pids,
            )
        )
    return tuple(found)


def outside(programs: tuple[ProgramRates, ...], job_pids: Collection[int]) -> tuple[ProgramRates, ...]:
    """Those without a process of the job."""
    own = frozenset(job_pids)
    return tuple(each for each in programs if own.isdisjoint(each.pids))
